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

from attnflow.figures.axes import GREEK

OPERATORS = frozenset("+−-=<>/·×±∓≤≥≠≈∝≫≪∈→…|")
RELATIONS = OPERATORS - set("-/…|")
FUNCTIONS = re.compile(
    r"log|ln|exp|min|max|sup|inf|sqrt|sinh|cosh|tanh|asinh|erf|diag|poly|polylog|SNR"
)
_LONG_WORD = re.compile(r"[A-Za-z]{3,}")
_CODE = re.compile(r"[A-Za-z]{2,}_|[A-Za-z]\.[A-Za-z]|://|[A-Za-z]-[A-Za-z]")
_ORDER = re.compile(r"^[OΘΩoÕ]\u0303?\(")
_SURE = re.compile(
    # A sign that occurs in formulas alone, an index or a power,
    r"[α-ωΑ-Ωℓ⟨⟩√∫‖∞≤≥≠≈∝≫≪∈·±∂∇ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉₊₋½¼|=]|\u0303|Õ"
    r"|(?<![A-Za-z])[A-Za-z)}\]][_^]|\d\^"
    # T1, X1+-, 4e-11, f(X) and O(log …, 9/w or 1/(L …, t/9, log(12 …, SNR^−2, mu1.
    r"|^[−-]?[A-Za-z]\d{1,2}['*]?$|^[A-Z]\d[+-]{2}$|^[−-]?[\d.]+e[−-]?\d+$"
    r"|^[A-Za-z]'?[(\[]|(?<=\w)/(?=[A-Za-z(])|(?<![A-Za-z])[A-Za-z]/\d"
    rf"|^(?:{FUNCTIONS.pattern})[(^]|^[−-]?(?:{'|'.join(GREEK)})\d$"
)
_LETTER = re.compile(r"^[+±∓−-]?\d*[B-HJ-Zb-z]['*]?$")
_NUMBER = re.compile(r"^[−-]?[\d\u202f.,/()]*\d%?$")
# A pair or an interval is one word, whatever the spaces after its commas.
_WORD = re.compile(r"[(\[][^\s()]{1,9}(?:, [^\s()]{1,9})+[)\]]\S*|\S+")
# A remark in parentheses that begins with a number, or the name of an item.
_ASIDE = re.compile(r"\([\d.]+%? (?![+−\-±·×/=<>≤≥])|\([a-z]\)(?!\S*[=^])")
# A letter after one of these is a name and no variable.
_NAMING = re.compile(
    r"(?i)appendix|section|sheet|paper|stage|item|figure|panels?|row|table"
)
# Where panels are told apart by letters, these are names too.
_PANELS = re.compile(r"(?:^|[.;] )[a-f]: ")
_PANEL = re.compile(r"[a-f]")
_END = ".,;:?!"


@dataclass(frozen=True)
class Word:
    """A word with its position in the text; `core` is without punctuation after it.

    `stops`: whether punctuation follows; `is_part`: whether a formula may have it.
    """

    start: int
    core: str
    stops: bool
    is_part: bool

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.start + len(self.core)

    @property
    def makes_formula(self) -> bool:
        """Whether a run of words that has this one is a formula."""
        return self.core in RELATIONS or is_mathematics(self.core)


def words_of(text: str) -> Iterator[Word]:
    """The words of a text in their order."""
    before, has_panels = "", bool(_PANELS.search(text))
    for match in _WORD.finditer(text):
        core = match[0].rstrip(_END) or match[0]
        is_name = (
            (_NAMING.fullmatch(before.lstrip("(")) and len(core.strip("()")) <= 2)
            or (has_panels and _PANEL.fullmatch(core))
            or _ASIDE.match(text, match.start())
        )
        is_part = not is_name and _is_part(core)
        yield Word(match.start(), core, stops=core != match[0], is_part=is_part)
        before = match[0]


def is_mathematics(core: str) -> bool:
    """Whether a word is mathematics wherever it stands."""
    if ", " in core:
        return any(map(_SURE.search, _entries(core))) and _is_part(core)
    if _CODE.search(core):
        return False
    if any(not FUNCTIONS.fullmatch(word) for word in _LONG_WORD.findall(core)):
        return bool(_ORDER.match(core)) or "_" in core
    return bool(_SURE.search(core) or _LETTER.match(core.strip("()|")))


def _entries(core: str) -> list[str]:
    """The entries of a pair or an interval."""
    return core.strip("()[]").split(", ")


def _is_part(core: str) -> bool:
    if ", " in core:
        return all(map(_is_part, _entries(core)))
    bare = core.lstrip("−+-").strip("()[]|")
    return (
        core in OPERATORS
        or is_mathematics(core)
        or bool(_NUMBER.match(bare) or _LETTER.match(bare) or FUNCTIONS.fullmatch(bare))
    )


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
    start = 0
    for marked in _MARKED.finditer(text):
        yield from _unmarked(text[start : marked.start()])
        formula, code, name = marked.groups()
        kind = "code" if formula is None else "formula"
        yield Piece(formula or code or name or "", kind)
        start = marked.end()
    yield from _unmarked(text[start:])


def _unmarked(text: str) -> Iterator[Piece]:
    before = 0
    for start, end in _formulas(text):
        if start > before:
            yield Piece(text[before:start], "words")
        yield Piece(text[start:end], "formula")
        before = end
    if before < len(text):
        yield Piece(text[before:], "words")


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
