"""In-context regression by linear attention, on prompts or on their population."""

from dataclasses import dataclass

from attnflow import Recipe


@dataclass(frozen=True)
class Linear:
    """H heads of linear attention; covariance diag(1, …, D) divided by its trace.

    - `dimension`, `length`: D, N examples; `rank` of a head, 0: one merged matrix.
    - `prompts`: how many are drawn; 0 for the population, by its exact moments.
    - `init`: of entries of merged weights, of the length of separate ones.
    """

    dimension: int = 4
    length: int = 15
    heads: int = 8
    rank: int = 0
    prompts: int = 0
    init: float = 1e-4
    learning_rate: float = 0.005
    steps: int = 2000
    records: int = 401


POPULATION, PROMPTS = "linear_icl.population:train", "linear_icl.experiments:train"
APART = Linear(rank=1, heads=5, init=0.01, learning_rate=0.03, steps=20_000)
RECIPES = (
    Recipe("merged", "One matrix, population", Linear(), POPULATION),
    Recipe("separate", "Keys and queries, population", APART, POPULATION),
    Recipe("prompts", "Drawn prompts", Linear(prompts=1000), PROMPTS),
)
