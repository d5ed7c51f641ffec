"""Numbers and settings as people read them."""

import math
from collections.abc import Mapping
from typing import Any

from attnflow.schema.settings import typed

ABSENT = "–"


def number(value: Any) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return ABSENT
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def spread(values: Any) -> str:
    """A number, or the mean of several with their range."""
    if not isinstance(values, list):
        return number(values)
    known = [float(v) for v in values if v is not None and not math.isnan(v)]
    if not known:
        return ABSENT
    mean = number(sum(known) / len(known))
    return f"{mean} ({number(min(known))} … {number(max(known))})"


def seconds(value: float) -> str:
    """A duration with its unit."""
    if value >= 90:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def settings(values: Mapping[str, Any]) -> str:
    """Settings as one would type them."""
    return " ".join(typed(values))
