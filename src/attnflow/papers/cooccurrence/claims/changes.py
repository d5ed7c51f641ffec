"""Changes of Gram matrices, scores and attention in Phase 1 (Theorem 3.1, item 3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from attnflow import claims as c
from attnflow.claims import look
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.windows import ladder, sizes, to_t1, with_width
from attnflow.schema.installation import xr

GRAM, VALUE, SCORE, KEY, QUERY, ATTENTION = (
    "largest_neuron_gram_change",
    "largest_value_self_score_change",
    "largest_score_change",
    "largest_key_self_score_change",
    "largest_query_self_score_change",
    "largest_attention_change",
)
Measure: TypeAlias = "Callable[[xr.Dataset], np.ndarray]"
_claim = templates.of_phase_one


def change(run: xr.Dataset, *, name: str, power: float = 0.0) -> np.ndarray:
    """The largest change by T1 times m^power."""
    return look.largest(to_t1(run, name)) * sizes(run).width ** power


def _bounded(run: xr.Dataset, *, name: str, power: float) -> np.ndarray:
    """The largest change by T1 times m^power, over 1/L + 1/sqrt(m)."""
    size = sizes(run)
    factor = 1 / size.length + size.width**-0.5
    return change(run, name=name, power=power) / factor


def _relative(run: xr.Dataset, *, name: str) -> np.ndarray:
    """The largest change by T1 relative to the size of the initial entries."""
    size = sizes(run)
    root = size.first * size.width**0.5
    initial = {GRAM: size.inner * size.width, SCORE: root}.get(name, size.key_norm)
    return change(run, name=name) / initial


def _attention(run: xr.Dataset) -> np.ndarray:
    return _bounded(run, name=ATTENTION, power=2.0) * sizes(run).length


STATED: dict[str, Measure] = {
    "⟨w, w⟩ over 1/m": partial(change, name=GRAM, power=1.0),
    "⟨v, v⟩ over 1/m": partial(change, name=VALUE, power=1.0),
    "scores over m^−3/2 (1/L + 1/√m)": partial(_bounded, name=SCORE, power=1.5),
    "⟨k, k⟩ over 1/m²": partial(change, name=KEY, power=2.0),
    "⟨q, q⟩ over 1/m²": partial(change, name=QUERY, power=2.0),
}
"""Theorem E.28's bounds: the change over its power of m."""
CLOSE: dict[str, Measure] = {
    "⟨w, w⟩ over σ1² m": partial(_relative, name=GRAM),
    "⟨v, v⟩ over σ0² m": partial(_relative, name=VALUE),
    "scores over σ0² √m": partial(_relative, name=SCORE),
    "⟨k, k⟩ over σ0² m": partial(_relative, name=KEY),
    "⟨q, q⟩ over σ0² m": partial(_relative, name=QUERY),
}
"""Theorem 3.1's "close": the change over the size of initial entries."""


def both_of(name: str) -> tuple[str, str]:
    """Names of an observable's records and of its final value."""
    return name, f"{name}_at_end"


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-Thm3.1-i3",
        place="Theorem 3.1, item 3; Theorem E.28, item 3",
        statement="In Phase 1 inner products of neurons and of values change by "
        "Õ(1/m), scores by Õ(m^−3/2 (1/L + 1/√m)), those of keys and of queries by "
        "Õ(1/m²): all stay close to their initial values.",
        judge=c.All(
            (
                *(
                    ladder(f"change by T1 of {name}", measure, "O-tilde")
                    for name, measure in STATED.items()
                ),
                *(
                    ladder(f"change by T1 of {name}", measure, "o(1)")
                    for name, measure in CLOSE.items()
                ),
            )
        ),
        source=f"{ev.THEORY_RUNS}. They are close to their initial values only for "
        "large m: at m = 512 inner products of values change by more than twice their "
        "size. Queries are judged as well as keys since version 2 of the claims",
        mutations=c.named(
            with_width(both_of(GRAM), 0.5),
            with_width(both_of(SCORE), 0.5),
            with_width(both_of(QUERY), 0.5),
        ),
    ),
    _claim(
        id="A-E.24",
        place="Corollary E.24, last bullet",
        statement="By T1 attention changes by Õ((1/(L m²)) (1/L + 1/√m)).",
        judge=ladder(
            "change of attention by T1, all samples, queries and keys, over its bound",
            _attention,
            "O-tilde",
        ),
        source=ev.THEORY_RUNS,
        mutations=c.named(with_width(both_of(ATTENTION), 0.5)),
    ),
)
