"""The settings of `signgd` and its named experiments.

Sizes that are `None` are Table 3's fractions of d. Choices that the paper does not
specify are listed in the README. Every field can be overridden.
"""

from dataclasses import dataclass, replace
from typing import Literal

from attnflow.papers.signgd import computations, deep_settings
from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import (
    Count,
    Decay,
    Duration,
    NonNegative,
    Optimised,
    RuleName,
    Size,
    Vast,
)

FormName = Literal["auto", "weights", "coordinates", "signs"]
COURSE = (
    "loss",
    "margin",
    "value",
    "key_neuron",
    "query_neuron",
    "attention",
    "test_loss",
    "test_accuracy",
    "log_mean_key_gradient",
    "log_mean_query_gradient",
    "zero_signs",
    "tied_signs",
    "signs_count",
)


@dataclass(frozen=True)
class Train(Optimised):
    """W_Q, W_K and the value neurons trained together, on a random training set.

    - `row` of Table 3 and dimension `embed` d, which determine `samples` n, `support`
      s, `sigma_p`, `sigma_0`, `key_neurons` m_k, `value_neurons` m_v and `orthogonal`
      where these are none.
    - `length` L of a sample, of which `noise_tokens` are noise (none: half of
      them); `classes`: n/2 samples of each label (`equal`), or random labels (`drawn`).
    - `supports`: `drawn` as in Definition 2.1, or `disjoint`, as the theory needs them.
    - `heads`; `head`: the linear layer `fixed` at ±1/m_v, or `learnable` from there.
    - `rule` with its `learning_rate` (none: the paper's) and its options, as
      `Optimised` has them.
    - `steps`; records at each step up to `dense`, every `every` steps up to `fine`, and
      every `coarse` steps beyond.
    """

    row: Literal["a", "b", "c", "d"] = "a"
    embed: Size = 2000
    samples: Size | None = None
    support: Size | None = None
    sigma_p: NonNegative | None = None
    sigma_0: NonNegative | None = None
    key_neurons: Size | None = None
    value_neurons: Size | None = None
    orthogonal: bool | None = None
    length: Size = 2
    noise_tokens: Count | None = None
    classes: Literal["equal", "drawn"] = "equal"
    supports: Literal["drawn", "disjoint"] = "drawn"
    test_samples: Count = 500
    heads: Size = 1
    head: Literal["fixed", "learnable"] = "fixed"
    rule: RuleName = "signgd"
    beta1: Decay = 0.9
    beta2: Decay = 0.999
    epsilon: NonNegative = 1e-15
    steps: Size = 2000
    form: FormName = "auto"
    dense: Count = 60
    every: Size = 5
    fine: Count = 600
    coarse: Count = 20
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        for name in ("steps", "every", "coarse", "heads"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive, as in "
                    f"{name}=1."
                )

    def derived(self) -> dict[str, float]:
        """The values of scales and rates that are none."""
        return _derived(self, ("sigma_p", "sigma_0", "learning_rate"))

    @property
    def recorded_steps(self) -> tuple[float, ...]:
        """The steps at which a record is made, the last step among them."""
        steps = {
            self.steps,
            *range(self.dense + 1),
            *range(0, self.fine + 1, self.every),
            *range(0, self.steps + 1, self.coarse),
        }
        return tuple(float(step) for step in sorted(steps) if step <= self.steps)


@dataclass(frozen=True)
class Lattice(Optimised):
    """SignGD on disjoint supports of any size: only the norms of the noise matter.

    - `samples` n, `support` s, `sigma_p` (none: 2/√s), `sigma_0`, `key_neurons`,
      `value_neurons`. Labels are random: the dynamics does not depend on them.
    - `learning_rate` of the first steps (none: σ_0/(1000 √s), so that noise inner
      products take about a thousand steps to move by their initial size); from step
      1/`growth` on, a step is a fraction `growth` of the elapsed time.
    - `horizon` of training in units of the upper formula for T4⁻; `records`, evenly
      spaced in steps and so in the logarithm of the elapsed time.
    - `test_samples` fresh samples, whose noise no training support meets; `heads`.
    """

    samples: Size = 9
    support: Vast = 10**6
    sigma_p: NonNegative | None = None
    sigma_0: NonNegative = 1e-8
    key_neurons: Size = 20
    value_neurons: Size = 20
    heads: Size = 1
    rule: RuleName = "signgd"
    growth: NonNegative = 1e-3
    horizon: Duration = 6.0
    records: Count = 2001
    test_samples: Count = 0
    form: FormName = "auto"
    record: tuple[str, ...] = tuple(n for n in COURSE if not n.startswith("test_"))

    def derived(self) -> dict[str, float]:
        """The values of scales and rates that are none."""
        return _derived(self, ("sigma_p", "learning_rate"))


