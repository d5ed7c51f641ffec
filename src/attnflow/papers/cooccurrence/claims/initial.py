"""Neuron velocities at initialisation: targets, common token, fillers (Section E.1)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, LargeEnough, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    EARLIER,
    FLOW,
    SMALLER,
    WIDTHS,
    neurons,
    start,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    ladder,
    small_ladder,
    span,
    with_width,
)
from attnflow.papers.cooccurrence.claims.neurons import (
    COMMON,
    TARGETS,
    error_term,
    fillers,
    largest,
    largest_output,
    neuron_term,
    off_pull,
    velocity,
)

ALL = mutate.EVERY
START = {f"m={width}": start(width) for width in WIDTHS}
SMALL = {f"c0={c0:g}": start(8192, c0=c0) for c0 in SMALLER}
LATER = {f"later, m={width}": neurons(width) for width in WIDTHS}
CONSTANT = 2.0
"""Constant of Θ in Lemma 4.1: all neurons within this factor of 1/6."""
RATE = "neuron_value_rate"
_claim = partial(
    Claim,
    system=FLOW,
    scope=Scope.THEOREM,
    conditions=CONDITION,
    expected=Verdict.HOLDS,
)


def _extremes(run: xr.Dataset) -> tuple[float, float]:
    speed = velocity(run, TARGETS)
    return float(speed.min()), float(speed.max())


def _judge_targets(evidence: Evidence) -> Finding:
    widths, is_in_band, numbers = [], [], {}
    for run in evidence.values():
        least, most = _extremes(run)
        widths.append(float(schema.setting_of(run)["width"]))
        is_in_band.append(6 * least >= 1 / CONSTANT and 6 * most <= CONSTANT)
        numbers[f"least and largest, m = {widths[-1]:g}"] = [least, most]
    seeds = max(run.sizes["seed"] for run in evidence.values())
    what = "velocity over (σ0² + σ1²) m within a factor 2 of 1/6, every neuron and seed"
    band = LargeEnough(tuple(widths), tuple(is_in_band), what, seeds=seeds)
    what = "largest deviation from the pull over sqrt(m1/m)"
    off = ladder(evidence, _off_pull_over_term, "O-tilde", what)
    return Finding((band, off), numbers)


def _off_pull_over_term(run: xr.Dataset) -> xr.DataArray:
    """Deviation from the pull over Proposition E.5's terms."""
    return off_pull(run) / (neuron_term(run) + error_term(run, 0.5))


def _common(run: xr.Dataset) -> xr.DataArray:
    """Largest velocity on the common token over (σ0² + σ1²) m F."""
    return largest(run, [COMMON]) / largest_output(run)


def _common_over_bound(run: xr.Dataset) -> xr.DataArray:
    bound = neuron_term(run) + error_term(run, 0.5) + largest_output(run)
    return largest(run, [COMMON]) / bound


def _common_over_targets(run: xr.Dataset) -> xr.DataArray:
    mean = velocity(run, TARGETS).mean(["time", "neuron", "token"])
    return largest(run, [COMMON]) / mean


def _judge_common(evidence: Evidence) -> Finding:
    wide = {name: run for name, run in evidence.items() if name in START}
    small = {name: run for name, run in evidence.items() if name in SMALL}
    what = "largest velocity on the common token over (σ0² + σ1²) m F"
    return Finding(
        (
            ladder(wide, _common, "O-tilde", f"{what}, in m", constant=10.0),
            small_ladder(small, _common, f"{what}, in 1/c0"),
        ),
        {
            "of the last term": span(wide, _common),
            "of the printed bound": span(wide, _common_over_bound),
            "of the mean target velocity": span(wide, _common_over_targets),
            "of that, c0 = 0.003": span(
                {"c0": small["c0=0.003"]}, _common_over_targets
            ),
        },
    )


def _fillers(run: xr.Dataset, *, power: float) -> xr.DataArray:
    bound = 1 / schema.setting_of(run)["samples"] + error_term(run, power)
    return largest(run, fillers(run)) / bound


