"""Claims on Lemma 4.3: noise, attention and signals at T2, the end of Stage II."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import (
    TABLES,
    at,
    between,
    both,
    formula,
    on_clock,
    sizes_of,
)
from attnflow.papers.signgd.stages import series
from attnflow.schema.installation import xr

WHERE = "T2 is beyond the end of every experiment of the paper (14000 steps in (a))"


def _noise(run: xr.Dataset) -> xr.DataArray:
    """|noise| at T2 in units of T2 η σ_p s, of queries and keys."""
    size, end = sizes_of(run), formula(run, "T2")
    then = abs(both(at(run, end, *TABLES), "noise"))
    return then / (end * size.learning_rate * size.strength)


def from_half(name: str, run: xr.Dataset) -> np.ndarray:
    """The largest |s − 1/2| of any attention up to a formula's time, by seed."""
    away = abs(on_clock(run)["attention"] - 0.5)
    return c.look.largest(away, between(run, 0.0, formula(run, name)))


def _sums(run: xr.Dataset) -> xr.DataArray:
    """|Σ noise| of each neuron at T2 over 2 n β_μ."""
    then = both(at(run, formula(run, "T2"), *TABLES), "noise")
    threshold = 2 * sizes_of(run).samples * series.largest_initial(run)[1]
    return abs(then.sum("token", skipna=False)) / threshold


def _step_of_sum(run: xr.Dataset) -> xr.DataArray:
    """|Σ ε_i ‖ξ_i‖₁| of each neuron over σ_p s/√2, with the signs ε at T2.

    2 t η ‖ξ_i‖₁ is what the mean value noise has moved by the end of the run.
    """
    size, clocked = sizes_of(run), on_clock(run)
    values = series.value_noise(clocked)
    moved = at(run, c.look.ends(clocked), "value")
    moved = series.value_noise(moved) - values.isel(time=0, drop=True)
    norm = moved / (2 * c.look.ends(clocked) * size.learning_rate)
    then = at(run, formula(run, "T2"), *TABLES)
    signs = series.signs(series.noise(then, "query_neuron"))
    total = abs((signs * norm).sum("token", skipna=False))
    return total / (size.strength / np.sqrt(2))


def neurons_below(
    measure: Callable[..., xr.DataArray], bound: float, evidence: c.Evidence
) -> float:
    """How many neurons have a measure below a bound at n = 10, in the mean of seeds."""
    table = measure(evidence["even"])
    over = [dim for dim in table.dims if dim not in ("seed", "head", "neuron")]
    return float((table.min(over) < bound).sum(("head", "neuron")).mean())


def _signal_moves(run: xr.Dataset) -> np.ndarray:
    """The largest relative move of a signal up to T2, by seed."""
    signals = both(on_clock(run), "signal")
    away = abs(signals / signals.isel(time=0, drop=True) - 1)
    return c.look.largest(away, between(run, 0.0, formula(run, "T2")))


