"""Types of fields of settings, with the range of their values.

A setting declares each field once, and the command line, Python and sweeps check values
against that declaration.

    @dataclass(frozen=True)
    class Setting:
        width: Number | Literal["infinite"] = 128    # an integer from 1
        learning_rate: Positive = 0.1                # a number above 0
        steps: Duration = 2000.0                     # a number from 0

A field that is declared as a plain `int` or `float` takes every integer of 64 bits, or
every finite number.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, TypeVar

# Apart from the rules themselves, which import JAX: settings are read without it.
RuleName = Literal[
    "flow",
    "gd",
    "momentum",
    "nesterov",
    "normalised-gd",
    "muon",
    "adam",
    "adamw",
    "lion",
    "signgd",
]
ScheduleName = Literal["constant", "linear", "cosine", "inverse-root", "step"]
WEIGHTS = {
    "keys": ("scores", "W_K"),
    "queries": ("scores", "W_Q"),
    "W_V": ("values", "W_V"),
    "w_O": ("values", "w_O"),
    "W": ("values", "W"),
    "w": ("values", "w"),
}
"""Weights that can be trained apart: the part that has each, and its name there."""
PARTS = ("scores", "values", *WEIGHTS)
"""All that can be trained; `scores` or `values` beside a weight of theirs is the rest.
"""

T = TypeVar("T")

TRACED = "an argument of the compiled program"
LARGEST = 2**63 - 1
"""Integers of 64 bits: what arrays and compiled programs hold."""
LONGEST = 2**31 - 1
"""The longest axis of an array: more is a slip of the keyboard, not an experiment."""
HUGE = 1e100
"""The largest scale: its square is finite, as norms and variances ask."""


@dataclass(frozen=True)
class Range:
    """The values that a field may take, ends included.

    **Arguments:**

    - `low`, `high`: the least and the largest value.
    - `above`, `below`: whether the least, or the largest, is itself left out.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False


@dataclass(frozen=True)
class Unit:
    """What a field counts or measures in; most are pure numbers, and have none."""

    name: str


@dataclass(frozen=True)
class Length:
    """The least number of entries of a list."""

    least: int = 1


@dataclass(frozen=True)
class Joined:
    """Names out of some that are known, each once, joined by `+`; or one `word`."""

    known: tuple[str, ...]
    word: str

    def admits(self, text: str) -> bool:
        """Whether a text is made of such names."""
        names = text.split("+")
        fits = set(names) <= set(self.known) and len(set(names)) == len(names)
        return fits or text == self.word


Trains: TypeAlias = Annotated[str, Joined(PARTS, "both")]
"""The parts that are trained: `values` leaves attention at its initial scores."""
Several: TypeAlias = Annotated[tuple[T, ...], Length()]
"""A list of such values, with at least one of them."""
Number: TypeAlias = Annotated[int, TRACED, Range(1, LARGEST)]
"""A whole number that is no shape: another value compiles nothing."""
Vast: TypeAlias = Annotated[int, TRACED, Range(1, HUGE)]
"""Like `Number`, where it enters formulas alone: 10^60 is as good as 10."""
Size: TypeAlias = Annotated[int, Range(1, LONGEST)]
"""A shape: the length of an axis, of at least 1."""
Count: TypeAlias = Annotated[int, Range(0, LONGEST)]
"""A shape: how many there are, maybe none."""
Whole: TypeAlias = Annotated[int, Range(0, LARGEST)]
Positive: TypeAlias = Annotated[float, Range(0, HUGE, above=True)]
"""A scale, a rate or a ratio."""
NonNegative: TypeAlias = Annotated[float, Range(0, HUGE)]
"""A scale, a rate or a ratio that may be zero."""
Real: TypeAlias = Annotated[float, Range(-HUGE, HUGE)]
Duration: TypeAlias = Annotated[float, Range(0, HUGE), Unit("steps, or a flow's time")]
"""How long is trained: steps of a descent, or time of a flow."""
Fraction: TypeAlias = Annotated[float, Range(0, 1)]
Probability: TypeAlias = Annotated[float, Range(0, 1, above=True)]
Decay: TypeAlias = Annotated[float, Range(0, 1, below=True)]
"""Of a memory: the share that one step keeps, below 1."""
Relative: TypeAlias = Annotated[float, Range(1e-15, 0.1)]
"""A relative tolerance, which float64 can meet."""
Absolute: TypeAlias = Annotated[float, Range(0, 1)]
"""An absolute tolerance."""


@dataclass(frozen=True)
class Optimised:
    """How a setting is trained: fields that every experiment takes.

    - `rule`: one of `attnflow.training.rules.RULES`, with its `learning_rate` and the
      options that it has: `momentum`, `beta1`, `beta2`, `epsilon`. A field that is
      `None` has the rule's own default.
    - `weight_decay`: of every rule; `clip`: gradients longer than this are shortened.
    - `schedule` of the learning rate over all steps, after a `warmup` of some steps.
    - `score_rate`, `value_rate`, `key_rate`, `query_rate`: learning rates of parts,
      where they have their own; a part of rate 0 is not trained.
    - `rules`: rules of parts, such as `values:adamw,keys:gd`.
    """

    rule: RuleName = "gd"
    learning_rate: NonNegative | None = None
    momentum: Decay | None = None
    beta1: Decay | None = None
    beta2: Decay | None = None
    epsilon: NonNegative | None = None
    weight_decay: NonNegative | None = None
    clip: Positive | None = None
    schedule: ScheduleName = "constant"
    warmup: Positive | None = None
    score_rate: NonNegative | None = None
    value_rate: NonNegative | None = None
    key_rate: NonNegative | None = None
    query_rate: NonNegative | None = None
    rules: tuple[str, ...] = ()


TRAINING = (
    *("rule", "weight_decay", "clip", "schedule", "warmup"),
    *("key_rate", "query_rate", "rules"),
)
"""Fields of `Optimised` that make another training of it than a paper's own."""
