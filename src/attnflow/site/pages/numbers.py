"""Numbers and durations as a reader of a page wants them."""

import math
from typing import Any

from attnflow.site.pages.plain import plain

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTHING = "–"


def number_text(value: Any, digits: int = 4) -> str:
    """A value as text: `0.125`, `3.1×10⁻⁵`, `20 000`, `yes`, `1.2, 3.4`, `a: 1; b: 2`.

    Numbers keep `digits` significant digits and a proper minus.
    """
    value = value if isinstance(value, float) else plain(value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: NOTHING}[value]
    if isinstance(value, int | float):
        return _number(value, digits)
    if isinstance(value, dict):
        parts = [f"{name}: {number_text(v, digits)}" for name, v in value.items()]
        return "; ".join(parts) or NOTHING
    if isinstance(value, list):
        return ", ".join(number_text(part, digits) for part in value) or NOTHING
    return str(value)


def _number(value: float, digits: int) -> str:
    size = abs(value)
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else _signed("-∞" if value < 0 else "∞")
    if isinstance(value, int) and size < 1e15:
        return _signed(f"{value:,}".replace(",", "\u202f") if size >= 1e4 else value)
    if size != 0 and not 1e-3 <= size < 1e6:
        factor, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        factor = factor.rstrip("0").rstrip(".") if "." in factor else factor
        return _signed(f"{factor}×10") + str(int(exponent)).translate(_SUPERSCRIPTS)
    rounded = float(f"{value:.{digits}g}") if size < 1e4 else round(value)
    return _signed(f"{rounded:g}" if size < 1e4 else f"{rounded:.0f}")


def _signed(text: Any) -> str:
    return str(text).replace("-", "−")


def seconds_text(seconds: float | None) -> str:
    """A duration: `0.4 s`, `12 s`, `3 min`, `1.5 h`."""
    if seconds is None:
        return NOTHING
    if seconds < 0.095:
        return "< 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5940 else f"{seconds / 3600:.1f} h"


def sort_key(value: Any) -> str:
    """What a column is sorted by; an empty text goes last."""
    return "" if value is None else str(value)
