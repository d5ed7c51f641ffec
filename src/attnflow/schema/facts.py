"""How objects print: as lines in a terminal, as a table in a notebook."""

import abc
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 88


@dataclass(frozen=True)
class Facts:
    """A title, and named facts below it.

    `table` is a header and rows to follow them; `hint` says what to try next.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    hint: str = ""

    def text(self) -> str:
        """Lines for a terminal."""
        wide = max((len(name) for name, _ in self.facts), default=0)
        lines = [self.title, *(_fact(name, text, wide) for name, text in self.facts)]
        if self.table and self.table[1]:
            lines += ["", text_table(*self.table)]
        return "\n".join([*lines, *([f"Try {self.hint}"] if self.hint else [])])

    def html(self) -> str:
        """A fragment of a page, without style of its own."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self.facts
        )
        table = html_table(*self.table) if self.table and self.table[1] else ""
        hint = f"<p>Try <code>{escape(self.hint)}</code></p>" if self.hint else ""
        title = f"<strong>{escape(self.title)}</strong>"
        return f"{title}<table>{rows}</table>{table}{hint}"


class AbstractPresentable(abc.ABC):
    """An object that prints as `facts`, instead of the values of all its fields."""

    @abc.abstractmethod
    def facts(self) -> Facts:
        """What a reader wants to know first."""

    def __repr__(self) -> str:
        return self.facts().text()

    def _repr_html_(self) -> str:
        return self.facts().html()


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            f"{text:<{width}}" for text, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table as HTML, for a notebook."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _fact(name: str, text: str, wide: int) -> str:
    start = f"  {name:<{wide}}  "
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
