"""The settings of `scansnap` and its named experiments.

Three dynamical systems are kept apart, and every run says which one it is of: J, the
true gradient of both tables; Q, attention under a decoder that follows its closed form;
C, the scalar model of Section 6.
"""

from dataclasses import dataclass
from typing import Any, Literal

from attnflow.papers.scansnap.checks import (
    check_course,
    check_grid,
    check_rates,
    check_sequences,
    check_sizes,
)
from attnflow.papers.scansnap.computations import COMPUTATIONS
from attnflow.papers.scansnap.deep_settings import RECIPES as DEEP_RECIPES
from attnflow.schema.declarations import Recipe

FormName = Literal[
    "auto", "joint", "active", "merged-outputs", "token-classes", "symmetric"
]
Residual = Literal["none", "normalised", "plain"]
STEPS = (
    *("loss", "batch_loss", "mean_distinct_entropy", "distinct_entropy"),
    *("common_mass", "top_share", "attention_per_class", "score"),
    *("error_norm", "margin"),
)
COURSE = (
    *("loss", "mean_distinct_entropy", "common_mass", "top_share", "score"),
    *("score_velocity", "error_norm", "margin", "attention_per_class"),
    *("attention_unit", "score_sum"),
)
SCALAR = ("common_score", "drive_integral", "attention_speed", "score_velocity")


@dataclass(frozen=True)
class Steps:
    """J by steps of descent, on fresh batches or on long sequences.

    - `queries` with `classes_per_query` next tokens each; `common` tokens of weight 1,
      `common_per_query` of weight 1 too, and `distinct` ones per class with weights
      evenly from 0.1 to 1.
    - `score_rate` η_Z and `value_rate` η_Y, or in its place their `ratio` η_Y/η_Z;
      `optimiser`, and `momentum` of heavy ball.
    - `length` T, none for long sequences; `batch` samples; `steps`.
    - `start`: `zero`, or `uniform` on ±1/√M as PyTorch's layers; `score_start`,
      `value_start` set the half-widths one by one.
    - `stream`: our `own` random numbers, or the `published` runs' (needs PyTorch).
    - `normalised`, `residual`: `none`, `normalised` LN(LN(c) + e), as in the text, or
      `plain` LN(c + e), as in the authors' code.
    - `embed`: d of plain weights U, W_Q, W_K, W_V; none for free tables.
    - Recorded at every `every`-th step and at the last.
    """

    queries: int = 2
    classes_per_query: int = 1
    common: int = 10
    common_per_query: int = 0
    distinct: int = 10
    score_rate: float = 1.0
    value_rate: float = 1.0
    ratio: float | None = None
    optimiser: Literal["momentum", "descent", "adam"] = "momentum"
    momentum: float = 0.9
    length: int | None = 128
    batch: int = 128
    steps: int = 100
    start: Literal["zero", "uniform"] = "zero"
    score_start: float | None = None
    value_start: float | None = None
    stream: Literal["own", "published"] = "own"
    normalised: bool = True
    residual: Residual = "none"
    embed: int | None = None
    form: FormName = "auto"
    every: int = 1
    record: tuple[str, ...] = STEPS

    def __post_init__(self) -> None:
        if self.ratio is not None:
            # The one number that all else reads.
            object.__setattr__(self, "value_rate", self.ratio * self.score_rate)
        check_sizes(self)
        check_rates(self)
        check_sequences(self)


@dataclass(frozen=True)
class Course:
    """What all flows of J and Q have.

    - `system`: `J` or `Q`; `per_class` gives Q's scores the 1/K that time in samples
      asks for, and without it Equation 10 is as printed.
    - `score_rate` η_Z, `value_rate` η_Y; `until` the time, in samples.
    - `normalised`, `residual`, `form`: as in `Steps`.
    - Recorded at `records` times, evenly by their logarithm; `rtol` per step.
    """

    system: Literal["J", "Q"] = "J"
    per_class: bool = True
    score_rate: float = 1.0
    value_rate: float = 1.0
    normalised: bool = True
    residual: Residual = "none"
    form: FormName = "auto"
    until: float = 1e5
    records: int = 141
    rtol: float = 1e-10
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        check_sizes(self)
        check_rates(self)
        check_course(self)


@dataclass(frozen=True)
class Flows(Course):
    """J or Q by gradient flow, on long sequences of alike classes.

    - `classes` K, `vocabulary` M; one query for all, or `own_queries`.
    - `common`: how many common tokens of weight 1; `distinct` weights of a class's own.
    """

    classes: int = 10
    vocabulary: int = 1000
    own_queries: bool = False
    common: int = 1
    distinct: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Given(Course):
    """J or Q by gradient flow, on long sequences of any classes.

    `probability` has, class after class, the probabilities of the contextual tokens
    (as many for each class); `query` the number of each class's query, one for all
    where left out.
    """

    classes: int = 2
    probability: tuple[float, ...] = (0.5, 0.5, 0.0, 0.1, 0.0, 0.9)
    query: tuple[int, ...] = ()
    vocabulary: int = 100


