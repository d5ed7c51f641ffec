r"""TeX as MathML, and as runs of raised and lowered text for labels inside an SVG.

Browsers typeset MathML themselves, so a page needs neither a script nor fonts for its
formulas. Only the TeX that `attnflow.figures.formulas` and our declarations write is
read: letters, indices, powers, roots, fractions, accents and names of functions. An
unknown command is shown by its name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup, escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_LETTERS = dict(
    re.findall(
        r"(\w+) (\S)",
        """alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ
        iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ
        varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ
        Phi Φ Psi Ψ Omega Ω ell ℓ infty ∞ top ⊤ partial ∂ nabla ∇ prime ′""",
    )
)
_SIGNS = dict(
    re.findall(
        r"(\w+) (\S)",
        """cdot · times × pm ± mp ∓ ldots … dots … cdots ⋯ le ≤ leq ≤ ge ≥ geq ≥ ne ≠
        neq ≠ approx ≈ propto ∝ gg ≫ ll ≪ in ∈ to → sim ∼ sum ∑ prod ∏ int ∫ langle ⟨
        rangle ⟩ mid | vert | Vert ‖ lVert ‖ rVert ‖ equiv ≡ circ ∘ odot ⊙ otimes ⊗""",
    )
)
_CAPITALS = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ")
_FUNCTIONS = re.compile(
    "log|ln|exp|min|max|sup|inf|sin|cos|tan|sinh|cosh|tanh|lim|det|arg|Pr"
)
_FONTS = re.compile("math(?:rm|bf|sf|cal|bb|it)|text(?:rm)?|operatorname")
_ACCENTS = {"tilde": "˜", "hat": "^", "bar": "¯", "dot": "˙", "vec": "→"}
_SPACES = {",": "\u2009", ";": "\u2004", ":": "\u2005", " ": "\u2009", "quad": "\u2003"}
_IGNORED = frozenset(("left", "right", "bigl", "bigr", "big", "Big", "!", "limits"))
_OPERATORS = frozenset("+-−=<>/·×±∓≤≥≠≈∝≫≪∈→…⋯|‖()[],;:!*∼∑∏∫⟨⟩≡∘⊙⊗'%")
_DASH = {"-": "−", "'": "′", "*": "∗"}


@dataclass(frozen=True)
class Node:
    """A part of a formula: a leaf with text, or something made of parts."""

    kind: str
    text: str = ""
    parts: tuple["Node", ...] = ()


class _Reader:
    def __init__(self, tex: str):
        self.tokens = _TOKEN.findall(tex)
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def row(self, *, inside: bool = False) -> Node:
        """All that comes, up to a closing brace where one was opened."""
        nodes: list[Node] = []
        while (token := self.peek()) and not (inside and token == "}"):
            if token.isspace() or token == "}":
                self.take()
            elif token in "^_":
                base = nodes.pop() if nodes else Node("row")
                nodes.append(self._scripts(base))
            elif (node := self.atom()) is not None:
                nodes.append(node)
        if inside:
            self.take()
        return nodes[0] if len(nodes) == 1 else Node("row", parts=tuple(nodes))

    def _scripts(self, base: Node) -> Node:
        scripts: dict[str, Node] = {}
        while (token := self.peek()) and token in "^_" and token not in scripts:
            self.take()
            scripts[token] = self.argument()
        empty = Node("row")
        low, high = scripts.get("_", empty), scripts.get("^", empty)
        return Node("scripts", parts=(base, low, high))

    def argument(self) -> Node:
        while self.peek().isspace():
            self.take()
        return self.atom() or Node("row")

    def atom(self) -> Node | None:
        token = self.take()
        if token == "{":
            return self.row(inside=True)
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[:1].isdigit():
            return Node("number", token)
        if token in _OPERATORS:
            return Node("sign", _DASH.get(token, token))
        return Node("letter", token)

    def _command(self, name: str) -> Node | None:
        if name in _LETTERS:
            return Node("letter", _LETTERS[name])
        if name in _SIGNS:
            return Node("sign", _SIGNS[name])
        if _FONTS.fullmatch(name):
            return Node("name", self._braced())
        if name in ("frac", "tfrac", "dfrac"):
            return Node("fraction", parts=(self.argument(), self.argument()))
        if name == "sqrt":
            return Node("root", parts=(self.argument(),))
        if name in _ACCENTS:
            return Node("accent", _ACCENTS[name], (self.argument(),))
        if name in _SPACES:
            return Node("space", _SPACES[name])
        if name == "|":
            return Node("sign", "‖")
        if name in _IGNORED:
            return None
        return Node("function" if _FUNCTIONS.fullmatch(name) else "name", name)

    def _braced(self) -> str:
        """The letters between braces as they stand."""
        if self.peek() != "{":
            return self.take()
        self.take()
        letters = ""
        while (token := self.take()) and token != "}":
            letters += token
        return letters.replace("\\", "")


@cache
def parse(tex: str) -> Node:
    """The tree of a formula."""
    return _Reader(tex).row()


def mathml(tex: str) -> Markup:
    """A formula as a `<math>` element."""
    return Markup("<math>{}</math>").format(_element(parse(tex)))


def _element(node: Node) -> Markup:
    parts = [_element(part) for part in node.parts]
    text = escape(node.text)
    match node.kind:
        case "number":
            return Markup(f"<mn>{text}</mn>")
        case "sign":
            # By default browsers stretch brackets, which looks wrong without a math
            # font.
            close = ' lspace="0" rspace="0"' if node.text in "/|‖" else ""
            return Markup(f'<mo stretchy="false"{close}>{text}</mo>')
        case "letter":
            return Markup(f"<mi>{text}</mi>")
        case "function":
            return Markup(
                f'<mi mathvariant="normal">{text}</mi><mspace width=".17em"/>'
            )
        case "name":
            return Markup(f'<mi mathvariant="normal" class="name">{text}</mi>')
        case "space":
            return Markup('<mspace width=".17em"/>')
        case "fraction":
            return Markup(f"<mfrac>{_grouped(parts)}</mfrac>")
        case "root":
            return Markup(f"<msqrt>{parts[0]}</msqrt>")
        case "accent":
            return Markup(
                f'<mover accent="true">{_grouped(parts)}<mo>{text}</mo></mover>'
            )
        case "scripts":
            return _script_element(node, parts)
    return Markup(f"<mrow>{Markup('').join(parts)}</mrow>")


def _grouped(parts: Sequence[Markup]) -> Markup:
    return Markup("").join(Markup(f"<mrow>{part}</mrow>") for part in parts)


def _script_element(node: Node, parts: list[Markup]) -> Markup:
    empty = Node("row")
    _, low, high = node.parts
    if low == empty:
        return Markup(f"<msup>{_grouped((parts[0], parts[2]))}</msup>")
    if high == empty:
        return Markup(f"<msub>{_grouped(parts[:2])}</msub>")
    return Markup(f"<msubsup>{_grouped(parts)}</msubsup>")


Run = dict[str, Any]
"""`text`, whether it is `italic`, and its `level`: −1 lowered, 1 raised."""


def runs(tex: str) -> list[Run]:
    """A formula as runs of text on one line; fractions have a stroke."""
    flat = list(_runs(parse(tex), 0))
    merged: list[Run] = []
    for run in flat:
        if merged and all(merged[-1][k] == run[k] for k in ("italic", "level")):
            merged[-1]["text"] += run["text"]
        else:
            merged.append(dict(run))
    return merged


def _runs(node: Node, level: int) -> list[Run]:
    def run(text: str, *, italic: bool = False) -> list[Run]:
        return [{"text": text, "italic": italic, "level": level}]

    match node.kind:
        case "letter":
            is_upright = not node.text.isalpha() or node.text in _CAPITALS
            return run(node.text, italic=not is_upright)
        case "function":
            return run(f"{node.text}\u2009")
        case "scripts":
            base, low, high = node.parts
            lowered, raised = _runs(low, -1), _runs(high, 1)
            return _runs(base, level) + lowered + raised
        case "fraction":
            over, under = node.parts
            return _runs(over, level) + run("/") + _runs(under, level)
        case "root":
            bare = node.parts[0].kind in ("letter", "number")
            inner = _runs(node.parts[0], level)
            return run("√") + inner if bare else run("√(") + inner + run(")")
        case "accent":
            combining = {"˜": "\u0303", "^": "\u0302", "¯": "\u0304", "˙": "\u0307"}
            inner = _runs(node.parts[0], level)
            inner[-1]["text"] += combining.get(node.text, "")
            return inner
        case "row":
            return [run for part in node.parts for run in _runs(part, level)]
        case "sign" if node.text in "=<>≤≥≈∈→∝≫≪":
            return run(f"\u2009{node.text}\u2009" if level == 0 else node.text)
    return run(node.text)
