"""Readings of "Kaiming initialization", which the paper does not specify.

Each gives the standard deviations of the entries of `W_K`, `W_Q`, `W_V` (fan-in d) and
of `W` (fan-in m), and the distribution of the frozen output vector a.
"""

import math
from dataclasses import dataclass
from typing import Literal

Reading = Literal[
    "fig1",
    "default-signs-root",
    "default-signs",
    "kaiming",
    "kaiming-signs-root",
    "kaiming-signs",
    "kaiming-signs-mean",
    "theory",
]


@dataclass(frozen=True)
class Scales:
    """Standard deviations of initial weights, and their distribution.

    - `first`: of W_K, W_Q and W_V; `inner`: of W; `output`: of a.
    - `output_kind`: whether a holds signs, or entries distributed by `law`.
    """

    first: float
    inner: float
    output: float
    output_kind: Literal["signs", "law"]
    law: Literal["normal", "uniform"]


def scales(
    reading: Reading,
    *,
    embed: int,
    length: int,
    width: int,
    neurons: int,
    c0: float,
    c1: float,
) -> Scales:
    """Standard deviations and distribution of a reading.

    - `fig1`: PyTorch's default for linear layers, uniform on ±1/sqrt(fan-in), for all
      four matrices and for a: the reading that matches Figure 1.
    - `default-…`: the same for the matrices, signs for a.
    - `kaiming…`: normal with gain sqrt(2) and fan-in; the same or signs for a.
    - `…-signs`: a is ±1; `…-root`: ±1/sqrt(m1); `…-mean`: ±1/m1.
    - `theory`: normal, `c0 / sqrt(L m)` for the first three and `c1 / sqrt(m1)` for
      `W`, a of signs ±1: Condition 1, its logarithms replaced by constants c0, c1.
    """
    kind, _, output = reading.partition("-")
    if kind == "theory":
        first, inner = c0 / math.sqrt(length * width), c1 / math.sqrt(neurons)
        return Scales(first, inner, 1.0, "signs", "normal")
    law = "normal" if kind == "kaiming" else "uniform"
    # The variance of a uniform entry is a third of its bound squared.
    gain = math.sqrt(2) if kind == "kaiming" else 1 / math.sqrt(3)
    first, inner = gain / math.sqrt(embed), gain / math.sqrt(width)
    if not output:
        return Scales(first, inner, gain / math.sqrt(neurons), "law", law)
    sizes = {"signs": 1.0, "signs-root": neurons**-0.5, "signs-mean": 1 / neurons}
    return Scales(first, inner, sizes[output], "signs", law)
