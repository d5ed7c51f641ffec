"""Plain text of declarations as Markdown, with formulas for typesetting."""

from collections.abc import Sequence

from attnflow.figures.formulas import mathematics

# Signs that Markdown would read inside the HTML that `mathematics` gives.
_SIGNS = str.maketrans({"*": "&#42;", "|": "&#124;", "`": "&#96;", "_": "&#95;"})
_SIGNS |= str.maketrans({"[": "&#91;", "]": "&#93;", "\\": "&#92;", "\n": " "})


def prose(text: str) -> str:
    """A statement, caption or note, with its formulas marked for typesetting."""
    return str(mathematics(text)).translate(_SIGNS)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def code(text: str) -> str:
    """Inline code, which may hold a `|` in a table too."""
    return f"`{text}`"


def folded(title: str, body: str) -> str:
    """A part of a page that is opened by a click."""
    inner = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return f'??? note "{title}"\n\n{inner}\n'
