"""A document of a few kinds of blocks, as Markdown and as one HTML file.

Both are plain: no script, no font, nothing that is fetched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape


@dataclass(frozen=True)
class Link:
    """Words that lead to a file."""

    text: str
    target: str


Cell = str | Link


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Sentences, and perhaps a link that follows them."""

    text: str
    link: Link | None = None


@dataclass(frozen=True)
class Items:
    """A list."""

    entries: Sequence[Cell]


@dataclass(frozen=True)
class Grid:
    """A table."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Code:
    """A program, its output, or commands, as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Picture:
    """An image file, and what it shows."""

    file: str
    text: str


Block = Heading | Paragraph | Items | Grid | Code | Picture

# What would begin emphasis, code, HTML or a link, and nothing else: plain text is read
# as it is more often than not.
_SPECIAL = re.compile(r"[*<`]|(?<!\w)_|(?<=\])(?=\()|^[>#+-](?= )|^(?=\d+\. )")


def markdown(blocks: Sequence[Block]) -> str:
    """The blocks as Markdown (GitHub's tables)."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


@singledispatch
def _markdown(block: Block) -> str:
    raise TypeError(f"{block!r} is not a block of a document.")


@_markdown.register
def _(block: Heading) -> str:
    return f"{'#' * block.level} {_words(block.text)}"


@_markdown.register
def _(block: Paragraph) -> str:
    return " ".join(map(_words, filter(None, (block.text, block.link))))


@_markdown.register
def _(block: Items) -> str:
    return "\n".join(f"- {_words(entry)}" for entry in block.entries)


@_markdown.register
def _(block: Grid) -> str:
    lines = (block.columns, ["---"] * len(block.columns), *block.rows)
    return "\n".join(f"| {' | '.join(map(_in_cell, line))} |" for line in lines)


@_markdown.register
def _(block: Code) -> str:
    fence = "```"
    while fence in block.text:
        fence += "`"
    return f"{fence}{block.language}\n{block.text.rstrip()}\n{fence}"


@_markdown.register
def _(block: Picture) -> str:
    return f"![{_words(block.text)}]({block.file})"


def _words(cell: Cell) -> str:
    if isinstance(cell, Link):
        return f"[{_words(cell.text)}]({cell.target})"
    text = " ".join(cell.split())
    return _SPECIAL.sub(r"\\\g<0>", text)


def _in_cell(cell: Cell) -> str:
    return "---" if cell == "---" else _words(cell).replace("|", r"\|")


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: break-word; }
p, ul, pre { max-width: 60rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .25rem .6rem; text-align: left;
  vertical-align: top; }
td:first-child:nth-last-child(n+5) > a { white-space: nowrap; }
td:last-child:nth-child(n+5), td:nth-child(4):nth-last-child(2) { min-width: 16rem; }
pre { background: #8881; padding: .75rem; overflow-x: auto; font-size: .85rem; }
img { max-width: 100%; background: #fff; }
"""


def html(blocks: Sequence[Block]) -> str:
    """The blocks as a page that needs no other file but its pictures."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head><body>\n"
    )
    return head + "\n".join(map(_html, blocks)) + "\n</body></html>\n"


@singledispatch
def _html(block: Block) -> str:
    raise TypeError(f"{block!r} is not a block of a document.")


@_html.register
def _(block: Heading) -> str:
    return f"<h{block.level}>{escape(block.text)}</h{block.level}>"


@_html.register
def _(block: Paragraph) -> str:
    parts = map(_phrase, filter(None, (block.text, block.link)))
    return f"<p>{' '.join(parts)}</p>"


@_html.register
def _(block: Items) -> str:
    entries = "".join(f"<li>{_phrase(entry)}</li>" for entry in block.entries)
    return f"<ul>{entries}</ul>"


@_html.register
def _(block: Grid) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{_phrase(cell)}</td>' for cell in row)}</tr>"
        for row in block.rows
    )
    # Markdown's tables must have a head; names and values side by side need none.
    named = f"<thead><tr>{head}</tr></thead>\n" if any(block.columns) else ""
    return f"<table>{named}<tbody>{rows}</tbody></table>"


@_html.register
def _(block: Code) -> str:
    return f"<pre><code>{escape(block.text.rstrip())}</code></pre>"


@_html.register
def _(block: Picture) -> str:
    return f'<p><img src="{escape(block.file)}" alt="{escape(block.text)}"></p>'


def _phrase(cell: Cell) -> str:
    if isinstance(cell, Link):
        # Each Markdown file has an HTML file beside it: pages lead to pages.
        target = re.sub(r"README\.md$", "index.html", cell.target)
        return f'<a href="{escape(target)}">{escape(cell.text)}</a>'
    # Lists of settings have commas without spaces, where a line may be broken.
    return re.sub(r",(?=\S)", ",<wbr>", escape(cell))
