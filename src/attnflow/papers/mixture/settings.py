"""The settings of `mixture` and its named experiments.

What the paper does not specify (width, ω, steps, L for K ≥ 3, T1, the levels that end a
stage) has the value that README gives; each of them can be overridden.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import (
    Absolute,
    Count,
    Decay,
    Duration,
    NonNegative,
    Number,
    Optimised,
    Positive,
    Probability,
    Real,
    Relative,
    RuleName,
    Several,
    Size,
    Trains,
)

Width = Number | Literal["infinite"]
Population = int | Literal["exact", "orbits"]
FormName = Literal["auto", "weights", "transport", "gram", "infinite", "quotient"]
Setting = Mapping[str, Any]
"""The fields of one of the classes below by name, as runs carry them."""


@dataclass(frozen=True)
class Simultaneous(Optimised):
    """Simultaneous training of all weights, or of one part of them.

    - `K` groups, `L` tokens per sample, fixed `bias`.
    - `width` of the attention and its initial scale `omega`; `value_scale` is the
      standard deviation of the initial neurons.
    - `rule` and its options, as `Optimised` has them; number of `steps`, or the time
      of a `flow`.
    - `trains`: `both`, `scores` (keys and queries) or `values` (neurons).
    - `batch`: samples per step, drawn by their probabilities; all samples if `None`.
    - `population`: `exact`, `orbits`, or a number of samples to draw.
    - `records`: number of evenly spaced records; `record`: the observables.
    """

    K: Size = 2
    L: Size = 3
    bias: Real = 0.5
    width: Width = 128
    omega: NonNegative = 0.1
    value_scale: NonNegative = 0.0
    learning_rate: NonNegative = 0.1
    momentum: Decay = 0.9
    batch: Size | None = None
    steps: Duration = 2000.0
    trains: Trains = "both"
    population: Population = "exact"
    embed: Size | None = None
    draw: Literal["auto", "weights", "bartlett"] = "auto"
    form: FormName = "auto"
    records: Count = 401
    record: tuple[str, ...] = (
        "loss",
        "loss_by_group",
        "accuracy",
        "score",
        "value",
        "largest_score",
    )
    rtol: Relative = 1e-10
    atol: Absolute = 1e-16


@dataclass(frozen=True)
class ThreeStage(Optimised):
    """Algorithm 1: neurons, attention on conflicting samples, neurons again.

    Each stage ends at a time or by a detector: stage 1 at `T1` or, if `T1_level` is
    set, when the group token's value reaches that level; stage 2 at `T2` or, if that is
    `None`, when the score of key c1 and query v1 reaches `T2_level`; stage 3 at `T3` or
    when the loss falls to `epsilon`. Times are those of the flow: descents take
    `time / learning_rate` steps. `stages` is how many of the three to run.
    """

    K: Size = 2
    L: Size = 3
    bias: Real = 0.5
    width: Width = "infinite"
    omega: NonNegative = 0.1
    rule: RuleName = "flow"
    learning_rate: Positive = 0.1
    stages: Size = 3
    T1: Duration = 10.0
    T1_level: Real | None = None
    T2: Duration | None = None
    T2_level: Real = 1.0
    T3: Duration | None = None
    epsilon: Positive = 0.01
    population: Population = "exact"
    draw: Literal["auto", "weights", "bartlett"] = "auto"
    form: FormName = "auto"
    records: Count = 401
    spacing: Literal["linear", "log"] = "log"
    first_record: Positive = 0.1
    last_record: Positive | None = None
    record: tuple[str, ...] = (
        "loss",
        "loss_by_group",
        "score",
        "value",
        "pooled_token",
        "label",
    )
    rtol: Relative = 1e-10
    atol: Absolute = 1e-16


@dataclass(frozen=True)
class StageOne(Optimised):
    """Stage 1 alone by gradient flow, split when the first ReLU switches off."""

    rule: RuleName = "flow"
    learning_rate: Positive = 0.1
    bias: Real = 0.5
    T1: Duration = 10.0
    width: Width = "infinite"
    omega: NonNegative = 0.1
    records: Count = 401
    record: tuple[str, ...] = (
        "loss",
        "value",
        "value_rate",
        "output",
        "head_output",
        "score",
    )
    rtol: Relative = 1e-13
    atol: Absolute = 1e-16
    form: FormName = "auto"


Trained = Simultaneous | ThreeStage | StageOne


@dataclass(frozen=True)
class Construction:
    """Lemma 6.1's construction and a corrected one, by enumeration."""

    no_rule: ClassVar[str] = "It trains nothing: its weights are the lemma's."
    groups: Several[Size] = (2, 3, 4, 5, 6)
    sharpness: Several[NonNegative] = (0.01, 1.0, 5.0, 30.0)
    biases: Several[Real] = (0.0, 0.5, 2.0)


