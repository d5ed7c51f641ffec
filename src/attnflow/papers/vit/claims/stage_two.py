"""Lemma 5.3 and its induction: B(t), D(t), and the harmful versions J(t), L(t)."""

import numpy as np
import xarray as xr

from attnflow.claims import Evidence, Finding, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import SAMPLED_RUNS, sampled_claim
from attnflow.papers.vit.claims.statistics import (
    at,
    by_seed,
    exp,
    gaps,
    held,
    least,
    others,
    size_of,
    spread,
    unit,
    winner,
    within,
)
from attnflow.papers.vit.stages import events
from attnflow.papers.vit.stages.series import Regime, values_at

ROWS = {"row μ": slice(0, 1), "rows ξ": slice(1, None)}
# The least C over T1 to T2 on seeds 0–4, halved.
CONSTANTS = {
    "benign": {"row μ": 0.5, "rows ξ": 0.004},
    "harmful": {"row μ": 25.0, "rows ξ": 18.0},
}
RATES = {"benign": 1 / 16, "harmful": 1.0}


def stage_two(run: xr.Dataset, regime: Regime) -> tuple[np.ndarray, np.ndarray]:
    """Detected T1 and T2, by seed."""
    start = events.values_separate(run, regime).times
    return start, events.values_grown(run).times


def _judge_values(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        regime: Regime = "benign" if name == "benign" else "harmful"
        start, end = stage_two(run, regime)
        inside = within(run, start, end)
        elapsed = run["time"] - by_seed(run, start)
        growth = (winner(run, regime) / (unit(run, regime) * elapsed)).where(inside)
        rest = abs(others(values_at(run), regime)).max("key_position")
        apart = (winner(run, regime) / rest).where(inside)
        needed = 3 * run.sizes["key_position"]
        checks += [
            held(least(growth) / RATES[regime] - 1, f"{name}: growth over its least"),
            held(least(apart) / needed - 1, f"{name}: 3M times all others"),
            held(inside.sum("time") / 10 - 1, f"{name}: ten records or more"),
        ]
        numbers[name] = {
            "least C": spread(least(growth)),
            "ratio to others": spread(least(apart)),
        }
    return Finding(tuple(checks), numbers)


def _steps_of(run: xr.Dataset, regime: Regime) -> dict[str, float]:
    """Factors of (t − T1)(t − T1 − 1) in Lemma 5.3 and in L(t), without C."""
    size = size_of(run)
    unit = (size.learning_rate / size.logarithm) ** 2 * size.gain
    unit *= np.sqrt(size.key_width)
    if regime == "benign":
        powers = {"row μ": size.signal**4, "rows ξ": size.power * size.signal**2}
        return {row: unit * power / size.samples for row, power in powers.items()}
    powers = {"row μ": size.power * size.signal**2, "rows ξ": size.power**2}
    return {row: unit * power / size.samples**2 for row, power in powers.items()}


def _growth(run: xr.Dataset, regime: Regime) -> dict[str, np.ndarray]:
    """Largest C for which the gap is log(e^gap(T1) + C · factor · …), by seed."""
    start, end = stage_two(run, regime)
    table = exp(gaps(run, regime))
    first = exp(gaps(at(run, start), regime)).drop_vars("time")
    elapsed = run["time"] - by_seed(run, np.floor(start))
    inside = within(run, start + 2, end)
    growth = ((table - first) / (elapsed * (elapsed - 1))).where(inside)
    factors = _steps_of(run, regime)
    return {
        row: least(growth.isel(query_position=positions)) / factors[row]
        for row, positions in ROWS.items()
    }


def _judge_gaps(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        constants = _growth(run, "benign" if name == "benign" else "harmful")
        for row, constant in CONSTANTS[name].items():
            what = f"{name}, {row}: C at least {constant:g}"
            checks.append(held(constants[row] / constant - 1, what))
        numbers[name] = {row: spread(values) for row, values in constants.items()}
    return Finding(tuple(checks), numbers)


_claim = sampled_claim
CLAIMS = (
    _claim(
        id="D-Lem5.3-V",
        place="Lemma 5.3; propositions B(t) and J(t)",
        statement="From T1 to T2 the winner's value is at least linear in t and stays "
        "3M times all others of its sample.",
        needs=SAMPLED_RUNS,
        judge=_judge_values,
        predicate="value over η‖μ‖²‖w_O‖²(t − T1) at least 1/(4M), which attention of "
        "1/M or more, half of the samples and −ℓ' of 1/2 give; harmful: over "
        "ησ_p²d‖w_O‖²(t − T1)/N at least 1; and 3M times the others; 90% of seeds",
        source="our runs, seeds 200–209 (0.17 and 12 on seeds 0–4)",
        mutations=named(
            mutate.scale("benign", "pair_value", 0.3),
            mutate.swap("harmful", "pair_value", "key_position", (0, 1)),
            mutate.power("benign", "pair_value", 0.5),
        ),
    ),
    _claim(
        id="D-Lem5.3-QK",
        place="Lemma 5.3; propositions D(t) and L(t)",
        statement="From T1 to T2 scores of the winner are ahead of the others by "
        "log(e^Λ(T1) + C·factor·(t − T1)(t − T1 − 1)) or more.",
        needs=SAMPLED_RUNS,
        judge=_judge_gaps,
        predicate="with the printed factors, C over all samples, keys and times at "
        "least 0.5 (row μ) and 0.004 (rows ξ), harmful 25 and 18: half of the least on "
        "seeds 0–4; 90% of seeds",
        source="our runs at the theory's sizes, seeds 200–209",
        mutations=named(
            mutate.scale("benign", "pair_score", 0.3),
            mutate.constant("harmful", "pair_score"),
            mutate.swap("benign", "pair_score", "key_position", (0, 1)),
        ),
    ),
)
