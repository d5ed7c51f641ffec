"""Settings and named experiments of `cooccurrence`.

Where the paper is unspecific, defaults are the readings in README.md; all of them can
be overridden.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from attnflow.papers.cooccurrence.computations import (
    AppendixC,
    Concentration,
    Conformance,
    Conservation,
    Gradients,
    TokenSvm,
)
from attnflow.papers.cooccurrence.readings import Reading
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
    Real,
    Relative,
    RuleName,
    Size,
    Trains,
)

Fields = Mapping[str, Any]
"""A setting as runs and computations store it: values by field name."""
FormName = Literal["auto", "weights", "transport", "gram"]
Draw = Literal["auto", "weights", "bartlett", "limit", "expected"]
CURVES = ("loss", "loss_by_group", "accuracy", "score", "value", "readout_gain")
PHASES = (
    *CURVES,
    "margin",
    "pull_by_group",
    "score_rate",
    "value_rate",
    "value_self_score",
    "value_self_score_rate",
    "test_loss",
    "test_accuracy",
)


@dataclass(frozen=True)
class Train(Optimised):
    """Training of W_K, W_Q, W_V and W together, or of some of them; a is frozen.

    - `samples` n of `length` L tokens out of `embed` d; `fillers`, `shares` as in
      `CooccurrenceTask`; `test_samples` fresh ones.
    - `width` m, `neurons` m1; `reading` of the initialisation, with `c0` and `c1` for
      `theory`; `law`: `normal` draws normal weights of the reading's variances.
    - `rule` and its options, as `Optimised` has them; `batch`: samples per step, in
      epochs; by default all of them.
    - `steps` of a descent, or time of a `flow`, or instead `horizon`: training time in
      units of 1/b0, b0 = |a|² σ1² m. `level`: training ends when the loss falls to it.
    - `trains`: `both`, `values` (W_V and W: attention stays as it was drawn) or
      `scores` (W_K and W_Q).
    - `follow`: every neuron's readout is tracked too.
    - `show`: tables on the three `named` tokens, or on `all`.
    - `records`: number of records, evenly spaced or logarithmically from `first_record`
      (in steps or time, or in units of 1/b0 with a horizon).
    """

    samples: Size = 60
    length: Size = 5
    embed: Size = 64
    fillers: Literal["repeated", "distinct"] = "repeated"
    shares: Literal["exact", "drawn"] = "exact"
    test_samples: Count = 0
    width: Number = 128
    neurons: Number = 256
    reading: Reading = "fig1"
    law: Literal["reading", "normal"] = "reading"
    c0: Positive = 0.3
    c1: Positive = 0.3
    learning_rate: NonNegative = 0.01
    momentum: Decay = 0.9
    batch: Size | None = None
    steps: Duration = 30000.0
    horizon: Duration | None = None
    level: Real | None = None
    trains: Trains = "both"
    draw: Draw = "auto"
    form: FormName = "auto"
    follow: bool = False
    show: Literal["named", "all"] = "named"
    records: Count = 301
    spacing: Literal["even", "log"] = "even"
    first_record: Positive = 1.0
    record: tuple[str, ...] = PHASES
    rtol: Relative = 1e-9
    atol: Absolute = 1e-14


@dataclass(frozen=True)
class Quotient(Optimised):
    """Noise-free training up to symmetry; the number of samples is any real number.

    - `samples` n, `length` L; `unseen`: fillers of the test set alone; `test_samples`.
    - `width` m, `neurons` m1, `c0`, `c1`: scales of Condition 1, as in `Train`.
    - `horizon`: training time in units of 1/b0; `first_record` in the same units.
    - `trains`: as in `Train`.
    """

    samples: Positive = 60.0
    length: Size = 5
    unseen: NonNegative = 20.0
    test_samples: Count = 0
    width: Number = 10**6
    neurons: Number = 64
    c0: Positive = 0.3
    c1: Positive = 0.3
    rule: RuleName = "flow"
    learning_rate: Positive = 1e-6
    horizon: Duration = 1e8
    trains: Trains = "both"
    records: Count = 241
    first_record: Positive = 0.01
    record: tuple[str, ...] = (
        *CURVES,
        "margin",
        "pull_by_group",
        "score_rate",
        "value_rate",
    )
    rtol: Relative = 1e-10
    atol: Absolute = 1e-18


_HERE = "attnflow.papers.cooccurrence.experiments"

THEORY = Train(
    embed=183,
    fillers="distinct",
    test_samples=4000,
    width=4096,
    neurons=64,
    reading="theory",
    rule="flow",
    horizon=3e5,
    records=121,
    spacing="log",
    first_record=0.1,
    rtol=1e-8,
)

RECIPES = (
    Recipe(
        "figure1",
        "The paper's experiment: gradient descent at Appendix A's sizes",
        Train(test_samples=4000),
        f"{_HERE}:train",
        place="Section 3; Appendix A",
        free=(
            "test_samples",
            "steps",
            "draw",
            "form",
            "follow",
            "show",
            "records",
            "spacing",
            "first_record",
            "record",
        ),
    ),
    Recipe(
        "flow",
        "Gradient flow at Appendix A's sizes",
        Train(
            test_samples=4000, rule="flow", steps=300.0, spacing="log", first_record=0.1
        ),
        f"{_HERE}:train",
    ),
    Recipe(
        "theory",
        "Gradient flow under the theory's assumptions: distinct fillers, Condition 1",
        THEORY,
        f"{_HERE}:train",
    ),
    Recipe(
        "quotient",
        "The noise-free flow up to symmetry, for any number of samples",
        Quotient(),
        f"{_HERE}:quotient",
    ),
    Recipe(
        "gradients",
        "Appendix B's gradients against automatic differentiation",
        Gradients(),
        f"{_HERE}:computed",
    ),
    Recipe(
        "appendix-c",
        "Appendix C's system of six variables against the reduced form",
        AppendixC(),
        f"{_HERE}:computed",
    ),
    Recipe(
        "concentration",
        "Initial weights against the bounds of Appendices D and H",
        Concentration(),
        f"{_HERE}:computed",
    ),
    Recipe(
        "token-svm",
        "The hard-margin classifier of token counts, for any number of samples",
        TokenSvm(),
        f"{_HERE}:computed",
    ),
    Recipe(
        "conformance",
        "Reduced forms and tracked neurons against plain weights along the run",
        Conformance(),
        f"{_HERE}:computed",
    ),
    Recipe(
        "conservation",
        "Spectra that gradient flow conserves, under flow and under descent",
        Conservation(),
        f"{_HERE}:computed",
    ),
)
