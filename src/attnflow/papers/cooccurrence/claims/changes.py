"""Changes of Gram matrices, scores and attention in Phase 1 (Theorem 3.1, item 3)."""

from functools import partial

import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Measurement, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    FLOW,
    THEORY_RUNS,
    WIDTHS,
    phase_one,
    with_end,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    ladder,
    span,
    variances,
    with_width,
)

ALL = mutate.EVERY
PHASE_ONE = {f"m={width}": phase_one(width) for width in WIDTHS}
GRAM, VALUE, SCORE, KEY, QUERY, ATTENTION = (
    "largest_neuron_gram_change",
    "largest_value_self_score_change",
    "largest_score_change",
    "largest_key_self_score_change",
    "largest_query_self_score_change",
    "largest_attention_change",
)
_claim = partial(
    Claim,
    system=FLOW,
    scope=Scope.THEOREM,
    conditions=f"{CONDITION}; T1 = 20/(σ1² m m1)",
    expected=Verdict.HOLDS,
)


def change(run: xr.Dataset, *, name: str, power: float) -> xr.DataArray:
    """The largest change by T1 times m^power."""
    return with_end(run, name).max("time") * schema.setting_of(run)["width"] ** power


def _bounded(run: xr.Dataset, *, name: str, power: float) -> xr.DataArray:
    """The largest change by T1 times m^power, over 1/L + 1/sqrt(m)."""
    setting = schema.setting_of(run)
    factor = 1 / setting["length"] + setting["width"] ** -0.5
    return change(run, name=name, power=power) / factor


def _relative(run: xr.Dataset, *, name: str) -> xr.DataArray:
    """The largest change by T1 relative to the size of the initial entries."""
    first, inner = variances(run)
    width = schema.setting_of(run)["width"]
    size = {GRAM: inner * width, SCORE: first * width**0.5}.get(name, first * width)
    return change(run, name=name, power=0.0) / size


STATED = {
    "⟨w, w⟩, 1/m": partial(change, name=GRAM, power=1.0),
    "⟨v, v⟩, 1/m": partial(change, name=VALUE, power=1.0),
    "scores, m^−3/2 (1/L + 1/√m)": partial(_bounded, name=SCORE, power=1.5),
    "⟨k, k⟩, 1/m²": partial(change, name=KEY, power=2.0),
    "⟨q, q⟩, 1/m²": partial(change, name=QUERY, power=2.0),
}
"""Theorem E.28's bounds: the change over its power of m."""


def _judge_changes(evidence: Evidence) -> Finding:
    checks: list[Measurement] = [
        ladder(evidence, measure, "O-tilde", f"change by T1 over its bound: {name}")
        for name, measure in STATED.items()
    ]
    close = {name: partial(_relative, name=name) for name in (GRAM, VALUE, SCORE, KEY)}
    checks += [
        ladder(evidence, measure, "o(1)", f"{name} over initial size")
        for name, measure in close.items()
    ]
    numbers: dict[str, list[float] | dict[str, float]] = {
        name: span(evidence, measure) for name, measure in STATED.items()
    }
    numbers["⟨v, v⟩ over σ0² m"] = by_width(evidence, close[VALUE])
    return Finding(tuple(checks), numbers)


_attention = partial(_bounded, name=ATTENTION, power=2.0)


def _softmax(run: xr.Dataset) -> xr.DataArray:
    return _attention(run) * schema.setting_of(run)["length"]


def _judge_attention(evidence: Evidence) -> Finding:
    what = "change of attention by T1 times L m² over 1/L + 1/√m"
    check = ladder(evidence, _softmax, "O-tilde", what)
    plain = partial(change, name=ATTENTION, power=0.0)
    numbers = {"over bound": span(evidence, _softmax)}
    return Finding((check,), {**numbers, "change": by_width(evidence, plain)})


def both_of(name: str) -> tuple[str, str]:
    """Names of an observable's records and of its final value."""
    return name, f"{name}_at_end"


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-Thm3.1-i3",
        place="Theorem 3.1, item 3; Theorem E.28; Lemmas E.9, E.23, E.25",
        statement="In Phase 1 inner products of neurons and of values change by "
        "Õ(1/m), scores by Õ(m^−3/2 (1/L + 1/√m)), those of keys and of queries by "
        "Õ(1/m²): all stay close to their initial values.",
        needs=PHASE_ONE,
        judge=_judge_changes,
        predicate="the largest changes by T1 over these bounds are Õ(1) by the "
        "ladder's rule, growing by at most 3, and over the size of initial entries "
        "(σ1² m, σ0² m, σ0² √m, σ0² m) they are o(1); a point for each of 3 seeds",
        source=f"{THEORY_RUNS}. They are close to their initial values only for large "
        "m: at m = 512 inner products of values change by more than twice their size",
        mutations=named(
            with_width(both_of(GRAM), 0.5),
            with_width(both_of(VALUE), 0.5),
            with_width(both_of(SCORE), 0.5),
            with_width(both_of(KEY), 0.5),
            with_width(both_of(QUERY), 0.5),
        ),
    ),
    _claim(
        id="A-E.24",
        place="Corollary E.24",
        statement="By T1 attention changes by Õ((1/(L m²)) (1/L + 1/√m)).",
        needs=PHASE_ONE,
        judge=_judge_attention,
        predicate="the largest change over all samples, queries and keys over that "
        "bound is Õ(1) by the ladder's rule, growing by at most 3; a point for each of "
        "3 seeds",
        source=THEORY_RUNS,
        mutations=named(
            with_width(both_of(ATTENTION), 0.5),
            mutate.replace("m=131072", ATTENTION, 1e-9),
        ),
    ),
)
