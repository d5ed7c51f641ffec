"""The hard-margin machine of token counts, for the paper's data by symmetry."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from attnflow.claims.statistics import HardMargin, hard_margin
from attnflow.data.cooccurrence import COMMON, NAMED, SHARES, TARGETS, TYPES

LABELS = np.array([1.0 if kind == "both" else -1.0 for kind in TYPES])


def token_svm(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Norm, multipliers and balance of the machine, by samples n and length L.

    At uniform attention F is Σ_h G(x_h), linear in the counts of tokens. Samples share
    named tokens alone; the L − 1 − |targets| fillers of each are its own, which leaves
    r_k / n_k on the diagonal for a type with n_k samples. Nothing here is drawn: all
    seeds get the same numbers. `limit_…` is for n → ∞ at any L.

    - `norm_squared`: |w*|², with G ~ w* log t.
    - `dual`: each type's multipliers, summed, as parts of their total.
    - `balance_ratio`: R = (Σ2 + Σ3 + Σ4 − Σ1) / (Σ1 − Σ2) with multipliers as weights.
    - `readout`: w* on the named tokens. `margin`: of each type.
    """
    samples, lengths = setting["samples"], setting["lengths"]
    cells = [_numbers(machine(n, L)) for n, L in itertools.product(samples, lengths)]
    limit = _numbers(hard_margin(shared_tokens(), LABELS))
    own = {"dual": ("type",), "margin": ("type",), "readout": ("token",)}
    found: dict[str, Any] = {}
    for name, number in limit.items():
        rows = np.array([cell[name] for cell in cells])
        table = rows.reshape(len(samples), len(lengths), *rows.shape[1:])
        dims = own.get(name, ())
        found[name] = (("seed", "samples", "length", *dims), _repeated(table, seeds))
        found[f"limit_{name}"] = (("seed", *dims), _repeated(np.array(number), seeds))
    coords = {"samples": list(samples), "length": list(lengths), "type": list(TYPES)}
    return xr.Dataset(found, {**coords, "token": [f"mu{i + 1}" for i in range(NAMED)]})


def machine(samples: float, length: int) -> HardMargin:
    """The machine of n samples with exact shares and distinct fillers."""
    slots = [length - 1 - len(TARGETS[kind]) for kind in TYPES]
    if samples <= 0 or min(slots) < 0:
        raise ValueError(
            f"samples is {samples} and length {length}: give a positive number of "
            "samples of at least 3 tokens, such as samples=60, length=5."
        )
    own = np.array(slots) / (samples * np.array(SHARES))
    return hard_margin(shared_tokens() + np.diag(own), LABELS)


def shared_tokens() -> np.ndarray:
    """How many named tokens two types share."""
    return _named() @ _named().T


def _named() -> np.ndarray:
    """Which named tokens each type holds, `(types, tokens)`."""
    held = np.zeros((len(TYPES), NAMED))
    held[:, COMMON] = 1.0
    for row, kind in enumerate(TYPES):
        held[row, list(TARGETS[kind])] = 1.0
    return held


def _numbers(found: HardMargin) -> dict[str, Any]:
    d = found.dual
    return {
        "norm_squared": found.norm_squared,
        "dual": found.shares,
        "balance_ratio": (d[1] + d[2] + d[3] - d[0]) / (d[0] - d[1]),
        "readout": (LABELS * d) @ _named(),
        "margin": found.margins,
    }


def _repeated(table: np.ndarray, seeds: Sequence[int]) -> np.ndarray:
    return np.broadcast_to(table, (len(seeds), *table.shape)).copy()
