"""Tokens with a signal, labels with noise, and a trained prompt."""

from dataclasses import dataclass

from attnflow import Recipe


@dataclass(frozen=True)
class Selection:
    """Training of a key–query matrix W and a prompt p; values are fixed.

    - `samples`, `length`, `embed`: n sequences of T tokens in R^d.
    - `signal`: the norm of the relevant token's signal; `rho`: its share in the weak
      tokens; `noise_ratio`: the share of training labels that are wrong.
    - `data_seed`: fixed data, in which training and test share their noise, as in the
      authors' program; without it both are drawn afresh for every seed.
    """

    samples: int = 20
    length: int = 8
    embed: int = 2000
    signal: float = 20.0
    rho: float = 0.1
    noise_ratio: float = 0.2
    test_samples: int = 1000
    data_seed: int | None = None
    learning_rate: float = 0.005
    steps: int = 4000
    records: int = 101


SMALL = Selection(embed=400, test_samples=200, learning_rate=0.02)
RECIPES = (
    Recipe(
        "authors",
        "The sizes of the authors",
        Selection(),
        "selection.experiments:train",
    ),
    Recipe(
        "small", "d = 400, as in the reference", SMALL, "selection.experiments:train"
    ),
)
