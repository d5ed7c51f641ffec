"""Automatic balancing in Phase 2: class weights and readout velocities."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.windows import (
    BEGINS,
    band,
    ladder,
    largest,
    phase_two,
    velocities,
    weights_by_type,
)
from attnflow.schema.installation import xr

ALL = mutate.EVERY
SMALL = 0.2
"""C of Lemma 4.4; the two one-target types differ by a few per cent, by chance."""
GAP = 0.2
"""C of Lemma 4.5; without noise −G3' / G1' is 1.269 late at n = 60, L = 5."""
_claim = partial(templates.of_phase_two, kind=c.Kind.UNIVERSAL)
_at_least = partial(c.AtLeast, when=phase_two, period="in Phase 2")
_at_most = partial(c.AtMost, when=phase_two, period="in Phase 2")
_not_negative = partial(_at_least, bound=0.0, unit="difference", strict=True)


def _stack(*parts: xr.DataArray) -> xr.DataArray:
    return xr.concat(parts, "entry")


def balance_gap(run: xr.Dataset) -> xr.DataArray:
    """|Σ2 − Σ3| / min(Σ2, Σ3)."""
    _, first, second, _ = weights_by_type(run)
    return abs(first - second) / np.minimum(first, second)


def _totals(run: xr.Dataset) -> xr.DataArray:
    """Σ over Σ234 − Σ1, Σ1 − Σ2 and Σ1 − Σ3."""
    both, first, second, neither = weights_by_type(run)
    total = both + first + second + neither
    gaps = (first + second + neither - both, both - first, both - second)
    return _stack(*(total / gap for gap in gaps))


def _target_velocities(run: xr.Dataset) -> xr.DataArray:
    first, second, _ = velocities(run)
    return first / second


def velocity_ratio(run: xr.Dataset) -> xr.DataArray:
    """−G3' / max(G1', G2'), by the recorded velocities of the readouts."""
    first, second, common = velocities(run)
    return common / np.maximum(first, second)


def velocity_share(run: xr.Dataset) -> xr.DataArray:
    """U = −G3' / (G1' + G2')."""
    first, second, common = velocities(run)
    return common / (first + second)


def _order(run: xr.Dataset) -> xr.DataArray:
    """Gaps of the stated order of class weights, and of 1/2 ≤ Σ2/Σ3 ≤ 2, over Σ."""
    both, first, second, neither = weights_by_type(run)
    total, less = both + first + second + neither, first < second
    low, high = (xr.where(less, a, b) for a, b in ((first, second), (second, first)))
    gaps = (low - neither, both - high, first + second + neither - both, 2 * low - high)
    return _stack(*(gap / total for gap in gaps))


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-L4.4",
        place="Lemma 4.4; Lemma F.5",
        statement="In phase 2 the class weights of samples with one target differ by "
        "a small fraction of either: |Σ2 − Σ3| ≤ C min(Σ2, Σ3) with C ≪ 1, read as "
        f"{SMALL:g}.",
        judge=_at_most("|Σ2 − Σ3| / min(Σ2, Σ3)", balance_gap, SMALL),
        inert=BEGINS,
        mutations=c.named(
            mutate.some_seeds(0.3, mutate.noise(ALL, "pull_by_group", 0.1))
        ),
    ),
    _claim(
        id="A-L4.5a",
        place="Lemma 4.5; Lemma F.6, first part",
        statement="In phase 2 the sum of all logistic weights is O(1) times each of "
        "the gaps Σ2 + Σ3 + Σ4 − Σ1, Σ1 − Σ2 and Σ1 − Σ3, and G1' / G2' = Θ(1).",
        kind=c.Kind.ASYMPTOTIC,
        judge=c.All(
            (
                _not_negative("Σ over the three gaps", _totals),
                ladder(
                    "largest of the three",
                    largest(lambda run: abs(_totals(run))),
                    "O",
                    constant=2.0,
                ),
                *band("G1' / G2'", _target_velocities, "theta", constant=1.5),
            )
        ),
        source=f"{ev.THEORY_RUNS}: 17/3 and 17/2 for many samples (A-R4)",
        mutations=c.named(
            mutate.swap(ALL, "pull_by_group", "group", ("both", "first"))
        ),
    ),
    _claim(
        id="A-L4.5b",
        place="Lemma 4.5; Lemma F.6, second part",
        statement="In phase 2, (1 + C) max(G1', G2') ≤ −G3' ≤ (1 − C)(G1' + G2') with "
        f"a constant C, read as {GAP:g}.",
        judge=c.All(
            (
                _at_least("−G3' / max(G1', G2')", velocity_ratio, 1 + GAP),
                _at_most("−G3' / (G1' + G2')", velocity_share, 1 - GAP),
            )
        ),
        predicate="G' is the velocity of the readout itself",
        source=f"{ev.THEORY_RUNS}. It does not hold for n below about L²: without "
        "noise R ends at "
        "0.987 for n = 60, L = 20",
        mutations=c.named(mutate.swap(ALL, "value_rate", "token", ("mu1", "mu3"))),
    ),
    _claim(
        id="A-F.1-order",
        place="Definition F.1, fifth condition; Lemma F.3",
        statement="In phase 2 class weights are in the order Σ4 ≤ min(Σ2, Σ3) ≤ "
        "max(Σ2, Σ3) ≤ Σ1 ≤ Σ2 + Σ3 + Σ4, and 1/2 ≤ Σ2/Σ3 ≤ 2.",
        judge=_not_negative("gaps of this order, over all weights", _order),
        mutations=c.named(
            mutate.swap(ALL, "pull_by_group", "group", ("neither", "second"))
        ),
    ),
)