_SUMS, _STEP = "least |Σ noise|/(2 n β_μ)", "least |Σ ε_i ‖ξ_i‖₁|/(σ_p s/√2)"
_TIED, _SMALL = (
    "neurons with a small sum at n = 10",
    "neurons with a small step at n = 10",
)
_EVEN = "witnesses/even_votes.py"
_where_odd = partial(
    c.Correction,
    c.CorrectionKind.CONDITION,
    "This holds at odd n. At even n the vote of a neuron is tied with a probability "
    "of order n^−½ (counted in our runs: 0.14 at n = 10), so that n must be far "
    "above m_k².",
)
_votes = {
    "kind": c.Kind.PROBABILITY,
    "delta": ev.DELTA_LATTICE,
    "predicate": "δ is left open, and read as Theorem 3.2's n^−1/3; the paper's own "
    "bound, O(m_k/√n), says nothing at these sizes",
    "expected": c.Verdict.FAILS,
    "settings": f"{ev.LATTICE}. {WHERE}",
    "mends": c.named(ev.ODD_FOR_EVEN),
}
CLAIMS = (
    ev.on_lattice(
        id="C-L4.3-1",
        place="Lemma 4.3 (1), with the constants of Appendix E.1",
        statement="At T2 query and key noise of every pair are between half and twice "
        "T2 η σ_p s in magnitude.",
        judge=c.All(
            (
                c.AtLeast("least |noise|/(T2 η σ_p s)", _noise, 0.5),
                c.AtMost("largest |noise|/(T2 η σ_p s)", _noise, 2.0),
            )
        ),
        source=(
            "our runs, seeds 200–219. An earlier version asked for 98% of pairs; now "
            "all"
        ),
        settings=f"{ev.LATTICE}. {WHERE}",
    ),
    ev.on_ladder(
        id="C-L4.3-2",
        place="Lemma 4.3 (2)",
        statement="Up to T2 all attention is 1/2 ± o(1).",
        judge=c.Rungs(
            "largest |s − 1/2| up to T2", partial(from_half, "T2"), "o(1)", "support"
        ),
        source="our runs, seeds 200–204 (below 1e-8 on the lowest rung already)",
        settings=f"{ev.LADDER}. {WHERE}",
        mutations=c.named(mutate.replace(mutate.EVERY, "attention", 0.9)),
        inert=dict.fromkeys(TABLES, "they only set T2"),
    ),
    ev.on_lattice(
        id="C-L4.3-3",
        place="Lemma 4.3 (3); Lemma E.5 (3)",
        statement="At T2 the sums over samples of query noise and of key noise are at "
        "least 2 n β_μ in magnitude, in every neuron, with probability 1 − δ.",
        judge=c.All(
            (c.AtLeast(_SUMS, _sums, 1.0),),
            also={_TIED: partial(neurons_below, _sums, 1.0)},
        ),
        source=(
            "our runs, seeds 200–219 (60 times that at n = 9 on seeds 0–4). Earlier "
            "versions asked for 98% of neurons, then for all at n = 9; now n = 10 is "
            "judged too, of which three seeds had been seen to fail"
        ),
        correction=_where_odd(
            c.AtLeast(_SUMS, _sums, 1.0, of=("odd",)),
        ),
        witness=c.Witness(_EVEN, {"neurons with a small sum": (_TIED,)}),
        **_votes,
    ),
    ev.on_lattice(
        id="C-LE.5-2",
        place="Lemma E.5 (2)",
        statement="At T2 a step moves the sum of query noise in every neuron, Σ ε_i "
        "‖ξ_i‖₁ η, by at least η σ_p s/√2, with probability 1 − δ.",
        judge=c.All(
            (c.AtLeast(_STEP, _step_of_sum, 1.0),),
            also={_SMALL: partial(neurons_below, _step_of_sum, 1.0)},
        ),
        source="our runs, seeds 200–219. Written with the results of C-L4.3-3 in view",
        correction=_where_odd(
            c.AtLeast(_STEP, _step_of_sum, 1.0, of=("odd",)),
        ),
        witness=c.Witness(_EVEN, {"neurons with a small step": (_SMALL,)}),
        **_votes,
    ),
    ev.on_ladder(
        id="C-L4.3-4",
        place="Lemma 4.3 (4); Lemma E.7",
        statement="Up to T2 query and key signals are their initial values times 1 ± "
        "o(1).",
        judge=c.Rungs(
            "largest relative move of a signal up to T2",
            _signal_moves,
            "o(1)",
            "support",
        ),
        predicate="it falls like s^−½, as does T2/T3",
        source=(
            "our runs, seeds 200–204. An earlier version judged moves at T2; now all "
            "up to T2"
        ),
        settings=f"{ev.LADDER}. {WHERE}",
        mutations=c.named(
            mutate.both(
                mutate.constant(mutate.EVERY, TABLES),
                mutate.later(mutate.EVERY, TABLES, 2.0),
            )
        ),
    ),
)