def _derived(setting: Train | Lattice, names: tuple[str, ...]) -> dict[str, float]:
    from attnflow.papers.signgd.sizes import sizes

    size = sizes(setting)
    return {n: getattr(size, n) for n in names if getattr(setting, n) is None}


_HERE = "attnflow.papers.signgd.experiments"


RECORDS = ("form", "dense", "every", "fine", "coarse", "record")
LENGTH = ("steps", "test_samples")


def _train(
    id: str, title: str, setting: Train, place: str = "", free: tuple[str, ...] = ()
) -> Recipe:
    """An experiment; where the paper declares it, records and length are ours."""
    free = (*RECORDS, *LENGTH, *free) if place else ()
    return Recipe(id, title, setting, f"{_HERE}:train", place, free)


_LONG = Train(row="d", length=10, dense=20, every=20)

_TABLE_3 = "Appendix B.1, Table 3"
RECIPES = (
    _train(
        "setting-a",
        "SignGD on sparse noise, orthogonal to the signal",
        Train(),
        f"{_TABLE_3} (a)",
    ),
    _train(
        "setting-b",
        "SignGD on sparse noise, not orthogonal",
        Train(row="b"),
        f"{_TABLE_3} (b)",
    ),
    _train(
        "setting-c",
        "SignGD on dense noise, orthogonal to the signal",
        Train(row="c"),
        f"{_TABLE_3} (c)",
    ),
    _train(
        "setting-d",
        "SignGD on dense noise, not orthogonal",
        Train(row="d"),
        f"{_TABLE_3} (d)",
    ),
    _train(
        "slow-start",
        "The first two steps of setting (a) in a thousand small ones each",
        Train(learning_rate=1e-7, dense=0, every=10, fine=2000),
        "Appendix B.1; Figure 1 (a) and (b)",
    ),
    _train(
        "adam",
        "Adam in setting (a)",
        Train(rule="adam"),
        "Appendix B.1; Appendix B.7 for other β1 and β2",
        ("beta1", "beta2"),
    ),
    _train("gd", "Gradient descent in setting (a)", Train(rule="gd"), "Appendix B.1"),
    _train(
        "gd-slow",
        "Gradient descent in setting (a) at SignGD's learning rate",
        Train(rule="gd", learning_rate=1e-4),
        "Appendix B.1; Figure 2c",
    ),
    _train(
        "adam-d",
        "Adam in setting (d)",
        Train(row="d", rule="adam", beta2=0.99),
        "Appendix B.3; Figures 7 and 8",
    ),
    _train(
        "gd-d",
        "Gradient descent in setting (d)",
        Train(row="d", rule="gd"),
        "Appendix B.3; Figure 9",
    ),
    _train(
        "length10", "SignGD on samples of ten tokens", _LONG, "Appendix B.4; Figure 10"
    ),
    _train(
        "adam-length10",
        "Adam on samples of ten tokens",
        replace(_LONG, rule="adam", beta2=0.99),
        "Appendix B.4; Figure 11",
    ),
    _train(
        "gd-length10",
        "Gradient descent on samples of ten tokens",
        replace(_LONG, rule="gd", learning_rate=1.0),
        "Appendix B.4; Figure 12",
    ),
    _train(
        "heads4",
        "SignGD with four heads",
        Train(heads=4, dense=20, every=10),
        "Appendix B.5; Figure 13",
    ),
    _train(
        "learnable-head", "SignGD with a trained linear layer", Train(head="learnable")
    ),
    _train(
        "momentum",
        "Adam with less momentum",
        Train(rule="adam", beta1=0.5),
        "Figure 2c; Appendix B.7",
    ),
    _train(
        "beta2",
        "Adam without momentum",
        Train(rule="adam", beta1=0.0, beta2=0.9),
        "Appendix B.7; Figures 16 and 17",
    ),
    _train("disjoint", "SignGD on disjoint supports", Train(supports="disjoint")),
    Recipe(
        "lattice",
        "SignGD on disjoint supports of 10^6 coordinates, in the theory's order",
        Lattice(),
        f"{_HERE}:lattice",
    ),
    Recipe(
        "naive-signs",
        "Signs of gradients that autodiff loses along the exact run",
        computations.NaiveSigns(),
        f"{_HERE}:naive_signs",
    ),
    Recipe(
        "updates",
        "How far Adam moves keys and queries, by its second memory",
        computations.Updates(),
        f"{_HERE}:updates",
    ),
    Recipe(
        "draws",
        "Norms of noise and initial inner products, against Lemmas C.2 to C.8",
        computations.Draws(),
        f"{_HERE}:draws",
    ),
    *deep_settings.RECIPES,
)
