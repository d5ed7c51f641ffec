r"""Names of tokens, heads and samples as mathematics: `-v2` becomes $-v_2$."""

import re

from attnflow.claims.stages import EVERY, parse_selector

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa"),
    *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi"),
    "omega",
)
# A name of one letter, or a Greek one, followed by a number; X1+- has signs as well.
_TOKEN = re.compile(
    r"(?<![\w$\\])(?P<sign>[+-]?)(?P<stem>[A-Za-z]|" + "|".join(GREEK) + r")"
    r"_?(?P<index>\d+)(?P<signs>[+-]*)(?!\w)"
)

# Heads are said in a panel's title, not at every curve.
_UNNAMED = frozenset({"+", "-", EVERY})


def typeset(text: str) -> str:
    r"""The text with every token name in it as mathematics.

    !!! example
        ```python
        typeset("c1")               # $c_{1}$
        typeset("-v2")              # $-v_{2}$
        typeset("mu1 and common")   # $\mu_{1}$ and common
        typeset("c1 v1 -v2")        # $c_{1}$, $v_{1}$, $-v_{2}$
        typeset("+")                # $+$
        ```
    """
    if "$" in text:
        return text
    if text.strip() in {"+", "-"}:
        return f"${text.strip()}$"
    words = text.split()
    if len(words) > 1 and all(_TOKEN.fullmatch(word) for word in words):
        # A sample: without commas, $c_1 -v_2$ would read as a difference.
        text = ", ".join(words)
    return _TOKEN.sub(_as_math, text)


def _as_math(match: re.Match[str]) -> str:
    stem = match["stem"]
    letter = f"\\{stem}" if stem in GREEK else stem
    signs = f"^{{{match['signs']}}}" if match["signs"] else ""
    return f"${match['sign']}{letter}_{{{match['index']}}}{signs}$"


def selector_label(selector: str) -> str:
    """What a curve is called where nobody says: its tokens, or else its name.

    !!! example
        ```python
        selector_label("score[+,c1,v1]")     # $c_{1}$, $v_{1}$
        selector_label("loss_conflicting")   # loss conflicting
        ```
    """
    parsed = parse_selector(selector)
    shown = [typeset(label) for label in parsed.labels if label not in _UNNAMED]
    return ", ".join(shown) or parsed.name.replace("_", " ")
