"""Examples in docstrings as code blocks: an extension of griffe, for mkdocstrings.

Docstrings have examples as doctests, `>>> …` inside `!!! example`, which Markdown would
read as quotations.
"""

import re
from typing import Any

import griffe

# Lines of a doctest with equal indent: input, continuation, and output up to a blank.
DOCTEST = re.compile(
    r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*|\n(?P=indent) +\S.*)*", re.M
)


def fenced(text: str) -> str:
    """The text with a fence around every doctest."""
    return DOCTEST.sub(
        lambda m: f"{m['indent']}```pycon\n{m[0]}\n{m['indent']}```", text
    )


class Doctests(griffe.Extension):
    """Fences around doctests of every docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
