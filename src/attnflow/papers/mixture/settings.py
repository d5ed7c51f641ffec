"""The settings of `mixture` and its named experiments.

What the paper leaves silent (width, ω, steps, L for K ≥ 3, T1, the levels that end a
stage) has the reading of its README here; every one of them can be changed.
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.settings import RuleName, ScheduleName

Width = int | Literal["infinite"]
Population = int | Literal["exact", "orbits"]
FormName = Literal["auto", "weights", "transport", "gram", "infinite", "quotient"]


@dataclass(frozen=True)
class Simultaneous:
    """All weights trained together, or one part of them alone.

    - `K` groups, `L` tokens per sample, fixed `bias`.
    - `width` of the attention and its initial scale `omega`; `value_scale` is the
      standard deviation of the initial neurons.
    - `rule`; `learning_rate` for descents, with a `schedule` over all steps, and
      `momentum` where a rule has it; `steps` of a descent, or time of a `flow`.
    - `batch`: samples that a step sees, drawn by their probabilities; all if none.
    - `population`: `exact`, `orbits`, or a number of samples to draw.
    - `records`: how often observables are recorded, evenly; `record`: which.
    """

    K: int = 2
    L: int = 3
    bias: float = 0.5
    width: Width = 128
    omega: float = 0.1
    value_scale: float = 0.0
    rule: RuleName = "gd"
    learning_rate: float = 0.1
    momentum: float = 0.9
    schedule: ScheduleName = "constant"
    batch: int | None = None
    steps: float = 2000.0
    trains: Literal["both", "scores", "values"] = "both"
    population: Population = "exact"
    embed: int | None = None
    draw: Literal["auto", "weights", "bartlett"] = "auto"
    form: FormName = "auto"
    records: int = 401
    record: tuple[str, ...] = (
        "loss",
        "loss_by_group",
        "accuracy",
        "score",
        "value",
        "largest_score",
    )
    rtol: float = 1e-10
    atol: float = 1e-16


@dataclass(frozen=True)
class ThreeStage:
    """Algorithm 1: neurons, attention on conflicting samples, neurons again.

    Each stage ends at a time or by a detector: stage 1 at `T1`, or where `T1_level` is
    given when the group token's value reaches it; stage 2 at `T2`, or when the score of
    key c1 and query v1 reaches `T2_level`; stage 3 at `T3`, or when the loss falls to
    `epsilon`. Times are training times; descents take `time / learning_rate` steps.
    `stages` says how many of the three to run.
    """

    K: int = 2
    L: int = 3
    bias: float = 0.5
    width: Width = "infinite"
    omega: float = 0.1
    rule: Literal["flow", "gd"] = "flow"
    learning_rate: float = 0.1
    stages: int = 3
    T1: float = 10.0
    T1_level: float | None = None
    T2: float | None = None
    T2_level: float = 1.0
    T3: float | None = None
    epsilon: float = 0.01
    population: Population = "exact"
    draw: Literal["auto", "weights", "bartlett"] = "auto"
    form: FormName = "auto"
    records: int = 401
    spacing: Literal["linear", "log"] = "log"
    first_record: float = 0.1
    last_record: float | None = None
    record: tuple[str, ...] = (
        "loss",
        "loss_by_group",
        "score",
        "value",
        "pooled_token",
        "label",
    )
    rtol: float = 1e-10
    atol: float = 1e-16


@dataclass(frozen=True)
class StageOne:
    """Stage 1 alone by gradient flow, split where the first ReLU switches off."""

    bias: float = 0.5
    T1: float = 10.0
    width: Width = "infinite"
    omega: float = 0.1
    records: int = 401
    record: tuple[str, ...] = (
        "loss",
        "value",
        "value_rate",
        "output",
        "head_output",
        "score",
    )
    rtol: float = 1e-13
    atol: float = 1e-16
    form: FormName = "auto"


@dataclass(frozen=True)
class Construction:
    """Lemma 6.1's construction and a corrected one, by enumeration."""

    groups: tuple[int, ...] = (2, 3, 4, 5, 6)
    sharpness: tuple[float, ...] = (0.01, 1.0, 5.0, 30.0)
    biases: tuple[float, ...] = (0.0, 0.5, 2.0)


@dataclass(frozen=True)
class Separability:
    """Lemma 5.4: uniform attention under each of the 256 activation patterns."""

    bias_free: bool = True


@dataclass(frozen=True)
class InitialMargin:
    """Section 5.1: the margin of the attention features at initialisation."""

    omegas: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03)
    widths: tuple[int, ...] = (32, 512, 8192)
    bias: float = 0.5


@dataclass(frozen=True)
class Concentration:
    """Lemma G.1: how often its bounds on the initial inner products are broken."""

    width: int = 64
    omega: float = 0.1
    delta: float = 0.1
    draws: int = 4000


@dataclass(frozen=True)
class Conformance:
    """Reduced forms against plain weights along a whole run, and twins one ulp apart.

    `twins` plain runs start one ulp from the first: their divergence is what rounding
    does to any computation of this run.
    """

    width: int = 64
    omega: float = 0.1
    steps: float = 2000.0
    twins: int = 10


_HERE = "attnflow.papers.mixture"
_MORE = (*Simultaneous().record, "attention", "accuracy_by_group")


def _simultaneous(id: str, title: str, setting: Simultaneous) -> Recipe:
    return Recipe(id, title, setting, f"{_HERE}.experiments:simultaneous")


FIGURE1 = Simultaneous(record=_MORE)

RECIPES = (
    _simultaneous("figure1", "All weights together by gradient descent", FIGURE1),
    _simultaneous(
        "flow",
        "All weights together by gradient flow",
        dataclasses.replace(FIGURE1, rule="flow", steps=200.0),
    ),
    _simultaneous(
        "attention-only",
        "Attention alone, neurons fixed at Gaussian values",
        Simultaneous(
            trains="scores",
            value_scale=1.0,
            steps=20000.0,
            records=201,
            record=("loss", "loss_by_group", "accuracy", "largest_score"),
        ),
    ),
    _simultaneous(
        "k3",
        "Three groups",
        Simultaneous(K=3, L=4, width=64, steps=4000.0),
    ),
    _simultaneous(
        "k4",
        "Four groups",
        Simultaneous(K=4, L=4, width=64, steps=5000.0),
    ),
    _simultaneous(
        "k8",
        "Eight groups",
        Simultaneous(K=8, L=3, width=64, steps=10000.0, records=251),
    ),
    Recipe(
        "three-stage",
        "Algorithm 1 at infinite width by gradient flow",
        ThreeStage(),
        f"{_HERE}.experiments:three_stage",
    ),
    Recipe(
        "stage1",
        "Stage 1 alone, split where the first ReLU switches off",
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
        "Uniform attention under every activation pattern",
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
        "Reduced forms against plain weights, step by step",
        Conformance(),
        f"{_HERE}.experiments:computed",
    ),
)
