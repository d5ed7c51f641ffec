r"""Templates, and texts with their mathematics as HTML and TeX.

`σ0² m / L` becomes `\sigma_{0}^{2} m / L`: letters, indices, powers and roots as one
types them. What the notation has no sign for is passed on unchanged, so that TeX itself
may be mixed in.
"""

import functools
import re
import unicodedata
from itertools import pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from attnflow.figures.axes import GREEK
from attnflow.site.pages.files import style
from attnflow.site.pages.formulas import Piece, pieces
from attnflow.site.pages.values import Table, number_text, seconds_text, sort_key

# One letter with an index, or a power: w_c, A_K, e^{-4a}, (1 + x)^½.
_INDEX = re.compile(r"(?<![^\W_])([^\W\d_])_(\{[^{}]*\}|[A-Za-z0-9α-ω]+)")
_STOP = re.compile(r"[.,;:)]+")
_POWER = re.compile(r"\^(\{[^{}]*\}|\([^()]*\)|[−-]?[A-Za-z0-9α-ωΑ-Ω½¼]+|[+−-])")


@functools.cache
def environment() -> Environment:
    """The templates of the package; whatever they show is escaped."""
    templates = Environment(
        loader=PackageLoader("attnflow.site.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "number": number_text,
        "seconds": seconds_text,
        "anchor": anchor,
        "mathematics": mathematics,
        "sortable": sort_key,
    }
    return templates


def render(template: str, **values: object) -> str:
    """A template with values filled in, as HTML."""
    return environment().get_template(template).render(values)


def table_page(title: str, caption: str, table: Table) -> str:
    """A table on a page of its own."""
    sheet = Markup(style())
    return render("table.html", title=title, caption=caption, table=table, style=sheet)


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


def anchor(*parts: str) -> str:
    """An id within the page, such as `claim-B-Thm4.1-T2`."""
    return re.sub(r"[^\w.\-]+", "-", "-".join(parts)).strip("-")


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
_WORD = re.compile(r"(?<![A-Za-z_\\])[A-Za-z]{2,}(?![A-Za-z])")
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
    text = _WORD.sub(_named, text)
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
