"""Claims on stage 3: convergence in time O(1/ε), and growth of the neurons."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.claims.stages import first_crossing
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_TWO, THEOREM
from attnflow.schema.installation import xr

ALL = mutate.EVERY
EPSILONS = (0.03, 0.01, 0.003, 0.001, 0.0003)
INVERSE = "1/ε"
LATE = {"T1=30": ev.algorithm(0.1, T1=30.0)}
FINITE = {
    f"m={width}, seed {seed}": ev.algorithm(0.1, width=width, seeds=(seed,))
    for width in (128, 32)
    for seed in (200, 201, 202)
}
CONSTANT = 3.0
"""A factor 2 for consistent samples that switch on again, and 1.5 for the rest."""
_claim = partial(
    c.Claim,
    kind=c.Kind.ASYMPTOTIC,
    under=THEOREM,
    system=ev.FLOW,
    needs={**ev.LADDER, **LATE},
    settings=f"{ev.SETTINGS}; once T1 = 30",
    expected=c.Verdict.HOLDS,
    source="our runs at infinite width (deterministic)",
)


def _over_epsilon(times: list[np.ndarray]) -> xr.DataArray:
    """Numbers by seed, for each ε, along 1/ε."""
    inverse = [1 / epsilon for epsilon in EPSILONS]
    dims = (INVERSE, "seed")
    return xr.DataArray(np.array(times), dims=dims, coords={INVERSE: inverse})


def _reached(run: xr.Dataset) -> xr.DataArray:
    """T3, when the loss first falls to ε, for each ε."""
    crossing = partial(
        first_crossing, run, "loss", direction="down", clock="log", scale="log"
    )
    return _over_epsilon([crossing(level=epsilon).times for epsilon in EPSILONS])


def _waits(run: xr.Dataset) -> xr.DataArray:
    """T3 − T2 for each ε."""
    return _reached(run) - ev.stage_end(run, 1).values


def _scaled_waits(run: xr.Dataset) -> xr.DataArray:
    waits = _waits(run)
    return waits / waits[INVERSE]


def last_wait(run: xr.Dataset) -> xr.DataArray:
    """ε (T3 − T2) for the ε at which the run stops."""
    return schema.setting_of(run)["epsilon"] * (
        ev.stage_end(run, 2) - ev.stage_end(run, 1)
    )


def _alignments(run: xr.Dataset, *, letter: str) -> xr.DataArray:
    """The least alignment at T3, for each ε, between records linearly."""
    value = ev.least_alignment(run["value"], letter)
    at = [look.at(run, t, value, how="linear").values for t in _reached(run).values]
    return _over_epsilon(at)


def last_alignment(run: xr.Dataset, *, letter: str) -> xr.DataArray:
    """The least alignment at T3, for the ε at which the run stops."""
    return ev.least_alignment(ev.at_end(run, "value", 2), letter)


def _rungs(name: str) -> c.Rungs:
    what = f"ε (T3 − T2), {name}"
    return c.Rungs(what, _scaled_waits, "O", INVERSE, of=(name,))


def _lines(name: str) -> c.Line:
    return c.Line(
        f"log (T3 − T2) against log 1/ε, {name}",
        lambda run: np.log(_waits(run)[INVERSE]),
        lambda run: np.log(_waits(run)),
        1.0,
        0.03,
        of=(name,),
    )


def _over_slope(run: xr.Dataset, *, token: str, sample: str) -> xr.DataArray:
    """The rate of w₊ along a token over the loss slope g of a sample."""
    rate = run["value_rate"].sel(head="+", token=token, drop=True)
    return rate / ev.loss_slopes(run).sel(sample=sample, drop=True)


# The record at T2 itself may belong to stage 2, where neurons do not move.
_in_stage_three = partial(ev.during, number=2, closed="right")
CLASS = partial(_over_slope, token="v1", sample="c1 v1 v2")
GROUP = partial(_over_slope, token="c1", sample="c1 v1 -v2")


def _least(run: xr.Dataset, *, rate: partial[xr.DataArray]) -> np.ndarray:
    return look.least(rate(run), _in_stage_three(run))


def _largest(run: xr.Dataset, *, rate: partial[xr.DataArray]) -> np.ndarray:
    return look.largest(rate(run), _in_stage_three(run))


def _spread(run: xr.Dataset, *, rate: partial[xr.DataArray]) -> np.ndarray:
    """Sup / inf over stage 3, infinite where a rate is not positive."""
    low, high = _least(run, rate=rate), _largest(run, rate=rate)
    return np.where(low <= 0, np.inf, high / np.where(low <= 0, 1.0, low))


# Scaled so that the last loss, 2e-4, stays where it is.
_SLOWER = mutate.both(
    mutate.power(ALL, "loss", 0.9), mutate.scale(ALL, "loss", 2e-4**0.1)
)
_rates = partial(
    _claim,
    under=STAGE_TWO,
    source="our runs at infinite width (deterministic), ω = 0.3 … 1e-4 and T1 = 30; "
    "the ladders in ω were added to a factor of 3",
    mutations=c.named(ev.times_omega("value_rate", 0.5)),
)

STAGE_THREE = (
    _claim(
        id="B-Thm4.1-T3",
        place="Theorem 4.1; Theorem F.3",
        statement="Stage 3 brings the loss to ε in a time O(1/ε).",
        judge=c.All(
            (
                *(_rungs(name) for name in ("omega=0.1", "omega=0.01", "T1=30")),
                ev.along_omega("ε (T3 − T2) at ε = 2e-4", last_wait, "O"),
            )
        ),
        predicate="ε = 0.03 … 3e-4 at (ω, T1) = (0.1, 10), (0.01, 10), (0.1, 30); and "
        "ω = 0.3 … 1e-4",
        source="our runs at infinite width (deterministic). The stricter slope 1 is "
        "ours and has moved to B-Thm4.1-T3-rate; the ladder in ω was added",
        mutations=c.named(
            _SLOWER, mutate.only("T1=30", _SLOWER), ev.times_omega("stage_end", -0.3)
        ),
    ),
    _claim(
        id="B-Thm4.1-T3-rate",
        origin="ours",
        place="Theorem 4.1; Theorem F.3, sharpened",
        statement="Stage 3 takes a time Θ(1/ε), not less, to bring the loss to ε.",
        needs={
            name: {**ev.LADDER, **LATE}[name]
            for name in ("omega=0.1", "omega=0.01", "T1=30")
        },
        judge=c.All(tuple(map(_lines, ("omega=0.1", "omega=0.01", "T1=30")))),
        mutations=c.named(_SLOWER),
    ),
    _claim(
        id="B-Thm4.1-T3-width",
        origin="ours",
        place="Theorem 4.1; Theorem F.3; Appendix G",
        statement="At finite width too, stage 3 brings the loss to ε in a time Θ(1/ε).",
        system="gradient flow of Algorithm 1 at widths 128 and 32",
        needs=FINITE,
        judge=c.All((*map(_rungs, FINITE), *map(_lines, FINITE))),
        predicate="for each of 3 seeds (200, 201, 202) at both widths",
        settings="ω = 0.1, T1 = 10, b = 1/2",
        source="our runs, seeds 200, 201, 202 at each width",
        mutations=c.named(_SLOWER, mutate.only("m=32, seed 201", _SLOWER)),
    ),
    _claim(
        id="B-Thm4.1-align",
        place="Theorem 4.1, alignments at T3",
        statement="At T3 the neurons' alignments with signed class tokens and with "
        "group tokens are positive and Θ̃(1).",
        judge=c.All(
            tuple(
                rung
                for letter, what in (("v", "±w±·v_k"), ("c", "w±·c_k"))
                for rung in (
                    *(
                        c.Rungs(
                            f"least {what} at T3 along 1/ε, {name}",
                            partial(_alignments, letter=letter),
                            "theta-tilde",
                            INVERSE,
                            of=(name,),
                        )
                        for name in ("omega=0.1", "omega=0.01", "T1=30")
                    ),
                    ev.along_omega(
                        f"least {what} at T3 along 1/ω",
                        partial(last_alignment, letter=letter),
                        "theta",
                    ),
                )
            )
        ),
        predicate=(
            "the smallest over heads and groups, with the stated sign; the logarithm "
            "is that of 1/ε; T3 is interpolated linearly between records"
        ),
        source="our runs at infinite width (deterministic); added with version 2, then "
        "extended from one head and group at (ω, T1) = (0.1, 10) to all of them and to "
        "three (ω, T1)",
        mutations=c.named(
            ev.times_omega("value_at_end", 0.5),
            mutate.swap("omega=0.01", "value", "head", ("+", "-")),
        ),
    ),
    _rates(
        id="B-F.1",
        place="Lemma F.1",
        statement="In stage 3 the neurons grow along class tokens at the pull g of the "
        "consistent samples, up to constants.",
        judge=c.All(
            (
                ev.along_omega("least w_v' / g", partial(_least, rate=CLASS), "theta"),
                ev.along_omega(
                    "largest w_v' / g", partial(_largest, rate=CLASS), "theta"
                ),
                c.AtMost(
                    "sup / inf of w_v' / g", partial(_spread, rate=CLASS), CONSTANT
                ),
            )
        ),
        predicate=(
            "g is that of X_{1,+,+}; of the allowed factor 3, a factor 2 is due to "
            "samples that switch on again; judged while g falls by a factor of 1000"
        ),
    ),
    _rates(
        id="B-F.2",
        place="Lemma F.2",
        statement="In stage 3 the neurons grow along group tokens at least at the pull "
        "g of the conflicting samples, up to constants.",
        judge=ev.along_omega("least w_c' / g", partial(_least, rate=GROUP), "Omega"),
        predicate="g is that of X_{1,+,−}; judged while it falls by a factor of 1000",
    ),
)
