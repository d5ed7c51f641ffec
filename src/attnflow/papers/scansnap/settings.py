"""Settings and recipes of `scansnap`.

There are three dynamical systems, and every run names its own: J, the true gradient of
both tables; Q, attention under a decoder that follows its closed form; C, the scalar
model of Section 6.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

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
from attnflow.schema.fields import (
    Count,
    Decay,
    Duration,
    Fraction,
    NonNegative,
    Number,
    Optimised,
    Positive,
    Real,
    Relative,
    RuleName,
    Several,
    Size,
)

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
class Steps(Optimised):
    """Setting of J by steps of descent, on fresh batches or on long sequences.

    - `queries` with `classes_per_query` next tokens each; `common` tokens of weight 1,
      `common_per_query` of weight 1 too, and `distinct` ones per class with weights
      evenly from 0.1 to 1.
    - `score_rate` η_Z and `value_rate` η_Y, or `ratio` η_Y/η_Z instead of the latter;
      `rule` and its options, as `Optimised` has them.
    - `length` T, none for long sequences; `batch` samples; `steps`.
    - `start`: `zero`, or `uniform` on ±1/√M as PyTorch's layers; `score_start`,
      `value_start` set the two half-widths separately.
    - `stream`: our `own` random numbers, or those of the `published` runs (needs
      PyTorch).
    - `normalised`, `residual`: `none`, `normalised` LN(LN(c) + e), as in the text, or
      `plain` LN(c + e), as in the authors' code.
    - `embed`: dimension d of weights U, W_Q, W_K, W_V; none for free tables.
    - Recorded at every `every`-th step and at the last.
    """

    queries: Size = 2
    classes_per_query: Size = 1
    common: Count = 10
    common_per_query: Count = 0
    distinct: Size = 10
    score_rate: NonNegative = 1.0
    value_rate: NonNegative = 1.0
    ratio: Positive | None = None
    rule: RuleName = "momentum"
    momentum: Decay = 0.9
    length: Size | None = 128
    batch: Size = 128
    steps: Size = 100
    start: Literal["zero", "uniform"] = "zero"
    score_start: Real | None = None
    value_start: Real | None = None
    stream: Literal["own", "published"] = "own"
    normalised: bool = True
    residual: Residual = "none"
    embed: Size | None = None
    form: FormName = "auto"
    every: Size = 1
    record: tuple[str, ...] = STEPS

    def __post_init__(self) -> None:
        if self.ratio is not None:
            # All other code reads `value_rate` only.
            object.__setattr__(self, "value_rate", self.ratio * self.score_rate)
        check_sizes(self)
        check_rates(self)
        check_sequences(self)


@dataclass(frozen=True)
class Course(Optimised):
    """Fields that all flows of J and Q share.

    - `system`: `J` or `Q`; with `per_class` the velocity of Q's scores has the factor
      1/K that time in samples requires, and without it Equation 10 is as printed.
    - `score_rate` η_Z, `value_rate` η_Y; `until` the time, in samples; `rule`: a flow,
      or another of `Optimised`, of which a step is a time of 1.
    - `normalised`, `residual`, `form`: as in `Steps`.
    - Recorded at `records` log-spaced times; `rtol` per step.
    """

    system: Literal["J", "Q"] = "J"
    per_class: bool = True
    rule: RuleName = "flow"
    score_rate: NonNegative = 1.0
    value_rate: NonNegative = 1.0
    normalised: bool = True
    residual: Residual = "none"
    form: FormName = "auto"
    until: Duration = 1e5
    records: Count = 141
    rtol: Relative = 1e-10
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        check_sizes(self)
        check_rates(self)
        check_course(self)


@dataclass(frozen=True)
class Flows(Course):
    """Setting of J or Q by gradient flow, on long sequences of identical classes.

    - `classes` K, `vocabulary` M; one query for all, or `own_queries`.
    - `common`: number of common tokens of weight 1; `distinct`: weights of the distinct
      tokens of a class.
    """

    classes: Size = 10
    vocabulary: Number = 1000
    own_queries: bool = False
    common: Count = 1
    distinct: Several[Positive] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Given(Course):
    """Setting of J or Q by gradient flow, on long sequences of any classes.

    `probability` lists the probabilities of the contextual tokens, class after class
    (equally many for each); `query` lists the index of each class's query, by default
    one query for all.
    """

    classes: Size = 2
    probability: Several[Fraction] = (0.5, 0.5, 0.0, 0.1, 0.0, 0.9)
    query: tuple[int, ...] = ()
    vocabulary: Size = 100


@dataclass(frozen=True)
class Scalar(Optimised):
    """Setting of C, Section 6's scalar model.

    `distinct` and `common` are as in `Flows` and determine ρ₀. C₀ is ρ₀⁴/K if
    `printed`, else ρ₀⁴/(K − 1); `scale` sets C₀ directly.
    """

    classes: Size = 10
    vocabulary: Number = 1000
    common: Count = 1
    distinct: Several[Positive] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    scale: NonNegative | None = None
    printed: bool = True
    rule: RuleName = "flow"
    score_rate: NonNegative = 1.0
    value_rate: NonNegative = 1.0
    until: Duration = 1e5
    records: Count = 201
    rtol: Relative = 1e-11
    record: tuple[str, ...] = SCALAR

    def __post_init__(self) -> None:
        check_sizes(self)
        check_rates(self)
        check_course(self)


@dataclass(frozen=True)
class EntropyGrid(Optimised):
    """Setting of Figures 6, 11 and 12: attention after training, by learning rates.

    For each number of `queries` with two next tokens each, each η_Z in `score_rates`
    and each η_Y/η_Z in `ratios`. `thresholds` of recall are in units of 1/M. Other
    fields are as in `Steps`; rates of scores and values are axes.
    """

    queries: Several[Size] = (1, 3, 5, 10)
    score_rates: Several[Positive] = (0.5, 1.0, 2.0, 3.0)
    ratios: Several[Positive] = (1.0, 2.0, 5.0, 10.0)
    thresholds: Several[Positive] = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
    rule: RuleName = "momentum"
    momentum: Decay = 0.9
    length: Size | None = 128
    batch: Size = 128
    steps: Size = 100
    start: Literal["zero", "uniform"] = "uniform"
    stream: Literal["own", "published"] = "own"

    def __post_init__(self) -> None:
        check_grid(self)
        check_sequences(self)
        if self.score_rate is not None or self.value_rate is not None:
            raise ValueError(
                "Rates of scores and values are axes of this grid: use score_rates and "
                "ratios."
            )


@dataclass(frozen=True)
class Decomposition:
    """Setting of the effects of momentum, finite length and initial tables.

    For each η_Z in `score_rates` at one `ratio`: heavy ball for `steps` steps, and
    plain descent for the same flow time, `steps/(1 − momentum)` steps; long sequences
    and batches of `length`; zero and uniform initial tables.
    """

    no_rule: ClassVar[str] = "Momentum beside plain descent is one of its axes."
    queries: Size = 1
    score_rates: Several[Positive] = (0.5, 1.0, 2.0, 3.0)
    ratio: Positive = 1.0
    momentum: Decay = 0.9
    length: Size = 128
    batch: Size = 128
    steps: Size = 100

    def __post_init__(self) -> None:
        check_grid(self)
        check_sequences(self)


@dataclass(frozen=True)
class Heights:
    """Setting of Figure 8: h* by steps and h, for several η_Y and vocabularies M."""

    no_rule: ClassVar[str] = "The decoder alone moves, by the recursion of Figure 8."
    vocabularies: Several[Size] = (30, 1000)
    value_rates: Several[Positive] = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
    steps: Size = 20000

    def __post_init__(self) -> None:
        check_grid(self)
        if min(self.vocabularies) < 2:
            raise ValueError(
                f"vocabularies is {self.vocabularies}: with one token there is nothing "
                "to predict, and log(M − 1) is taken. Use M of at least 2, as in "
                "vocabularies=30,1000."
            )


_HERE = "attnflow.papers.scansnap.experiments"


def _steps(id: str, title: str, setting: Steps, place: str = "") -> Recipe:
    free = ("steps", "every", "record", "form", "stream")
    return Recipe(id, title, setting, f"{_HERE}:steps", place, free)


def _flows(id: str, title: str, setting: Flows) -> Recipe:
    return Recipe(id, title, setting, f"{_HERE}:flows")


RECIPES = (
    _flows(
        "figure3",
        "J: growth of the dominant token in Figure 3's setting",
        Flows(score_rate=0.5),
    ),
    _flows(
        "figure3-q",
        "Q: the same under the quasi-static decoder",
        Flows(system="Q", score_rate=0.5),
    ),
    Recipe(
        "figure3-c",
        "C: the same by the scalar model",
        Scalar(score_rate=0.5),
        f"{_HERE}:scalar",
    ),
    _steps(
        "figure4-left",
        "J: Syn-Small by momentum, η_Y = η_Z = 1",
        Steps(),
        "Section 8; Figure 4",
    ),
    _steps(
        "figure4-right",
        "J: Syn-Small by momentum, η_Y = 10",
        Steps(value_rate=10.0),
        "Section 8; Figure 4",
    ),
    *(
        _steps(
            id,
            f"J: Syn-Small by Adam, η_Y = η_Z = {rate:g}",
            Steps(rule="adam", score_rate=rate, value_rate=rate),
            "Section 8; Figure 5",
        )
        for id, rate in (
            ("figure5", 1.0),
            ("figure5-middle", 0.5),
            ("figure5-left", 0.1),
        )
    ),
    _steps(
        "syn-medium",
        "J: one cell of Figure 6",
        Steps(queries=3, classes_per_query=2, start="uniform"),
    ),
    Recipe(
        "figure6",
        "J: Figure 6's whole grid, and the recall of Figures 11 and 12",
        EntropyGrid(),
        f"{_HERE}:entropy_grid",
        "Section 8; Figures 6, 11 and 12",
        # A run has some of the panels.
        ("queries", "thresholds", "stream"),
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
        Flows(classes=2, vocabulary=33, common=10),
    ),
    Recipe(
        "classes",
        "J or Q: any classes by gradient flow",
        Given(),
        f"{_HERE}:general_flows",
    ),
    *DEEP_RECIPES,
    *COMPUTATIONS,
)
