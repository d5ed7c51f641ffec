"""Templates, and texts with their mathematics as HTML."""

import functools
import re
from itertools import pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from attnflow.site.pages.formulas import Piece, pieces
from attnflow.site.pages.numbers import number_text, seconds_text, sort_key
from attnflow.site.pages.site import style
from attnflow.site.pages.table import Table
from attnflow.site.pages.tex import to_tex

# One letter with an index, or a power: w_c, A_K, e^{-4a}, (1 + x)^½.
_INDEX = re.compile(r"(?<![^\W_])([^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9α-ω]+)")
_STOP = re.compile(r"[.,;:)]+")
_POWER = re.compile(r"\^(\{[^{}]*\}|\([^()]*\)|[−-]?[A-Za-z0-9α-ωΑ-Ω½¼]+|[+−-])")


@functools.cache
def environment() -> Environment:
    """The templates of the package; whatever they show is escaped."""
    made = Environment(
        loader=PackageLoader("attnflow.site.pages"),
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
    return template.render(
        title=title, caption=caption, table=table, style=Markup(style())
    )


def mathematics(text: str) -> Markup:
    """A text with its formulas marked for typesetting, and all else escaped.

    A formula carries its TeX, which the page's script typesets; until then, and
    without scripts, it shows plain indices and powers. The punctuation after a formula
    belongs to it, so that no line begins with it.
    """
    made, stop = Markup(""), ""
    parts = [*pieces(text), Piece("", "words")]
    for piece, after in pairwise(parts):
        words = piece.text.removeprefix(stop)
        stop = _stop(after.text) if piece.kind == "formula" else ""
        made += _MADE[piece.kind](words, stop)
    return made


def _stop(text: str) -> str:
    """The punctuation with which a text begins."""
    found = _STOP.match(text)
    return found[0] if found else ""


def _words(text: str, stop: str) -> Markup:
    return escape(text)


def _code(text: str, stop: str) -> Markup:
    return Markup("<code>{}</code>").format(text)


def _formula(text: str, stop: str) -> Markup:
    safe = str(escape(text))
    safe = _INDEX.sub(lambda m: f"<var>{m[1]}</var><sub>{_bare(m[2])}</sub>", safe)
    shown = _POWER.sub(lambda m: f"<sup>{_bare(m[1])}</sup>", safe)
    tex = to_tex(text) + (rf"\text{{{stop}}}" if stop else "")
    return Markup(f'<span class="tex" data-tex="{escape(tex)}">{shown}{stop}</span>')


def _bare(text: str) -> str:
    return text.strip("{}").replace("-", "−")


_MADE = {"words": _words, "code": _code, "formula": _formula}


def anchor(*parts: str) -> str:
    """An id within the page, such as `claim-B-Thm4.1-T2`."""
    return re.sub(r"[^\w.\-]+", "-", "-".join(parts)).strip("-")
