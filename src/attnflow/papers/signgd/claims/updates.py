"""Claims on Equations (8) and (9): the size of a step of signals and of noise."""

from __future__ import annotations

import math
from functools import partial

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import TABLES, both, by_rest, sizes_of
from attnflow.papers.signgd.conditions import DISJOINT
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

STEPS = 60
ROUNDING = 1e-9
"""Inner products are some hundred steps large: a step has an error of 1e-13."""
APART = {
    "apart": Request("disjoint", {"steps": STEPS, "test_samples": 0}, seeds=ev.FEW)
}


def _single(table: xr.DataArray) -> xr.DataArray:
    """The sizes of the first moves between records, which are single steps."""
    return abs(c.look.steps(table.sel(time=slice(0, STEPS))))


def _signal_error(run: xr.Dataset) -> xr.DataArray:
    """The relative difference of a signal's step from the learning rate."""
    return _single(both(run, "signal")) / sizes_of(run).learning_rate - 1


def _noise_error(run: xr.Dataset) -> xr.DataArray:
    """The relative difference of a noise step from half of the mean value's."""
    return _single(both(run, "noise")) / (_single(series.value_noise(run)) / 2) - 1


def _noise_steps(run: xr.Dataset) -> xr.DataArray:
    """Steps of noise in units of η σ_p s √(2/π), the mean of η‖ξ‖₁."""
    size = sizes_of(run)
    unit = size.learning_rate * size.strength * math.sqrt(2 / math.pi)
    return _single(both(run, "noise")) / unit


def _mean_step(run: xr.Dataset) -> xr.DataArray:
    steps = _noise_steps(run)
    return steps.mean(by_rest(steps), skipna=False)


def _mean_error(run: xr.Dataset) -> float:
    return float(_noise_steps(run).mean(skipna=False)) - 1


def _four_deviations(run: xr.Dataset) -> float:
    """Four standard deviations of the mean of ‖ξ‖₁ over all tokens, relative."""
    tokens = run.sizes["seed"] * len(series.noise_names(run))
    return 4 * math.sqrt((math.pi / 2 - 1) / sizes_of(run).support / tokens)


def _full_steps(run: xr.Dataset) -> xr.DataArray:
    """The fraction of steps within 1% of the token's largest one."""
    steps = _noise_steps(run)
    largest = steps.max(("table", "time", "head", "neuron"), skipna=False)
    return series.positive_share(steps - 0.99 * largest, tuple(by_rest(steps)))


_claim = partial(c.Claim, system=ev.SIGNGD, expected=c.Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="C-Eq8",
        place="Equation (8)",
        statement="Every step moves every neuron's query signal and key signal by "
        "exactly the learning rate.",
        kind=c.Kind.IDENTITY,
        under=("2.1",),
        needs={**ev.SETTING_A, **APART},
        judge=c.Equal("step over η, from 1", _signal_error, ROUNDING),
        predicate="the first 60 steps of every neuron; 1e-9 is the rounding of sums of "
        "60 steps, and a zero sign would violate it",
        source="our runs: seeds 200–209 of setting (a), 200–202 on disjoint supports",
        settings=f"{ev.ROW_A}; and the same row with disjoint supports",
    ),
    _claim(
        id="C-Eq9",
        place="Equation (9)",
        statement="On disjoint supports every step moves every neuron's query noise "
        "and key noise by η‖ξ‖₁.",
        kind=c.Kind.IDENTITY,
        under=DISJOINT,
        needs=APART,
        judge=c.All(
            (
                c.Equal(
                    "steps over half of the value's, from 1", _noise_error, ROUNDING
                ),
                c.Equal(
                    "mean step over η σ_p s √(2/π), from 1",
                    _mean_error,
                    _four_deviations,
                ),
            )
        ),
        predicate="the mean value noise moves by 2η‖ξ‖₁ by Equation (15); ‖ξ‖₁ has the "
        "relative deviation √(π/2 − 1)/√s in one token, and the mean of all tokens is "
        "allowed four deviations; 60 steps",
        source="our runs, seeds 200–202",
        settings="row (a) of Table 3 with disjoint supports. For the effect of overlap "
        "see C-R-overlap",
        mutations=c.named(mutate.scale("apart", (*TABLES, "value"), 1.1)),
    ),
    _claim(
        id="C-R-overlap",
        origin="ours",
        place="Equation (9), at Table 3's sizes",
        statement=(
            "Where supports overlap, as in the paper's experiments, coordinates of "
            "two samples cancel: a step moves noise by about 0.8 η‖ξ‖₁ on average, "
            "and hardly ever by all of it."
        ),
        under=(),
        kind=c.Kind.OBSERVATION,
        needs=ev.SETTING_A,
        judge=c.All(
            (
                c.Near(
                    "mean step over η‖ξ‖₁", _mean_step, 0.75, 0.15, unit="difference"
                ),
                c.AtMost(
                    "share of steps within 1% of the token's largest one",
                    _full_steps,
                    0.1,
                    unit="difference",
                ),
            )
        ),
        predicate="in the first 60 steps (0.78 to 0.85, and 0.002 to 0.006, on seeds "
        "0–4)",
        source="our runs, seeds 200–209",
        settings=ev.ROW_A,
        survives={
            "cut": "a tenth of the run has all of the first 60 steps",
            "holes": "the unknown records come after the first 60 steps",
        },
    ),
)
