"""Condition 4.1, item by item, with its hidden constants and logarithms read as 1."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from attnflow.paper import Condition
from attnflow.papers.vit.sizes import Sizes, sizes

# Products such as 5√M are rounded: a bound met with equality is met.
ROUNDING = 1e-12


class Item(NamedTuple):
    """One item: a number that is to lie between two bounds."""

    value: float
    least: float
    most: float

    @property
    def met(self) -> bool:
        """Whether it does."""
        low, high = self.least * (1 - ROUNDING), self.most * (1 + ROUNDING)
        return low <= self.value <= high


def condition_table(setting: Mapping[str, Any]) -> list[Condition]:
    """Condition 4.1 at the setting of a run; empty for maps, which have many."""
    if "signal" not in setting and "strength" not in setting:
        return []
    found = conditions(sizes(setting))
    return [Condition(name, *item, item.met) for name, item in found.items()]


def conditions(sizes: Sizes) -> dict[str, Item]:
    """Those items of Condition 4.1 that sizes decide; (3), (4) and (9) only name rates.

    - `(1)` d_h ≥ max(SNR⁴, SNR^−4) N² ε^−2; `(2)` d ≥ ε^−2 N² d_h.
    - `(5)` ‖w_O‖ = 1; `(6)` η ≤ m d_h^−½, with m = min(‖μ‖^−2, 1/(σ_p² d)).
    - `(7)` σ_V ≤ m^½ d_h^−¼ / ‖w_O‖; `(8)` σ_h² between m d_h^−½ L^−2 and
      m d_h^−½ L^−3/2, with L = log(6N²M²/δ); `(10)` C_p = 5√M.
    """
    scarce = (sizes.samples / sizes.target) ** 2
    fourth = max(sizes.snr, 1 / sizes.snr) ** 4
    small = sizes.least / math.sqrt(sizes.key_width)
    ratio = 5 * math.sqrt(sizes.length)
    large = sizes.logarithm
    return {
        "(1)": Item(sizes.key_width, fourth * scarce, math.inf),
        "(2)": Item(sizes.embed, scarce * sizes.key_width, math.inf),
        "(5)": Item(math.sqrt(sizes.gain), 1.0, 1.0),
        "(6)": Item(sizes.learning_rate, 0.0, small),
        "(7)": Item(
            sizes.sigma_v,
            0.0,
            math.sqrt(sizes.least / sizes.gain) * sizes.key_width**-0.25,
        ),
        "(8)": Item(sizes.sigma_h**2, small / large**2, small / large**1.5),
        "(10)": Item(sizes.ratio, ratio, ratio),
    }