@dataclass(frozen=True)
class Separability:
    """Lemma 5.4: separability under uniform attention, for all 256 ReLU patterns."""

    no_rule: ClassVar[str] = "It trains nothing: attention is uniform."
    bias_free: bool = True


@dataclass(frozen=True)
class InitialMargin:
    """Section 5.1: the margin of the attention features at initialisation."""

    no_rule: ClassVar[str] = "It trains nothing: features are of initial weights."
    omegas: Several[Positive] = (1.0, 0.3, 0.1, 0.03)
    widths: Several[Size] = (32, 512, 8192)
    bias: Real = 0.5


@dataclass(frozen=True)
class Concentration:
    """Lemma G.1: how often initial inner products violate its bounds."""

    no_rule: ClassVar[str] = "It trains nothing: weights are drawn."
    width: Size = 64
    omega: NonNegative = 0.1
    delta: Probability = 0.1
    draws: Size = 4000


@dataclass(frozen=True)
class Conformance:
    """Reduced forms against full weights over a whole run.

    `twins` runs of full weights start one ulp from the first; their divergence is the
    rounding error that any computation of this run has.
    """

    no_rule: ClassVar[str] = "It holds reduced forms to plain weights under one rule."
    width: Size = 64
    omega: NonNegative = 0.1
    steps: Duration = 2000.0
    twins: Count = 10


_HERE = "attnflow.papers.mixture"
_MORE = (*Simultaneous().record, "attention", "accuracy_by_group")


_FREE = ("steps", "records", "record", "form", "draw")
"""What does not make another experiment: its length, and what is recorded and how.

The paper leaves m, ω, the steps and, for K ≥ 3, L unspecified: those of the recipes
are ours, and another m, ω or L counts as another setting.
"""


def _simultaneous(
    id: str, title: str, setting: Simultaneous, place: str = "", *more: str
) -> Recipe:
    """Simultaneous training; `more` are fields whose every value is the paper's."""
    build = f"{_HERE}.experiments:simultaneous"
    return Recipe(id, title, setting, build, place, (*_FREE, *more))


FIGURE1 = Simultaneous(record=_MORE)

RECIPES = (
    _simultaneous(
        "figure1",
        "All weights together by gradient descent",
        FIGURE1,
        "Section 3.1; Figure 1",
    ),
    _simultaneous(
        "flow",
        "All weights together by gradient flow",
        dataclasses.replace(FIGURE1, rule="flow", steps=200.0),
    ),
    _simultaneous(
        "attention-only",
        "Training attention alone, neurons fixed at Gaussian values",
        Simultaneous(
            trains="scores",
            value_scale=1.0,
            steps=20000.0,
            records=201,
            record=("loss", "loss_by_group", "accuracy", "largest_score"),
        ),
        "Appendix A.2; Figure 3",
        # "Gaussian" neurons, of no stated variance: claims go through several.
        *("value_scale", "omega"),
    ),
    _simultaneous(
        "k3",
        "Three groups",
        Simultaneous(K=3, L=4, width=64, steps=4000.0),
        "Appendix A.4; Figure 5",
    ),
    _simultaneous(
        "k4",
        "Four groups",
        Simultaneous(K=4, L=4, width=64, steps=5000.0),
        "Appendix A.4; Figure 6",
    ),
    _simultaneous(
        "k8",
        "Eight groups",
        Simultaneous(K=8, L=3, width=64, steps=10000.0, records=251),
        "Appendix A.4; Figure 7",
    ),
    Recipe(
        "three-stage",
        "Algorithm 1 at infinite width by gradient flow",
        ThreeStage(),
        f"{_HERE}.experiments:three_stage",
    ),
    Recipe(
        "stage1",
        "Stage 1 alone, with an event when the first ReLU switches off",
        StageOne(),
        f"{_HERE}.experiments:stage_one",
    ),
    Recipe(
        "construction",
        "Lemma 6.1's construction, as printed and corrected",
        Construction(),
        f"{_HERE}.experiments:computed",
    ),
    Recipe(
        "separability",
        "Separability under uniform attention, for every activation pattern",
        Separability(),
        f"{_HERE}.experiments:computed",
    ),
    Recipe(
        "initial-margin",
        "Margin of the attention features at initialisation",
        InitialMargin(),
        f"{_HERE}.experiments:computed",
    ),
    Recipe(
        "concentration",
        "Initial inner products against Lemma G.1's bounds",
        Concentration(),
        f"{_HERE}.experiments:computed",
    ),
    Recipe(
        "conformance",
        "Reduced forms against full weights, step by step",
        Conformance(),
        f"{_HERE}.experiments:computed",
    ),
)
