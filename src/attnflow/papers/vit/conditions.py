"""Condition 4.1 and what both theorems assume beside it, item by item."""

import math

from attnflow.papers.vit._types import Fields
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.schema.conditions import Condition, at_least, at_most, exactly, of_order

POLYLOG = "polylog(d) read as ln d"


def condition_table(setting: Fields) -> list[Condition]:
    """All items at a run's setting; none for maps and digits, which have no theorem."""
    if "signal" not in setting and "strength" not in setting:
        return []
    size = sizes(setting)
    return [*condition(size).values(), *_setup(setting, size)]


def condition(size: Sizes) -> dict[str, Condition]:
    """Condition 4.1, with m = min(‖μ‖^−2, 1/(σ_p²d)) and L = log(6N²M²/δ)."""
    scarce = (size.samples / size.target) ** 2
    fourth = max(size.snr, 1 / size.snr) ** 4
    small = size.least / math.sqrt(size.key_width)
    values = math.sqrt(size.least / size.gain) * size.key_width**-0.25
    large, log_d = size.logarithm, math.log(size.embed)
    items = (
        at_least(
            "(1)", "d_h ≥ max(SNR⁴, SNR^−4) N²/ε²", size.key_width, fourth * scarce
        ),
        at_least("(2)", "d ≥ N² d_h/ε²", size.embed, scarce * size.key_width),
        Condition("(3)", "N ≥ polylog(d)", size.samples, least=log_d, reading=POLYLOG),
        of_order("(4)", "M = Θ(1)", size.length, 1.0),
        of_order("(5)", "‖w_O‖ = Θ(1)", math.sqrt(size.gain), 1.0),
        at_most("(6)", "η ≤ m d_h^−½", 0.0 if size.flow else size.learning_rate, small),
        at_most("(7)", "σ_V ≤ m^½ d_h^−¼/‖w_O‖", size.sigma_v, values),
        Condition(
            "(8)",
            "m d_h^−½ L^−2 ≤ σ_h² ≤ m d_h^−½ L^−3/2",
            size.sigma_h**2,
            small / large**2,
            small / large**1.5,
        ),
        Condition(
            "(9)", "ε ≤ 1/polylog(d)", size.target, most=1 / log_d, reading=POLYLOG
        ),
        exactly("(10)", "C_p = 5√M", size.ratio, 5 * math.sqrt(size.length)),
    )
    return {item.name: item for item in items}


def _setup(setting: Fields, size: Sizes) -> list[Condition]:
    """Section 3's data, weights and training, and the regimes of the two theorems."""
    # The theory's sizes are drawn with projected noise and normal weights alone.
    projected = setting.get("projected", True)
    is_normal = setting.get("law", "normal") == "normal"
    return [
        exactly("data", "noise orthogonal to the signals", float(projected), 1.0),
        exactly("initial", "normal initial weights", float(is_normal), 1.0),
        exactly("w_O", "w_O is not trained", float(size.trained), 0.0),
        at_least(
            "classes", "N ≥ 8 log(4/δ)", size.samples, 8 * math.log(4 / size.delta)
        ),
        at_least(
            "noise",
            "d ≥ log(4NM/δ)",
            size.embed,
            math.log(4 * size.samples * size.length / size.delta),
        ),
        at_least("benign", "N · SNR² = Ω(1)", size.strength, 1.0),
        at_least("harmful", "N^−1 · SNR^−2 = Ω(1)", 1 / size.strength, 1.0),
    ]
