"""Hard-margin SVM of token counts, for the paper's data up to symmetry."""

import itertools
from collections.abc import Sequence

import numpy as np
import xarray as xr

from attnflow.claims.statistics import HardMargin, hard_margin
from attnflow.data.cooccurrence import COMMON, NAMED, SHARES, TARGETS, TYPES
from attnflow.papers.cooccurrence.computations import TokenSvm
from attnflow.papers.cooccurrence.settings import Fields

LABELS = np.array([1.0 if kind == "both" else -1.0 for kind in TYPES])


def token_svm(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Norm, dual variables and balance ratio of the SVM, by samples n and length L.

    At uniform attention F is Σ_h G(x_h), linear in the counts of tokens. Samples share
    only named tokens; no two share any of their L − 1 − |targets| fillers, which gives
    r_k / n_k on the diagonal for a type with n_k samples. Nothing here is random: all
    seeds have the same numbers. `limit_…` is for n → ∞ at any L.

    - `norm_squared`: |w*|², with G ~ w* log t.
    - `dual`: each type's dual variables, summed, as fractions of their total.
    - `balance_ratio`: R = (Σ2 + Σ3 + Σ4 − Σ1) / (Σ1 − Σ2), Σ being dual variables.
    - `readout`: w* on the named tokens. `margin`: of each type.
    """
    grid = TokenSvm(**setting)
    samples, lengths = grid.samples, grid.lengths
    cells = [_numbers(machine(n, L)) for n, L in itertools.product(samples, lengths)]
    limit = _numbers(hard_margin(shared_tokens(), LABELS))
    inner_dims = {"dual": ("type",), "margin": ("type",), "readout": ("token",)}
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    for name, number in limit.items():
        rows = np.array([cell[name] for cell in cells])
        table = rows.reshape(len(samples), len(lengths), *rows.shape[1:])
        dims = inner_dims.get(name, ())
        variables[name] = (
            ("seed", "samples", "length", *dims),
            _repeated(table, seeds),
        )
        variables[f"limit_{name}"] = (
            ("seed", *dims),
            _repeated(np.array(number), seeds),
        )
    coords = {"samples": list(samples), "length": list(lengths), "type": list(TYPES)}
    return xr.Dataset(
        variables, {**coords, "token": [f"mu{i + 1}" for i in range(NAMED)]}
    )


def machine(samples: float, length: int) -> HardMargin:
    """The SVM of n samples with exact shares and distinct fillers."""
    slots = [length - 1 - len(TARGETS[kind]) for kind in TYPES]
    if samples <= 0 or min(slots) < 0:
        raise ValueError(
            f"samples is {samples} and length {length}: give a positive number of "
            "samples of at least 3 tokens, such as samples=60, length=5."
        )
    filler_terms = np.array(slots) / (samples * np.array(SHARES))
    return hard_margin(shared_tokens() + np.diag(filler_terms), LABELS)


def shared_tokens() -> np.ndarray:
    """Number of named tokens that two types share."""
    return _named() @ _named().T


def _named() -> np.ndarray:
    """Which named tokens each type holds, `(types, tokens)`."""
    holds = np.zeros((len(TYPES), NAMED))
    holds[:, COMMON] = 1.0
    for row, kind in enumerate(TYPES):
        holds[row, list(TARGETS[kind])] = 1.0
    return holds


def _numbers(svm: HardMargin) -> dict[str, float | np.ndarray]:
    d = svm.dual
    return {
        "norm_squared": svm.norm_squared,
        "dual": svm.shares,
        "balance_ratio": (d[1] + d[2] + d[3] - d[0]) / (d[0] - d[1]),
        "readout": (LABELS * d) @ _named(),
        "margin": svm.margins,
    }


def _repeated(table: np.ndarray, seeds: Sequence[int]) -> np.ndarray:
    return np.broadcast_to(table, (len(seeds), *table.shape)).copy()
