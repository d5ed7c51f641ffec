"""Our numbers beside those that a paper prints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnflow.site.pages.plain import JOIN, at, leaves, plain


@dataclass(frozen=True)
class Compared:
    """A printed number, ours, and how far they are apart.

    `deviation` is |ours − printed| / |printed| (of a list, the largest; where zero is
    printed, |ours|), and `None` where there is nothing of ours to compare.
    """

    name: str
    printed: Any
    ours: Any
    deviation: float | None
    agrees: bool


def compare(
    values: Mapping[str, Any], printed: Mapping[str, Any], tolerance: float
) -> tuple[Compared, ...]:
    """Every printed number with ours of the same name, at a relative tolerance."""
    ours = plain(values)
    rows = []
    for path, wanted in leaves(plain(printed)):
        found = at(ours, path)
        deviation = _deviation(wanted, found)
        agrees = deviation is not None and deviation <= tolerance
        rows.append(Compared(JOIN.join(path), wanted, found, deviation, agrees))
    return tuple(rows)


def _deviation(printed: Any, ours: Any) -> float | None:
    if isinstance(printed, str) or isinstance(ours, str):
        return 0.0 if printed == ours else None
    if ours is None or np.shape(printed) != np.shape(ours):
        return None
    wanted, found = np.asarray(printed, float), np.asarray(ours, float)
    if not (np.isfinite(wanted).all() and np.isfinite(found).all()):
        return None
    scale = np.where(wanted == 0, 1.0, np.abs(wanted))
    return float(np.max(np.abs(found - wanted) / scale, initial=0.0))
