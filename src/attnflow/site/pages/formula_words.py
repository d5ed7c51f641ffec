"""Words of running text, and which of them can be parts of a formula."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    """A word with its place in the text; `core` is without the punctuation after it.

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
    for found in _WORD.finditer(text):
        core = found[0].rstrip(_END) or found[0]
        is_name = (
            (_NAMING.fullmatch(before.lstrip("(")) and len(core.strip("()")) <= 2)
            or (has_panels and _PANEL.fullmatch(core))
            or _ASIDE.match(text, found.start())
        )
        is_part = not is_name and _is_part(core)
        yield Word(found.start(), core, stops=core != found[0], is_part=is_part)
        before = found[0]


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
    """What stands between the commas of a pair or an interval."""
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