@dataclass(frozen=True)
class Scalar:
    """C, Section 6's scalar model.

    `distinct` and `common` are as in `Flows` and give ρ₀; C₀ is ρ₀⁴/K as `printed`, or
    ρ₀⁴/(K − 1); `scale` sets C₀ itself.
    """

    classes: int = 10
    vocabulary: int = 1000
    common: int = 1
    distinct: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    scale: float | None = None
    printed: bool = True
    score_rate: float = 1.0
    value_rate: float = 1.0
    until: float = 1e5
    records: int = 201
    rtol: float = 1e-11
    record: tuple[str, ...] = SCALAR

    def __post_init__(self) -> None:
        check_sizes(self)
        check_rates(self)
        check_course(self)


@dataclass(frozen=True)
class EntropyGrid:
    """Figures 6, 11 and 12: what attention is like after training, by learning rates.

    For each number of `queries` with two next tokens each, each `score_rates` η_Z and
    each of `ratios` η_Y/η_Z. `thresholds` of recall are in units of 1/M. The others
    are as in `Steps`.
    """

    queries: tuple[int, ...] = (1, 3, 5, 10)
    score_rates: tuple[float, ...] = (0.5, 1.0, 2.0, 3.0)
    ratios: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0)
    thresholds: tuple[float, ...] = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
    momentum: float = 0.9
    length: int | None = 128
    batch: int = 128
    steps: int = 100
    start: Literal["zero", "uniform"] = "uniform"
    stream: Literal["own", "published"] = "own"

    def __post_init__(self) -> None:
        check_grid(self)
        check_sequences(self)


@dataclass(frozen=True)
class Decomposition:
    """What of Figure 6 is momentum, what finite length and what the initial tables.

    For each of `score_rates` at one `ratio`: heavy ball for `steps` steps, and the same
    flow time by plain descent, `steps/(1 − momentum)` steps; long sequences and
    batches of `length`; zero and uniform initial tables.
    """

    queries: int = 1
    score_rates: tuple[float, ...] = (0.5, 1.0, 2.0, 3.0)
    ratio: float = 1.0
    momentum: float = 0.9
    length: int = 128
    batch: int = 128
    steps: int = 100

    def __post_init__(self) -> None:
        check_grid(self)
        check_sequences(self)


@dataclass(frozen=True)
class Heights:
    """Figure 8: h* step by step and h, for several η_Y and vocabularies M."""

    vocabularies: tuple[int, ...] = (30, 1000)
    value_rates: tuple[float, ...] = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
    steps: int = 20000

    def __post_init__(self) -> None:
        check_grid(self)


_HERE = "attnflow.papers.scansnap.experiments"


def _steps(id: str, title: str, **fields: Any) -> Recipe:
    return Recipe(id, title, Steps(**fields), f"{_HERE}:steps")


def _flows(id: str, title: str, **fields: Any) -> Recipe:
    return Recipe(id, title, Flows(**fields), f"{_HERE}:flows")


RECIPES = (
    _flows(
        "figure3",
        "J: growth of the dominant token in Figure 3's setting",
        score_rate=0.5,
    ),
    _flows(
        "figure3-q",
        "Q: the same under the quasi-static decoder",
        system="Q",
        score_rate=0.5,
    ),
    Recipe(
        "figure3-c",
        "C: the same by the scalar model",
        Scalar(score_rate=0.5),
        f"{_HERE}:scalar",
    ),
    _steps("figure4-left", "J: Syn-Small by momentum, η_Y = η_Z = 1"),
    _steps("figure4-right", "J: Syn-Small by momentum, η_Y = 10", value_rate=10.0),
    _steps("figure5", "J: Syn-Small by Adam", optimiser="adam"),
    _steps(
        "syn-medium",
        "J: one cell of Figure 6",
        queries=3,
        classes_per_query=2,
        start="uniform",
    ),
    Recipe(
        "figure6",
        "J: Figure 6's whole grid, and the recall of Figures 11 and 12",
        EntropyGrid(),
        f"{_HERE}:entropy_grid",
    ),
    Recipe(
        "decomposition",
        "J: momentum, finite length and initial tables, one by one",
        Decomposition(),
        f"{_HERE}:decomposition",
    ),
    Recipe("figure8", "h* and h of the decoder alone", Heights(), f"{_HERE}:heights"),
    Recipe("figure9", "C: B(t) at fixed η_Y/η_Z", Scalar(), f"{_HERE}:scalar"),
    _flows(
        "syn-small-flow",
        "J: the gradient flow of Syn-Small's geometry with one query",
        classes=2,
        vocabulary=33,
        common=10,
    ),
    Recipe(
        "classes", "J or Q: any classes by gradient flow", Given(), f"{_HERE}:given"
    ),
    *DEEP_RECIPES,
    *COMPUTATIONS,
)
