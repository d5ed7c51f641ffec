"""Phase 2: signs of rates, logistic weights, and sizes of Definition F.1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.changes import ATTENTION
from attnflow.papers.cooccurrence.claims.windows import (
    BEGINS,
    ladder,
    largest,
    least,
    phase_two,
    sizes,
    with_width,
)
from attnflow.schema.installation import xr

ALL = mutate.EVERY
_claim = templates.of_phase_two
_always = partial(_claim, kind=c.Kind.UNIVERSAL)
_asymptotic = partial(_claim, kind=c.Kind.ASYMPTOTIC)
_positive = partial(
    c.AtLeast,
    bound=0.0,
    unit="difference",
    strict=True,
    when=phase_two,
    period="in Phase 2",
)
Signs = Mapping[tuple[str, str], float]
VALUES: Signs = {
    ("mu1", "mu1"): 1.0,
    ("mu2", "mu2"): 1.0,
    ("mu2", "mu1"): 1.0,
    ("mu1", "mu3"): -1.0,
    ("mu2", "mu3"): -1.0,
}
"""Directions of Corollary 4.6, by key and query."""
SCORES: Signs = {
    ("mu1", "mu2"): 1.0,
    ("mu2", "mu1"): 1.0,
    ("mu3", "mu1"): -1.0,
    ("mu3", "mu2"): -1.0,
}
"""Directions of Lemma 4.7, by key and query."""


def signed(table: xr.DataArray, signs: Signs) -> xr.DataArray:
    """Entries of a table, times signs that make the stated direction positive."""
    parts = [
        sign * table.isel(head=0, drop=True).sel(key=key, query=query, drop=True)
        for (key, query), sign in signs.items()
    ]
    names = [f"{key} {query}" for key, query in signs]
    return xr.concat(parts, xr.Variable("pair", names))


def score_rates(run: xr.Dataset) -> xr.DataArray:
    """Signed rates of the four scores over Loss σ0² m / (√m L)."""
    size = sizes(run)
    unit = run["loss"] * size.key_norm / (size.width**0.5 * size.length)
    return signed(run["score_rate"], SCORES) / unit


def _value_rates(run: xr.Dataset) -> xr.DataArray:
    return signed(run["value_self_score_rate"], VALUES) / run["loss"]


def _softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + eˣ); NumPy's logaddexp warns where an argument is NaN."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-abs(x)))


def _spread(run: xr.Dataset) -> xr.DataArray:
    """Largest g_i / g_j within a type, by type."""
    words = [str(name).split() for name in run["sample"].values]
    kinds = [("mu1" in w) + 2 * ("mu2" in w) for w in words]
    logs = xr.apply_ufunc(_softplus, run["margin"])
    groups = logs.assign_coords(sample=kinds).groupby("sample")
    # A NaN among the margins of a type is one of its extent too.
    return np.exp(groups.max(skipna=False) - groups.min(skipna=False))


def _readouts(run: xr.Dataset) -> xr.DataArray:
    return abs(run["value"]) / np.log(sizes(run).width)


CLAIMS: tuple[c.Claim, ...] = (
    _always(
        id="A-C4.6",
        place="Corollary 4.6; Corollary F.13; Theorem 3.2, second item",
        statement="In phase 2 the inner products of values of μ1 and μ2, of μ1 with "
        "itself and of μ2 with itself grow; those of μ1 and μ2 with μ3 fall.",
        judge=_positive("rates of A_V over the loss, with these signs", _value_rates),
        mutations=c.named(
            mutate.swap(ALL, "value_self_score_rate", "query", ("mu1", "mu3"))
        ),
    ),
    _always(
        id="A-L4.7-sign",
        place="Lemma 4.7; Lemma F.16; Theorem 3.2, first item",
        statement="In phase 2 the scores between the two targets rise, and those of "
        "the common token as key with a target as query fall.",
        judge=_positive(
            "rates of scores over Loss σ0² m / (√m L), with these signs", score_rates
        ),
        mutations=c.named(mutate.swap(ALL, "score_rate", "key", ("mu1", "mu3"))),
    ),
    _asymptotic(
        id="A-F.2",
        place="Corollary F.2",
        statement="In phase 2 the logistic weights of two samples of one type differ "
        "by a bounded factor.",
        judge=ladder(
            "largest g_i / g_j within a type", largest(_spread), "O", constant=2.0
        ),
        inert=BEGINS,
    ),
    _asymptotic(
        id="A-F.1-sizes",
        place="Definition F.1, second, sixth and seventh condition; Corollary F.17, "
        "last display",
        statement="In phase 2 margins are above a constant, readouts of named tokens "
        "are O(log m), and attention is within O(1/L²) of its initial value.",
        judge=c.All(
            (
                ladder(
                    "least margin",
                    least(lambda run: run["margin"]),
                    "Omega",
                    constant=2.0,
                ),
                ladder(
                    "largest |G| of a named token over log m",
                    largest(_readouts),
                    "O",
                    constant=2.0,
                ),
                ladder(
                    "largest change of attention since time 0, times L²",
                    largest(lambda run: run[ATTENTION] * sizes(run).length ** 2),
                    "O",
                    constant=2.0,
                ),
            )
        ),
        needs=ev.LARGE_WIDTHS,
        settings=ev.ALONG_LARGE_M,
        source=f"{ev.THEORY_RUNS}; new in version 2 of the claims",
        mutations=c.named(with_width("margin", -0.2), with_width("value", 0.2)),
    ),
)
