"""Settings of mixed experiments: of a task, of a model and of training, flat."""

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from attnflow.data import (
    CooccurrenceOrbits,
    CooccurrenceTask,
    DisjointNoiseTask,
    InContextTask,
    MixtureTask,
    NoisyPatchesTask,
    SignalClassesTask,
    SignalNoiseTask,
)
from attnflow.experiments.record import Task
from attnflow.schema.fields import (
    Absolute,
    Count,
    Decay,
    Duration,
    Fraction,
    NonNegative,
    Number,
    Optimised,
    Real,
    Relative,
    Size,
    Trains,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RECORD = ("loss", "accuracy", "margin", "value", "attention")


@dataclass(frozen=True)
class AbstractMix(Optimised):
    """A model and its training; a field that is `None` has the default of its part.

    - What is done to the task: `query`: its own `tokens` ask, or a trained `prompt`;
      `mask`: none, or `causal`; `positions`: none, or tokens know theirs by a `sum` or
      a `product`; `flip`, `deviation`: noise of labels.
    - `readout`: `linear` with so many `heads`, `relu-pair` with a `bias`, or `classes`
      with a head for each of so many `heads`; `loss`:
      `logistic`, `exponential`, `squared` or `unhinged`; `attention`: `softmax` or
      `linear`; `score_scale`: of scores, one over the temperature.
    - `width` of keys and queries, their initial scale `omega` (or, where these differ,
      `key_omega` and `query_omega`, which may be 0) and `law`; `merged`: one
      key–query matrix; `shared`: one attention for all heads; `start`: how they are
      drawn, as `draw` in `attnflow.Initial`.
    - `values`: `vector`, `chain` (`value_width`, `output_scale`, `output_trained`),
      `neurons` (those, `neurons` and `inner_scale`) or `class-means` (`neurons`), with
      `value_scale`.
    - `rule` and its options, as `Optimised` has them; `batch`: how many samples a step
      sees.
    - `trains`: `both`, or some of `scores`, `values`, `keys`, `queries`, `W_V` …,
      joined by +; `steps` of a descent, or time of a flow.
    - `records` times, `linear` or `log` spaced from `first_record`; `record`: what.
    """

    query: Literal["tokens", "prompt"] = "tokens"
    mask: Literal["causal"] | None = None
    attention: Literal["softmax", "linear"] = "softmax"
    positions: Literal["sum", "product"] | None = None
    flip: Fraction = 0.0
    deviation: NonNegative = 0.0
    readout: str = "linear"
    heads: Size | None = None
    bias: Real | None = None
    loss: str = "logistic"
    score_scale: Real = 1.0
    width: Number | Literal["infinite"] = 128
    omega: NonNegative = 0.1
    key_omega: NonNegative | None = None
    query_omega: NonNegative | None = None
    law: Literal["normal", "uniform"] = "normal"
    merged: bool = False
    shared: bool = False
    start: Literal["auto", "weights", "bartlett", "limit", "expected"] = "auto"
    values: str = "vector"
    value_scale: NonNegative | None = None
    value_width: Size | None = None
    neurons: Size | None = None
    inner_scale: NonNegative | None = None
    output_scale: NonNegative | None = None
    output_trained: bool | None = None
    # Names of any kind, which are looked up: an error says which one was meant.
    rule: str = "gd"  # pyright: ignore[reportIncompatibleVariableOverride]
    schedule: str = "constant"  # pyright: ignore[reportIncompatibleVariableOverride]
    nesterov: bool | None = None
    growth: Decay | None = None
    rtol: Relative | None = None
    atol: Absolute | None = None
    clock: Literal["linear", "log"] | None = None
    batch: Size | None = None
    trains: Trains = "both"
    steps: Duration = 1000.0
    records: Count = 201
    spacing: Literal["linear", "log"] = "linear"
    first_record: NonNegative = 1.0
    record: tuple[str, ...] = RECORD
    form: str = "auto"
    task_kind: ClassVar[type]

    @property
    def task(self) -> Task:
        """The task itself, without noise of labels, positions and a prompt."""
        fields = dataclasses.fields(self.task_kind)
        return self.task_kind(**{f.name: getattr(self, f.name) for f in fields})


def _with(task: "type[DataclassInstance]", **parts: object) -> type[AbstractMix]:
    """Settings with the fields of a kind of task beside those of `AbstractMix`.

    `parts` are fields of the model that have another default with this task.

    A task and a model must not have a setting of one name, which would be set at once.
    """
    hints = typing.get_type_hints(task)
    fields = dataclasses.fields(task)
    shared = {f.name for f in fields} & {
        f.name for f in dataclasses.fields(AbstractMix)
    }
    if shared:
        raise ValueError(
            f"{task.__name__} and a model both have {sorted(shared)}: rename them in "
            "one of the two."
        )
    known = typing.get_type_hints(AbstractMix, include_extras=True)
    kind = dataclasses.make_dataclass(
        task.__name__.removesuffix("Task") + "Mix",
        [
            *((f.name, hints[f.name], field(default=f.default)) for f in fields),
            *((name, known[name], field(default=x)) for name, x in parts.items()),
        ],
        bases=(AbstractMix,),
        namespace={"task_kind": task},
        frozen=True,
    )
    # Workers of a sweep find a class by its module and name.
    kind.__module__ = __name__
    return kind


SignalNoiseMix = _with(SignalNoiseTask)
DisjointNoiseMix = _with(DisjointNoiseTask)
CooccurrenceMix = _with(CooccurrenceTask)
CooccurrenceOrbitsMix = _with(CooccurrenceOrbits)
MixtureMix = _with(MixtureTask)
NoisyPatchesMix = _with(NoisyPatchesTask)
InContextMix = _with(InContextTask)
SignalClassesMix = _with(SignalClassesTask, readout="classes", heads=3, shared=True)
