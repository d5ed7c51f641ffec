r"""Formulas in running text: found where they stand, without marks, and set as TeX.

Statements are written to be read on a terminal, as plain text with Greek letters and
`w_c`, `e^{−C}`, `σ0²`. A page typesets them, and so has to tell them from words. What
stands between dollars is always a formula, and what stands between backticks is code,
as are names of ours such as `attnflow.data.token_sequences` and `systems/decoder.py`.

`σ0² m / L` becomes `\sigma_{0}^{2} m / L`: letters, indices, powers and roots as one
types them. What the notation has no sign for is passed on unchanged, so that TeX itself
may be mixed in.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from markupsafe import Markup, escape

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


# One letter with an index, or a power: w_c, A_K, e^{-4a}, (1 + x)^½.
_INDEX = re.compile(r"(?<![^\W_])([^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9α-ω]+)")
_STOP = re.compile(r"[.,;:)]+")
_POWER = re.compile(r"\^(\{[^{}]*\}|\([^()]*\)|[−-]?[A-Za-z0-9α-ωΑ-Ω½¼]+|[+−-])")


def mathematics(text: str) -> Markup:
    """A text with its formulas marked for typesetting, and all else escaped.

    A formula carries its TeX, which the page's script typesets; until then, and
    without scripts, it shows plain indices and powers. The punctuation after a formula
    belongs to it, so that no line begins with it.
    """
    html, stop = Markup(""), ""
    parts = [*pieces(text), Piece("", "words")]
    for piece, after in pairwise(parts):
        content, stop = piece.text.removeprefix(stop), ""
        if piece.kind == "formula":
            punctuation = _STOP.match(after.text)
            stop = punctuation[0] if punctuation else ""
            html += _formula(content, stop)
        elif piece.kind == "code":
            html += Markup("<code>{}</code>").format(content)
        else:
            html += escape(content)
    return html


def _formula(text: str, stop: str) -> Markup:
    safe = str(escape(text))
    safe = _INDEX.sub(lambda m: f"<var>{m[1]}</var><sub>{_bare(m[2])}</sub>", safe)
    shown = _POWER.sub(lambda m: f"<sup>{_bare(m[1])}</sup>", safe)
    tex = to_tex(text) + (rf"\text{{{stop}}}" if stop else "")
    return Markup(f'<span class="tex" data-tex="{escape(tex)}">{shown}{stop}</span>')


def _bare(text: str) -> str:
    return text.strip("{}").replace("-", "−")


_FUNCTIONS = re.compile("log|ln|exp|min|max|sup|inf|sinh|cosh|tanh")
_OPERATORS = re.compile("diag|poly|polylog|sign|tr|rank|argmax|softmax|asinh|erf")
_COMMANDS = r"""
    · \cdot × \times ± \pm ∓ \mp … \ldots ≤ \le ≥ \ge ≠ \ne ≈ \approx ∝ \propto ≫ \gg
    ≪ \ll ∈ \in → \to ∞ \infty ∫ \int ∂ \partial ∇ \nabla Σ \sum ℓ \ell ⟨ \langle
    ⟩ \rangle
