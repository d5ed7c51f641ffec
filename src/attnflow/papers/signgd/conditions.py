"""Condition 3.1, and the data and model that it is stated for, as numbers.

Its polylog(d) is read as log d, its poly(1/d) as 1/d, and its poly(n) as n⁴, which
s ≥ 1 in item 1 requires. The theorems are about SignGD only.
"""

import math

from attnflow.papers.signgd._types import Fields
from attnflow.papers.signgd.sizes import Sizes, sizes
from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    much_less,
    of_order,
)

CONDITION_3_1 = (
    *("(1) d", "(1) s", "(2)", "(3) m_k", "(3) m_v", "(3) σ_0", "(4)", "(5)"),
    *("constant η", "2.1", "L", "heads", "head"),
)
"""The items that every theorem and lemma of Sections 3 and 4 assumes."""
DISJOINT = ("C.1", "2.1")
"""What Lemmas C.1 and C.2 derive from item 1, and proofs use: disjoint supports."""
LOGARITHM = "polylog(d) read as log d"


def conditions(setting: Fields) -> list[Condition]:
    """The items of Condition 3.1 and of Definition 2.1 at the setting of a SignGD run.

    Those of Lemmas C.2 to C.8 for draws; none for other optimisers, deeper networks,
    noisy digits and other computations.
    """
    if "support_draws" in setting:
        return _of_draws(setting)
    if "supports" in setting and setting["rule"] == "signgd":
        size, embed = sizes(setting), setting["embed"]
        chance = 0.0 if setting["supports"] == "disjoint" else 1.0
        shape = (setting["length"], setting["heads"], setting["head"] == "learnable")
    elif "growth" in setting:
        size = sizes(setting)
        # Supports are disjoint for any d: take the one that item 1 requires.
        embed, chance = (size.support * size.samples**2) ** 2, 0.0
        shape = (2, setting["heads"], False)
    else:
        return []
    length, heads, is_trained = shape
    return [
        *condition_3_1(size, embed),
        *_data(size, embed, chance=chance),
        exactly("L", "two tokens", length, 2),
        exactly("heads", "one head", heads, 1),
        exactly("head", "trained linear layers", is_trained, 0),
    ]


def condition_3_1(sizes: Sizes, embed: float) -> list[Condition]:
    """The items of Condition 3.1 in dimension `embed`."""
    n, s, m_k, m_v = (
        *(sizes.samples, sizes.support),
        *(sizes.key_neurons, sizes.value_neurons),
    )
    start = 1 / (sizes.strength * math.sqrt(m_k))
    return [
        Condition(
            "(1) d", "d = Ω(poly(n))", embed, least=n**4, reading="poly(n) read as n⁴"
        ),
        of_order("(1) s", "s = Θ(d^½ n^−2)", s, math.sqrt(embed) / n**2),
        at_least("(2)", "σ_p = Ω(d^−¼ n³)", sizes.sigma_p, n**3 / embed**0.25),
        *(
            Condition(
                f"(3) {name}",
                f"{name} = Ω(polylog(d))",
                width,
                least=math.log(embed),
                reading=LOGARITHM,
            )
            for name, width in (("m_k", m_k), ("m_v", m_v))
        ),
        much_less("(3) σ_0", "σ_0 = o(σ_p^−1 s^−1 m_k^−½)", sizes.sigma_0, start),
        at_least("(4)", "n = Ω(m_k⁴)", n, m_k**4),
        Condition(
            "(5)",
            "η = O(poly(1/d))",
            sizes.learning_rate,
            most=1 / embed,
            reading="poly(1/d) read as 1/d",
        ),
        exactly("constant η", "growth of the learning rate", sizes.growth, 0.0),
    ]


def _data(sizes: Sizes, embed: float, *, chance: float) -> list[Condition]:
    """Overlap of supports, which item 1 is to prevent, and orthogonality to the signal.

    - `chance`: 1 where supports are drawn independently, 0 where they are disjoint.
    """
    n, s = sizes.samples, sizes.support
    coordinates = embed - 1 if sizes.orthogonal else embed
    shared = chance * n * (n - 1) / 2 * s**2 / coordinates
    covered = 0.0 if sizes.orthogonal else n * s / embed
    return [
        at_most("C.1", "coordinates that two ξ share, in the mean", shared, n**-2),
        exactly("2.1", "ξ that are not orthogonal to μ, in the mean", covered, 0.0),
    ]


def _of_draws(setting: Fields) -> list[Condition]:
    """The items of Lemmas C.2 and C.4 to C.8."""
    n, s, delta = setting["samples"], setting["support"], setting["delta"]
    m_k, m_v = setting["key_neurons"], setting["value_neurons"]
    embed = setting["embed"] or (s * n**2) ** 2
    noise, one = math.log(4 * n / delta), math.log(1 / delta)
    return [
        of_order("C.2 s", "s = Θ(d^½ n^−2)", s, math.sqrt(embed) / n**2),
        at_least("C.4 s", "s = Ω(log(4n/δ))", s, noise),
        at_least("C.5 s", "s = Ω(n² log(4n/δ))", s, n**2 * noise),
        at_least("C.6 s", "s = Ω(log(m_v n/δ))", s, math.log(m_v * n / delta)),
        at_least("C.6 m_v", "m_v = Ω(log(1/δ))", m_v, one),
        at_least("C.8 s", "s = Ω(log(m_k n/δ))", s, math.log(m_k * n / delta)),
        at_least("C.8 m_k", "m_k = Ω(log(1/δ))", m_k, one),
    ]
