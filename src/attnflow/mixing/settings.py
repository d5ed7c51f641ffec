"""Settings of mixed experiments: those of a task, of a model and of training, flat."""

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Mix:
    """A model and its training; what is none is as the chosen part has it.

    - `readout`: `linear` with so many `heads`, or `relu-pair` with a `bias`; `loss`:
      `logistic`, `exponential` or `squared`; `score_scale`: of scores in the softmax.
    - `width` of keys and queries, their initial scale `omega` and `law`; `merged`: one
      key–query matrix; `start`: how they are drawn, as `draw` in `attnflow.Initial`.
    - `values`: `vector`, `chain` (`value_width`, `output_scale`, `output_trained`),
      `neurons` (those, `neurons` and `inner_scale`) or `class-means` (`neurons`), with
      `value_scale`.
    - `rule`: one of `attnflow.rules.RULES`, with its options.
    - `trains`: `both`, or one of `scores` and `values`; `steps` of a descent, or time
      of a flow.
    - `records` times, `linear` or `log` spaced from `first_record`; `record`: what.
    """

    readout: str = "linear"
    heads: int | None = None
    bias: float | None = None
    loss: str = "logistic"
    score_scale: float = 1.0
    width: int | Literal["infinite"] = 128
    omega: float = 0.1
    law: Literal["normal", "uniform"] = "normal"
    merged: bool = False
    start: Literal["auto", "weights", "bartlett", "limit", "expected"] = "auto"
    values: str = "vector"
    value_scale: float | None = None
    value_width: int | None = None
    neurons: int | None = None
    inner_scale: float | None = None
    output_scale: float | None = None
    output_trained: bool | None = None
    rule: str = "gd"
    learning_rate: float | None = None
    momentum: float | None = None
    nesterov: bool | None = None
    weight_decay: float | None = None
    orthogonal: Literal["newton-schulz", "exact"] | None = None
    beta1: float | None = None
    beta2: float | None = None
    epsilon: float | None = None
    growth: float | None = None
    rtol: float | None = None
    atol: float | None = None
    clock: Literal["linear", "log"] | None = None
    trains: Literal["both", "scores", "values"] = "both"
    steps: float = 1000.0
    records: int = 201
    spacing: Literal["linear", "log"] = "linear"
    first_record: float = 1.0
    record: tuple[str, ...] = ("loss", "accuracy", "margin", "value", "attention")
    form: str = "auto"


def mixed_setting(task: type) -> Any:
    """A setting with the fields of a kind of task beside those of `Mix`.

    A task and a model must not have a setting of one name, which would be set at once.
    """
    hints = typing.get_type_hints(task)
    own = dataclasses.fields(task)
    shared = {f.name for f in own} & {f.name for f in dataclasses.fields(Mix)}
    if shared:
        raise ValueError(
            f"{task.__name__} and a model both have {sorted(shared)}: rename them in "
            "one of the two."
        )
    return dataclasses.make_dataclass(
        f"{task.__name__}Mix",
        [(f.name, hints[f.name], field(default=f.default)) for f in own],
        bases=(Mix,),
        frozen=True,
    )()