def _judge_fillers(evidence: Evidence) -> Finding:
    first = {name: run for name, run in evidence.items() if name in START}
    later = {name: run for name, run in evidence.items() if name in LATER}
    initial, during = partial(_fillers, power=0.5), partial(_fillers, power=1.0)
    return Finding(
        (
            ladder(first, initial, "O", "fillers at time 0 over the bound of E.6"),
            ladder(later, during, "O", "fillers in Phase 1 over the bound of E.15"),
        ),
        {
            "time 0, by width": by_width(first, initial),
            "Phase 1, by width": by_width(later, during),
        },
    )


def _common_like_targets(run: xr.Dataset) -> xr.Dataset:
    """Mutation without cancellation: the common token moves like a target."""
    rate = run[RATE]
    changed = rate.where(rate["token"] != COMMON, rate.sel(token="mu1", drop=True))
    return run.assign({RATE: changed.transpose(*rate.dims)})


def _one_neuron_back(run: xr.Dataset) -> xr.Dataset:
    """Mutation in which one neuron of the first seed moves the other way."""
    rate = run[RATE]
    first = (xr.DataArray(np.arange(rate.sizes["neuron"]), dims="neuron") == 0) & (
        rate["seed"] == rate["seed"][0]
    )
    return run.assign({RATE: xr.where(first, -rate, rate).transpose(*rate.dims)})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-L4.1",
        place="Lemma 4.1; Lemma E.4",
        statement="At time 0 every neuron's readout of a target, times its output "
        "sign, grows at a rate Θ((σ0² + σ1²) m).",
        needs=START,
        judge=_judge_targets,
        predicate="over (σ0² + σ1²) m the velocity of every neuron in each of 20 seeds "
        "is within a factor 2 of 1/6 (a third of the samples, g = 1/2) for m large "
        "enough, that is at the two largest widths or more; and it deviates from the "
        "pull of the samples by Õ of Proposition E.5's terms, by the ladder's rule",
        source="our runs, seeds 200–219 at each width. At m = 512 = 8 m1 some neuron "
        "may be slow, or even move back: m ≥ Ω̃(m1) is needed. The mean is 1/6, not "
        "the 1/3 of the proof (reader's note A-N5b)",
        mutations=named(
            mutate.on_run("one neuron moved back", "m=131072", _one_neuron_back),
            with_width(RATE, 0.25),
            mutate.scale(ALL, RATE, 2.5),
            mutate.swap(ALL, RATE, "token", ("mu1", "mu3")),
        ),
    ),
    _claim(
        id="A-L4.2",
        place="Lemma 4.2; Lemma E.16",
        statement="At time 0 every neuron's readout of the common token moves at a "
        "rate Õ(σ1² sqrt(m m1) + σ0² sqrt(mL) + (σ0² + σ1²) m F), F the largest "
        "initial output: targets move faster.",
        needs={**START, **SMALL},
        judge=_judge_common,
        predicate="the largest over neurons is Õ of the last term alone, which implies "
        "the bound, by the ladder's rule: in m, a point for each of 20 seeds, growing "
        "by at most 10; and O of it in 1/c0, from c0 = 0.3 to 0.003 at m = 8192, where "
        "F vanishes, the largest of 20 seeds growing by at most 3",
        source=f"our runs, seeds 200–219; {EARLIER}: 0.008 to 0.09 of the bound",
        mutations=named(
            with_width(RATE, 0.5),
            mutate.on_run("the common token like a target", ALL, _common_like_targets),
            mutate.scale("c0=0.003", RATE, 10.0),
        ),
    ),
    _claim(
        id="A-E.6",
        place="Lemma E.6; Theorem E.15",
        statement="Every neuron's readout of a filler moves at a rate O((σ0² + σ1²) "
        "m/n) + Õ(σ0² sqrt(mL)) at time 0, and with L for sqrt(L) throughout Phase 1.",
        needs={**START, **LATER},
        judge=_judge_fillers,
        predicate="the largest over neurons and fillers over that sum is O(1) by the "
        "ladder's rule, without a logarithm, growing by at most 3; 20 seeds at time 0, "
        "3 seeds to b0·t = 20",
        source="our runs, seeds 200–219 at time 0 and 200–202 along Phase 1; "
        f"{EARLIER}: 0.59 to 0.92. The second term, for which Õ is needed (reader's "
        "note A-N12e), is below 1% of the first here",
        mutations=named(
            with_width(RATE, 0.25),
            mutate.setting("m=131072", samples=6000),
            mutate.scale("later, m=131072", RATE, 10.0),
        ),
    ),
)
