"""Claims on Lemma 4.4 (Stage III): noise votes on the signs of signals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.stage_two_end import from_half, neurons_below
from attnflow.papers.signgd.claims.statistics import (
    TABLES,
    at,
    between,
    formula,
    on_clock,
    sizes_of,
)
from attnflow.papers.signgd.stages import series
from attnflow.schema.installation import xr

VOTES = (("query", "key", 1.0), ("key", "query", -1.0))
"""Whose signal moves, whose noise votes, and with which sign."""


def votes(run: xr.Dataset) -> xr.DataArray:
    """1 where a signal moves as voted from a record to the next, −1 where against."""
    clocked, parts = on_clock(run), list[xr.DataArray]()
    for moving, voting, side in VOTES:
        move = c.look.steps(series.signal(clocked, f"{moving}_neuron"))
        vote = series.noise(clocked, f"{voting}_neuron").sum("token", skipna=False)
        parts.append(side * series.signs(move) * series.signs(vote))
    return xr.concat(parts, "table")


def _in_stage(run: xr.Dataset) -> xr.DataArray:
    return c.look.both(between(run, formula(run, "T2"), formula(run, "T3")))


def _sizes_at_end(run: xr.Dataset) -> xr.DataArray:
    """Signals at T3 in units of T3 η, positive where they follow the vote."""
    end = formula(run, "T3")
    then = at(run, end, *TABLES)
    noise = series.noise(then, "query_neuron")
    vote = series.signs(noise.sum("token", skipna=False))
    parts = [
        side * vote * series.signal(then, f"{moving}_neuron")
        for moving, _, side in VOTES
    ]
    return xr.concat(parts, "table") / (end * sizes_of(run).learning_rate)


def _over_time(run: xr.Dataset) -> xr.DataArray:
    """Signals in units of t η, positive where they follow the vote at T3."""
    then = at(run, formula(run, "T3"), "query_neuron")
    noise = series.noise(then, "query_neuron")
    vote = series.signs(noise.sum("token", skipna=False))
    clocked = on_clock(run)
    parts = [
        side * vote * series.signal(clocked, f"{moving}_neuron")
        for moving, _, side in VOTES
    ]
    time = clocked["time"].where(clocked["time"] > 0)
    return xr.concat(parts, "table") / (time * sizes_of(run).learning_rate)


def _from_t3(run: xr.Dataset) -> xr.DataArray:
    return between(run, formula(run, "T3"), np.inf)


def _linear(of: tuple[str, ...] = ("*",)) -> c.All:
    """Signals between t η/2 and 4 t η/3, as voted, from T3 on."""
    fields: dict[str, Any] = {"when": _from_t3, "period": "from T3 on", "of": of}
    return c.All(
        (
            c.AtLeast("least signal over t η, as voted", _over_time, 0.5, **fields),
            c.AtMost("largest signal over t η, as voted", _over_time, 4 / 3, **fields),
        )
    )


def _bounds(of: tuple[str, ...] = ("*",)) -> tuple[c.AtLeast, c.AtMost]:
    return (
        c.AtLeast("least signal over T3 η, as voted", _sizes_at_end, 0.5, of=of),
        c.AtMost("largest signal over T3 η, as voted", _sizes_at_end, 2.0, of=of),
    )


def _lost(run: xr.Dataset) -> xr.DataArray:
    """Votes in Stage III, and 1 elsewhere."""
    return votes(run).where(_in_stage(run), 1.0)


_LOST = "neurons with a move against its vote at n = 10"
_WEAK = "neurons with a weak signal at n = 10"
_where_odd = partial(
    c.Correction,
    c.CorrectionKind.CONDITION,
    "This holds if no vote is tied, as at odd n. In a neuron whose vote is tied, the "
    "initial signals decide.",
)
_tied = {"expected": c.Verdict.FAILS, "mends": c.named(ev.ODD_FOR_EVEN)}
CLAIMS = (
    ev.on_lattice(
        id="C-L4.4-1",
        place="Lemma 4.4 (1)",
        statement="In Stage III a neuron's query signal moves by the sign of its "
        "summed key noise, and its key signal against the sign of its summed query "
        "noise.",
        judge=c.All(
            (
                c.AtLeast(
                    "moves with the vote (1) or against it (−1)",
                    votes,
                    0.0,
                    when=_in_stage,
                    period="from T2 to T3",
                    unit="difference",
                    strict=True,
                ),
            ),
            also={_LOST: partial(neurons_below, _lost, 0.0)},
        ),
        predicate="moves between records, of every neuron",
        source=(
            "our runs, seeds 200–219. Earlier versions asked for 96% of moves, then "
            "for all at n = 9; now n = 10 is judged too"
        ),
        correction=_where_odd(
            c.AtLeast(
                "moves with the vote (1) or against it (−1)",
                votes,
                0.0,
                when=_in_stage,
                period="from T2 to T3",
                unit="difference",
                strict=True,
                of=("odd",),
            )
        ),
        witness=c.Witness(
            "witnesses/even_votes.py",
            {"neurons with a move against the vote": (_LOST,)},
        ),
        **_tied,
    ),
    ev.on_lattice(
        id="C-L4.4-2",
        place="Lemma 4.4 (2), with the constants of Appendix E.1",
        statement="At T3 every neuron's query signal has the sign of its summed query "
        "noise and its key signal the opposite one, both between half and twice T3 η "
        "in magnitude.",
        judge=c.All(
            _bounds(),
            also={_WEAK: partial(neurons_below, _sizes_at_end, 0.5)},
        ),
        source=(
            "our runs, seeds 200–219. Earlier versions asked for 93% of signals, "
            "then for all at n = 9; now n = 10 is judged too"
        ),
        correction=_where_odd(c.All(_bounds(of=("odd",)))),
        witness=c.Witness(
            "witnesses/even_votes.py", {"neurons with a weak signal": (_WEAK,)}
        ),
        **_tied,
    ),
    ev.on_lattice(
        id="C-LE.12",
        place="Lemma E.12, Equations (24) and (25)",
        statement="From T3 on every neuron's query signal has the sign of its summed "
        "query noise and its key signal the opposite one, both between t η/2 and "
        "4 t η/3 in magnitude.",
        judge=replace(
            _linear(), also={_WEAK: partial(neurons_below, _sizes_at_end, 0.5)}
        ),
        predicate="at every record up to 6 T4⁻; printed up to T3⁺. At T3 itself the "
        "neuron that β_μ is read from reaches 4/3",
        source="our runs, seeds 200–219. Written after seeing runs of other claims; at "
        "T3 alone it was within rounding of 4/3",
        correction=_where_odd(_linear(of=("odd",))),
        witness=c.Witness(
            "witnesses/even_votes.py", {"neurons with a weak signal": (_WEAK,)}
        ),
        **_tied,
    ),
    ev.on_ladder(
        id="C-L4.4-3",
        place="Lemma 4.4 (3)",
        statement="Up to T3 all attention is 1/2 ± o(1).",
        judge=c.Rungs(
            "largest |s − 1/2| up to T3", partial(from_half, "T3"), "o(1)", "support"
        ),
        source=(
            "our runs, seeds 200–204. An earlier version judged attention at T3; now "
            "all times up to T3"
        ),
        mutations=c.named(mutate.replace(mutate.EVERY, "attention", 0.9)),
        inert=dict.fromkeys(TABLES, "they only set T3"),
    ),
)