"""
"""Signs, each before its command in TeX."""
_SIGNS = {
    **{sign: f"{name} " for sign, name in re.findall(r"(\S) (\S+)", _COMMANDS)},
    "−": "-",
    "‖": r"\|",
    "ᵀ": r"^{\top}",
    "½": r"\tfrac{1}{2}",
    "¼": r"\tfrac{1}{4}",
    "%": r"\%",
    "*": "^{*}",
    "\u202f": r"\,",
}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
_GREEK = "α-ωΑ-Ω"
_TILDE = re.compile(rf"([A-Za-z{_GREEK}])\u0303")
_SPELLED = re.compile(rf"(?<![A-Za-z\\])({'|'.join(GREEK)})(\d+)")
_EXPONENT = re.compile(r"(?<![\w.])(\d[\d.]*)e([−-]?\d+)(?!\w)")
# Several indices of one letter have commas between them; S[c_k,v_k] has two letters.
_TEX_INDEX = re.compile(
    r"_(?!\{)([A-Za-z0-9]+'?(?:,[A-Za-z0-9]+(?![A-Za-z0-9_]))*|[α-ωΑ-Ω])"
)
_TEX_POWER = re.compile(r"\^(?!\{)([−-]?(?:\d+|[½¼]|[A-Za-zα-ωΑ-Ω])|[+−-])")
# The parentheses around an exponent are not needed; those around a time are.
_EXPONENT_IN_BRACKETS = re.compile(r"\^\(([−+-]?[\d./]+)\)")
_RAISED_BRACKETS = re.compile(r"\^(\([^()]*\))")
_SIGNED = re.compile(r"(?<![A-Za-z0-9_\\])([A-Z])(\d)([+-]{2})(?![\w+-])")
_NUMBERED = re.compile(rf"(?<![A-Za-z0-9_\\])([A-Za-z{_GREEK}])(\d+)(?![A-Za-z0-9.])")
_NUMBERED_BEFORE_LETTERS = re.compile(rf"([{_GREEK}])(\d+)")
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
# TeX takes one power and one index, of several signs.
_TWO_POWERS = re.compile(rf"\^{_BRACED}\^{_BRACED}")
_TWO_INDICES = re.compile(rf"_{_BRACED}_{_BRACED}")
_PRIMED_POWER = re.compile(rf"\^{_BRACED}'")
_LETTERS = re.compile(r"(?<![A-Za-z_\\])[A-Za-z]{2,}(?![A-Za-z])")
_POWERS = {"T": r"\top", "½": "1/2", "−½": "-1/2", "¼": "1/4", "−¼": "-1/4"}
_ROOT = re.compile(r"√(\d+(?:\.\d+)?|[^\W\d_](?:\d+|_[A-Za-z0-9]+)?)")


def to_tex(text: str) -> str:
    """The TeX of a formula in plain notation."""
    text = unicodedata.normalize("NFC", text).replace("Õ", "O\u0303")
    # A star is raised whether or not that is said.
    text = text.replace("^*", "*")
    text = _SPELLED.sub(r"\\\1_{\2}", text)
    text = _TILDE.sub(r"\\tilde{\1}", text)
    text = _EXPONENT.sub(_scientific, text)
    text = _roots(text)
    text = _LETTERS.sub(_named, text)
    text = _SIGNED.sub(r"\1_{\2}^{\3}", text)
    text = _NUMBERED.sub(r"\1_{\2}", text)
    text = _NUMBERED_BEFORE_LETTERS.sub(r"\1_{\2}", text)
    text = _TEX_INDEX.sub(lambda m: f"_{{{_upright(m[1])}}}", text)
    text = _EXPONENT_IN_BRACKETS.sub(r"^{\1}", text)
    text = _RAISED_BRACKETS.sub(r"^{\1}", text)
    text = _TEX_POWER.sub(lambda m: f"^{{{_POWERS.get(m[1], m[1])}}}", text)
    text = _runs(text, _RAISED, "^")
    text = _runs(text, _LOWERED, "_")
    text = "".join(_SIGNS.get(sign, sign) for sign in text).strip()
    text = _PRIMED_POWER.sub(r"^{\1\\prime}", text)
    return _TWO_INDICES.sub(r"_{\1,\2}", _TWO_POWERS.sub(r"^{\1\2}", text))


def _scientific(match: re.Match[str]) -> str:
    power = f"10^{{{match[2].replace('−', '-')}}}"
    return power if match[1] == "1" else rf"{match[1]}\cdot {power}"


def _upright(index: str) -> str:
    """An index of several letters is a word and no product."""
    is_word = len(index) > 2 and index.isalpha()
    return rf"\mathrm{{{index}}}" if is_word else index


def _named(match: re.Match[str]) -> str:
    word = match[0]
    if _FUNCTIONS.fullmatch(word):
        return rf"\{word} "
    if _OPERATORS.fullmatch(word):
        return rf"\operatorname{{{word}}}"
    # Two letters are a product, such as L m.
    return word if len(word) == 2 else rf"\mathrm{{{word}}}"


def _roots(text: str) -> str:
    r"""Roots with what stands under them: `sqrt(m L)` and `√(m L)`, `√m`."""
    text = text.replace("sqrt(", "√(")
    while (start := text.find("√(")) >= 0:
        end = _closing(text, start + 1)
        if end < 0:
            break
        text = f"{text[:start]}\\sqrt{{{text[start + 2 : end]}}}{text[end + 1 :]}"
    return _ROOT.sub(r"\\sqrt{\1}", text)


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens here is closed; −1 where it is not."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    return -1


def _runs(text: str, signs: dict[str, str], mark: str) -> str:
    """Runs of raised or lowered signs as one power or index."""
    run = re.compile("[" + "".join(signs) + "]+")
    return run.sub(lambda m: f"{mark}{{{''.join(signs[sign] for sign in m[0])}}}", text)
