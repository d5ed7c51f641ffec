"""Single neurons in Phase 1: velocities (Theorem E.14) and changes (Theorem E.26)."""

from functools import partial

import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.changes import (
    KEY,
    PHASE_ONE,
    QUERY,
    SCORE,
    both_of,
    change,
)
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    EARLIER,
    FLOW,
    THEORY_RUNS,
    WIDTHS,
    neurons,
    with_end,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    ladder,
    span,
    variances,
    with_width,
)
from attnflow.papers.cooccurrence.claims.neurons import (
    COMMON,
    NAMED,
    error_term,
    fillers,
    largest,
    neuron_term,
    off_pull,
    unit,
)

ALL = mutate.EVERY
NEURONS = {f"neurons, m={width}": neurons(width) for width in WIDTHS}
READ = ("neuron_value", "neuron_value_at_end")
RATE = ("neuron_value_rate", "neuron_value_rate_at_end")
_claim = partial(
    Claim,
    system=FLOW,
    scope=Scope.THEOREM,
    conditions=f"{CONDITION}; T1 = 20/(σ1² m m1)",
    expected=Verdict.HOLDS,
)


def _off_pull(run: xr.Dataset) -> xr.DataArray:
    """Deviation from the pull over L σ0² sqrt(m) + σ1² sqrt(m m1)."""
    return off_pull(run) / (error_term(run, 1.0) + neuron_term(run))


def _common(run: xr.Dataset) -> xr.DataArray:
    """The largest velocity on the common token over σ1² m."""
    width = schema.setting_of(run)["width"]
    return largest(run, [COMMON]) * unit(run) / (variances(run)[1] * width)


def _judge_velocities(evidence: Evidence) -> Finding:
    what = "deviation from the pull over L σ0² √m + σ1² √(m m1)"
    return Finding(
        (
            ladder(evidence, _off_pull, "O-tilde", what),
            ladder(evidence, _common, "O-tilde", "common token over σ1² m"),
        ),
        {
            "deviation over its bound": span(evidence, _off_pull),
            "common token over σ1² m": span(evidence, _common),
        },
    )


def _largest_change(run: xr.Dataset, tokens: list[str]) -> xr.DataArray:
    """Largest change by T1 of a neuron's readout of some tokens."""
    read = with_end(run, "neuron_value").isel(head=0).sel(token=tokens)
    return abs(read - read.isel(time=0)).max(["time", "neuron", "token"])


def _radius(run: xr.Dataset) -> xr.DataArray:
    """R m1, R being the largest change of a neuron's readout of a named token."""
    return _largest_change(run, NAMED) * schema.setting_of(run)["neurons"]


def _filler_radius(run: xr.Dataset) -> xr.DataArray:
    """Change of fillers' readouts over R/n, which is less than R/n + R/sqrt(m)."""
    part = _largest_change(run, fillers(run)) / _largest_change(run, NAMED)
    return part * schema.setting_of(run)["samples"]


def _self_scores(run: xr.Dataset, *, name: str) -> xr.DataArray:
    """The change of ⟨k, k⟩ or ⟨q, q⟩ over σ0² sqrt(m)."""
    size = variances(run)[0] * schema.setting_of(run)["width"] ** 0.5
    return change(run, name=name, power=0.0) / size


def _judge_radii(evidence: Evidence) -> Finding:
    tables = {name: run for name, run in evidence.items() if name in PHASE_ONE}
    single = {name: run for name, run in evidence.items() if name in NEURONS}
    scores = partial(change, name=SCORE, power=1.5)
    checks = [
        ladder(single, _radius, "O", "R m1"),
        ladder(single, _filler_radius, "O", "fillers over R/n"),
        ladder(tables, scores, "O", "scores times m^3/2"),
    ]
    for name in (KEY, QUERY):
        what = f"{name} over σ0² √m"
        measure = partial(_self_scores, name=name)
        checks.append(ladder(tables, measure, "O-tilde", what))
    return Finding(
        tuple(checks),
        {
            "R m1": span(single, _radius),
            "fillers over R/n": span(single, _filler_radius),
            "scores times m^3/2": span(tables, scores),
        },
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-E.14",
        place="Theorem E.14; Lemma E.17",
        statement="Throughout Phase 1 every neuron's readout of a target moves at "
        "Θ((σ0² + σ1²) m) times the pull of the samples that hold it, up to "
        "Õ(L σ0² √m + σ1² √(m m1)), and that of the common token at Õ(σ1² m).",
        needs=NEURONS,
        judge=_judge_velocities,
        predicate="with the constant of Θ set to 1 the largest deviation over neurons, "
        "targets and times to b0·t = 20 over the error term is Õ(1) by the ladder's "
        "rule, and so is the common token's velocity over σ1² m; both grow by at most "
        "3; a point for each of 3 seeds",
        source=THEORY_RUNS,
        mutations=named(
            with_width(RATE, 0.1),
            mutate.scale(ALL, RATE, 1.5),
            mutate.swap(ALL, RATE, "token", ("mu1", "mu3")),
        ),
    ),
    _claim(
        id="A-E.26",
        place="Theorem E.26; Definition E.2; Lemma E.7",
        statement="To T1 = C/(σ1² m m1) neurons' readouts of named tokens change by at "
        "most R = O(1/m1), of fillers by O(R/n + R/√m), scores by O(m^−3/2), inner "
        "products of keys and of queries by Õ(σ0² √m).",
        needs={**PHASE_ONE, **NEURONS},
        judge=_judge_radii,
        predicate="R m1 and the fillers' change over R/n (which implies the bound) are "
        "O(1) by the ladder's rule, so are scores times m^3/2, and keys and queries "
        "over σ0² √m Õ(1); all grow by at most 3; a point for each of 3 seeds",
        source=f"{THEORY_RUNS}; {EARLIER}: R m1 1.4 to 2.7, fillers 11 to 20 over "
        "1/(n m1)",
        mutations=named(
            with_width(READ, 0.3),
            mutate.scale("neurons, m=131072", READ, 10.0),
            with_width(both_of(SCORE), 0.2),
            with_width(both_of(KEY), 2.0),
        ),
    ),
)
