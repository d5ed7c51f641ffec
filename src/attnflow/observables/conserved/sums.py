"""Drift of the sums that next-token training conserves.

Pulls on logits sum to zero and so do pushes on scores, so that the sums of every row of
Y and of Z stay what they are, by flow and by descent. With multiplicities of 10⁸ the
sums themselves lose that many digits.
"""

from typing import Any

import numpy as np


def table_drift(frame: Any, before: Any, after: Any) -> float:
    """The largest change of a row's sum, relative to the sum of its entries' sizes."""
    weights = {"scores": frame.weight, "values": frame.column_weight}
    return max(
        _drift(np.asarray(w), np.asarray(before[n]), np.asarray(after[n]))
        for n, w in weights.items()
    )


def _drift(weight: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    size = np.maximum(np.abs(after), np.abs(before)) @ weight
    change = np.abs((after - before) @ weight)
    moved = size > 0
    return float((change[moved] / size[moved]).max()) if moved.any() else 0.0
