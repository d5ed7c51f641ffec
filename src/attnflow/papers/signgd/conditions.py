"""Condition 3.1, and the data and model that it is stated for, as numbers.

Its polylog(d) is read as log d, and its poly(1/d) as 1/d. The power of n in
d = Ω(poly(n)) cannot be checked at a single size; s ≥ 1 in item 1 requires at least n⁴.
That the linear layer is fixed is not checked. The theorems are about SignGD only.
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


def conditions(setting: Fields) -> list[Condition]:
    """The items of Condition 3.1 and of Definition 2.1 at the setting of a SignGD run.

    None for other optimisers, deeper networks, noisy digits and computations.
    """
    if "supports" in setting and setting["rule"] == "signgd":
        size = sizes(setting)
        chance = 0.0 if setting["supports"] == "disjoint" else 1.0
        return [
            *condition_3_1(size, setting["embed"]),
            *_data(size, setting["embed"], chance=chance),
            exactly("L", "two tokens", setting["length"], 2),
            exactly("heads", "one head", setting["heads"], 1),
        ]
    if "growth" in setting:
        size = sizes(setting)
        # Supports are disjoint for any d: take the one that item 1 requires.
        return condition_3_1(size, (size.support * size.samples**2) ** 2)
    return []


def condition_3_1(sizes: Sizes, embed: float) -> list[Condition]:
    """The items of Condition 3.1 in dimension `embed`."""
    n, s, m_k = sizes.samples, sizes.support, sizes.key_neurons
    narrow = math.log(embed)
    start = 1 / (sizes.strength * math.sqrt(m_k))
    return [
        of_order("(1)", "s = Θ(d^½ n^−2)", s, math.sqrt(embed) / n**2),
        at_least("(2)", "σ_p = Ω(d^−¼ n³)", sizes.sigma_p, n**3 / embed**0.25),
        at_least("(3) m_k", "m_k = Ω(log d)", m_k, narrow),
        at_least("(3) m_v", "m_v = Ω(log d)", sizes.value_neurons, narrow),
        much_less("(3) σ_0", "σ_0 = o(σ_p^−1 s^−1 m_k^−½)", sizes.sigma_0, start),
        at_least("(4)", "n = Ω(m_k⁴)", n, m_k**4),
        at_most("(5)", "η = O(1/d)", sizes.learning_rate, 1 / embed),
    ]


def _data(sizes: Sizes, embed: int, *, chance: float) -> list[Condition]:
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
