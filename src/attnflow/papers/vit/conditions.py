"""Condition 4.1, item by item."""

import math

from attnflow.papers.vit._types import Fields
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.schema.conditions import Condition, at_least, at_most, exactly


def condition_table(setting: Fields) -> list[Condition]:
    """Condition 4.1 at a run's setting; empty for maps, which hold many settings."""
    if "signal" not in setting and "strength" not in setting:
        return []
    return list(conditions(sizes(setting)).values())


def conditions(sizes: Sizes) -> dict[str, Condition]:
    """Items of Condition 4.1 that sizes decide; (3), (4) and (9) only name orders.

    With m = min(‖μ‖^−2, 1/(σ_p² d)) and L = log(6N²M²/δ), as the paper prints them.
    """
    scarce = (sizes.samples / sizes.target) ** 2
    fourth = max(sizes.snr, 1 / sizes.snr) ** 4
    small = sizes.least / math.sqrt(sizes.key_width)
    values = math.sqrt(sizes.least / sizes.gain) * sizes.key_width**-0.25
    large = sizes.logarithm
    items = (
        at_least(
            "(1)",
            "d_h ≥ max(SNR⁴, SNR^−4) N²/ε²",
            sizes.key_width,
            fourth * scarce,
        ),
        at_least("(2)", "d ≥ N² d_h/ε²", sizes.embed, scarce * sizes.key_width),
        exactly("(5)", "‖w_O‖ = 1", math.sqrt(sizes.gain), 1.0),
        at_most("(6)", "η ≤ m d_h^−½", sizes.learning_rate, small),
        at_most("(7)", "σ_V ≤ m^½ d_h^−¼/‖w_O‖", sizes.sigma_v, values),
        Condition(
            "(8)",
            "m d_h^−½ L^−2 ≤ σ_h² ≤ m d_h^−½ L^−3/2",
            sizes.sigma_h**2,
            small / large**2,
            small / large**1.5,
        ),
        exactly("(10)", "C_p = 5√M", sizes.ratio, 5 * math.sqrt(sizes.length)),
    )
    return {item.name: item for item in items}
