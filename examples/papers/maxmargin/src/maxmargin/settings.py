"""A trained prompt over tokens with fixed keys and fixed values."""

from dataclasses import dataclass

from attnflow import Recipe


@dataclass(frozen=True)
class Prompt:
    """Tokens around three places of a plane; the first has the larger value.

    - `rule`: `gd`, or `normalised-gd` by `epsilon`, which is added to the length.
    - `start`: standard deviation of the initial prompt's coordinates.
    - `loss`: `logistic`, or `unhinged` for l(x) = −x.
    """

    samples: int = 3
    length: int = 7
    noise: float = 0.2
    start: float = 1.0
    rule: str = "normalised-gd"
    learning_rate: float = 0.1
    epsilon: float = 0.0
    loss: str = "logistic"
    steps: int = 1000
    records: int = 101


NAME = "maxmargin.experiments:train"
RECIPES = (
    Recipe("normalised", "Normalised gradient descent", Prompt(), NAME),
    Recipe("descent", "Gradient descent", Prompt(rule="gd", learning_rate=1.0), NAME),
)
