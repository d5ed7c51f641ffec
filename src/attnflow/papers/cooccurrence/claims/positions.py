"""Attention of the quotient's representatives, token by token.

A representative has its named tokens, a filler of its own, and one filler with the mass
of all others (`attnflow.data.CooccurrenceOrbits`); the rest of its five positions is
padding.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.claims.windows import sizes
from attnflow.schema.installation import xr

NAMED = quiet.HELD.sum(axis=1).astype(int)
"""Number of named tokens of each type, which are its first positions."""
Pairs = Literal["all", "fillers", "others"]
"""Pairs of query and key: all, those of two fillers, those with a named token."""


AXES = ("sample", "query_position", "key_position")


def rates(run: xr.Dataset, pairs: Pairs = "all") -> xr.DataArray:
    """|∂p/∂t| of single tokens; 0 for other pairs."""
    return _of_tokens(run, run["attention_rate"].isel(head=0, drop=True), pairs)


def changes(run: xr.Dataset, pairs: Pairs = "all") -> xr.DataArray:
    """|p − p(0)| of single tokens; 0 for other pairs.

    From scores, which are 0 at time 0: a change of p = 1/L below rounding is known.
    With e = exp(s) − 1 and its mean ē over keys, p − p(0) = (e − ē) / (L (1 + ē)).
    """
    size = sizes(run)
    scores = run["pair_score"].isel(head=0, drop=True)
    mass = xr.DataArray(masses(size.length), dims=("sample", "key_position"))
    grown = np.expm1(scores * size.width**-0.5)
    mean = (grown * mass).sum("key_position", skipna=False) / size.length
    single = (grown - mean) / (size.length * (1 + mean))
    return _of_tokens(run, single * mass, pairs)


def _of_tokens(run: xr.Dataset, table: xr.DataArray, pairs: Pairs) -> xr.DataArray:
    """|Entries| by token: those of several tokens are divided by their mass."""
    mass = masses(sizes(run).length)[:, None]
    single = np.where(_is_pair(pairs) & (mass > 0), 1 / np.maximum(mass, 1), 0.0)
    return abs(table) * xr.DataArray(single, dims=AXES)


def masses(length: float) -> np.ndarray:
    """Mass of each key of each type."""
    rows = np.zeros((len(NAMED), 5))
    for kind, named in enumerate(NAMED):
        rows[kind, :named] = 1.0
        rows[kind, named : named + 2] = min(length - named, 1), length - named - 1
    return np.maximum(rows, 0.0)


def _is_pair(pairs: Pairs) -> np.ndarray:
    """Which query and key positions are meant, by type."""
    place, named = np.arange(5), NAMED[:, None]
    is_named, is_query = place < named, place <= named
    every = is_query[:, :, None] & np.ones(5, bool)
    fillers = every & ~is_named[:, :, None] & ~is_named[:, None, :]
    return {"all": every, "fillers": fillers, "others": every & ~fillers}[pairs]


def target_rates(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """∂p/∂t in samples with both targets, of named keys (signed) and |·| of fillers."""
    rate = run["attention_rate"].isel(head=0, sample=0, drop=True)
    entries = {"21": (0, 1, 1), "12": (1, 0, 1), "31": (0, 2, -1), "32": (1, 2, -1)}
    named = [
        sign * rate.isel(query_position=query, key_position=key)
        for query, key, sign in entries.values()
    ]
    fillers = rates(run).isel(sample=0, query_position=[0, 1], key_position=[3, 4])
    return xr.concat(named, "entry"), fillers
