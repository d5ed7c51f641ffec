"""Readings of the initialisation, which the paper's experiment leaves open.

Each says the standard deviations of the entries of `W_K`, `W_Q`, `W_V` (fan-in d), of
`W` (fan-in m), and how the frozen output vector a is made.
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
    """Standard deviations of the entries, and their laws."""

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
    """The scales of a reading.

    - `fig1`: PyTorch's default for linear layers, uniform on ±1/sqrt(fan-in), for all
      four matrices and for a: the reading that matches Figure 1.
    - `default-…`: the same for the matrices, a of signs.
    - `kaiming…`: normal with gain sqrt(2) and fan-in, a likewise or of signs.
    - `…-signs`: a is ±1; `…-root`: ±1/sqrt(m1); `…-mean`: ±1/m1.
    - `theory`: normal, `c0 / sqrt(L m)` for the first three and `c1 / sqrt(m1)` for
      `W`, a of signs ±1: Condition 1 with its logarithms as the constants c0 and c1.
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
