"""Formulas in running text: found where they stand, without marks.

Statements are written to be read on a terminal, as plain text with Greek letters and
`w_c`, `e^{−C}`, `σ0²`. A page typesets them, and so has to tell them from words. What
stands between dollars is always a formula, and what stands between backticks is code,
as are names of ours such as `attnflow.data.token_sequences` and `systems/decoder.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from attnflow.site.pages.formula_words import FUNCTIONS, OPERATORS, Word, words_of

_NAME = r"(?<![\w/.])(?:attnflow\.\w[\w.]*\w|[\w/]+\.py)(?!\w)"
_MARKED = re.compile(rf"\$([^$]+)\$|`([^`]*)`|({_NAME})")
_LONGEST = 40
"""Words of a formula: a parenthesis that is never closed must end somewhere."""


@dataclass(frozen=True)
class Piece:
    """A part of a text: words, a formula or code."""

    text: str
    kind: Literal["words", "formula", "code"]


def pieces(text: str) -> Iterator[Piece]:
    """The text in its order, cut into words, formulas and code."""
    place = 0
    for marked in _MARKED.finditer(text):
        yield from _unmarked(text[place : marked.start()])
        formula, code, name = marked.groups()
        kind = "code" if formula is None else "formula"
        yield Piece(formula or code or name or "", kind)
        place = marked.end()
    yield from _unmarked(text[place:])


def _unmarked(text: str) -> Iterator[Piece]:
    place = 0
    for start, end in _formulas(text):
        if start > place:
            yield Piece(text[place:start], "words")
        yield Piece(text[start:end], "formula")
        place = end
    if place < len(text):
        yield Piece(text[place:], "words")


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Where formulas begin and end: runs of words that may be parts of one."""
    run: list[Word] = []
    for word in words_of(text):
        if run and not word.is_part and not _is_open(text, run):
            yield from _bounds(text, run)
            run = []
        if word.is_part or run:
            run.append(word)
        if run and word.stops and not _is_open(text, run):
            yield from _bounds(text, run)
            run = []
    yield from _bounds(text, run)


def _is_open(text: str, run: list[Word]) -> bool:
    """Whether a parenthesis that a formula opened inside itself is not closed yet."""
    sofar = text[run[0].start : run[-1].end]
    return len(run) < _LONGEST and _depth(sofar.lstrip("([")) > 0


def _depth(text: str) -> int:
    return sum((c in "([{") - (c in ")]}") for c in text)


def _bounds(text: str, run: list[Word]) -> Iterator[tuple[int, int]]:
    """The formula of a run of words, without what only leads to it."""
    while run and run[0].core in OPERATORS - {"−"}:
        run = run[1:]
    while run and (run[-1].core in OPERATORS or FUNCTIONS.fullmatch(run[-1].core)):
        run = run[:-1]
    if not any(word.makes_formula for word in run):
        return
    start, end = run[0].start, run[-1].end
    while start < end and text[start] in "([" and _depth(text[start:end]) > 0:
        start += 1
    while start < end and text[end - 1] in ")]" and _depth(text[start:end]) < 0:
        end -= 1
    if start < end and _depth(text[start:end]) == 0:
        yield start, end
