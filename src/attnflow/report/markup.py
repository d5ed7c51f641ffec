"""Templates, and numbers as a reader of a page wants them."""

import functools
import math
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from attnflow.report.plain import plain
from attnflow.report.table import Table

# One letter with an index, or a power: w_c, A_K, e^{-4a}, (1 + x)^½.
_INDEX = re.compile(r"(?<![^\W_])([^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9α-ω]+)")
_POWER = re.compile(r"\^(\{[^{}]*\}|[−-]?[A-Za-z0-9α-ω½]+|[+−-])")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTHING = "–"


@functools.cache
def environment() -> Environment:
    """The templates of the package; whatever they show is escaped."""
    made = Environment(
        loader=PackageLoader("attnflow.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number_text,
        "seconds": seconds_text,
        "anchor": anchor,
        "mathematics": mathematics,
        "sortable": sort_key,
    }
    return made


def table_page(title: str, caption: str, table: Table) -> str:
    """A table on a page of its own."""
    template = environment().get_template("table.html")
    return template.render(title=title, caption=caption, table=table)


def number_text(value: Any, digits: int = 4) -> str:
    """A value as text: `0.125`, `3.1×10⁻⁵`, `20 000`, `yes`, `1.2, 3.4`.

    Numbers keep `digits` significant digits and a proper minus.
    """
    value = value if isinstance(value, float) else plain(value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: NOTHING}[value]
    if isinstance(value, int | float):
        return _number(value, digits)
    if isinstance(value, dict):
        parts = [f"{name} {number_text(v, digits)}" for name, v in value.items()]
        return ", ".join(parts) or NOTHING
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
    return _signed(f"{value:.{digits}g}" if size < 1e4 else f"{value:.0f}")


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


def mathematics(text: str) -> Markup:
    """A text whose plain indices and powers are set as such: `w_c`, `e^{-4a}`.

    All else is escaped, and code such as `learning_rate` stays as it is.
    """
    safe = str(escape(text))
    safe = _INDEX.sub(lambda m: f"<var>{m[1]}</var><sub>{_bare(m[2])}</sub>", safe)
    return Markup(_POWER.sub(lambda m: f"<sup>{_bare(m[1])}</sup>", safe))


def _bare(text: str) -> str:
    return text.strip("{}").replace("-", "−")


def anchor(*parts: str) -> str:
    """An id within the page, such as `claim-B-Thm4.1-T2`."""
    return re.sub(r"[^\w.\-]+", "-", "-".join(parts)).strip("-")


def sort_key(value: Any) -> str:
    """What a column is sorted by; an empty text goes last."""
    return "" if value is None else str(value)
