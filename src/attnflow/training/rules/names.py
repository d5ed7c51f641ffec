"""Rules and schedules by the names that are typed on a command line, and by part."""

import copy
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

import jax.numpy as jnp

from attnflow.schema.settings import ScheduleName, look_up, unknown
from attnflow.training.rules.records import (
    Adam,
    Flow,
    GradientDescent,
    Momentum,
    Muon,
    NormalisedDescent,
    SignGD,
)
from attnflow.training.rules.schedules import (
    AbstractSchedule,
    CosineDecay,
    LinearDecay,
    PowerDecay,
    StepDecay,
    Warmup,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Descent = GradientDescent | Momentum | Adam | SignGD | NormalisedDescent | Muon
Rule = Flow | Descent
Rules = Rule | Mapping[str, Descent]
R = TypeVar("R", bound="DataclassInstance")
Numbers: TypeAlias = dict[str, Any]
"""Numbers of a rule by field, those of its schedule in a dictionary of their own."""

RULES: dict[str, type[Rule]] = {
    "flow": Flow,
    "gd": GradientDescent,
    "momentum": Momentum,
    "normalised-gd": NormalisedDescent,
    "muon": Muon,
    "adam": Adam,
    "signgd": SignGD,
}
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)


def rule_named(name: str, **options: Any) -> Rule:
    """The rule of a name, with options that are its fields.

    !!! example
        `rule_named("muon", learning_rate=0.02, momentum=0.9)`
    """
    kind = look_up("rule", name, RULES)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for option in options:
        if option not in fields:
            raise unknown(f"option of the rule {name!r}:", option, fields)
    missing = [
        field.name
        for field in fields.values()
        if field.default is dataclasses.MISSING and field.name not in options
    ]
    if missing:
        raise ValueError(
            f"The rule {name!r} needs {' and '.join(missing)}: give "
            f"{missing[0]}=0.1, say."
        )
    return kind(**options)


def fitting_rule(name: str, **offered: Any) -> Rule:
    """The rule of a name, with those of the offered options that it has.

    For settings that have a field for every option of every rule.
    """
    kind = look_up("rule", name, RULES)
    fields = {field.name for field in dataclasses.fields(kind)}
    if offered.get("schedule") is not None and "schedule" not in fields:
        raise ValueError(
            f"The rule {name!r} has no learning rate, so that there is nothing to "
            "schedule: use schedule='constant', or a rule of descent."
        )
    return rule_named(name, **{n: v for n, v in offered.items() if n in fields})


def rule_of(setting: Any, **more: Any) -> Rule:
    """The rule of a setting with the fields `rule`, `schedule` and `steps`.

    Its other fields, and `more`, are options where they have the names of options.
    """
    schedule = schedule_named(setting.schedule, setting.steps)
    offered: dict[str, Any] = {**vars(setting), **more, "schedule": schedule}
    return fitting_rule(setting.rule, **offered)


def schedule_named(name: str, steps: float) -> AbstractSchedule | None:
    """The schedule of a name for a run of `steps` steps; `None` for `constant`.

    `linear` and `cosine` end at zero; `inverse-root` has fallen to a half by the end.
    """
    look_up("schedule", name, dict.fromkeys(SCHEDULES))
    if name == "constant":
        return None
    if name == "inverse-root":
        return PowerDecay(steps / 3)
    return {"linear": LinearDecay, "cosine": CosineDecay}[name](steps)


def per_part(rules: Rules, parts: tuple[str, ...]) -> dict[str, Rule]:
    """A rule for each part of the state that moves."""
    if not isinstance(rules, Mapping):
        return dict.fromkeys(parts, rules)
    missing = [part for part in parts if part not in rules]
    if missing:
        raise ValueError(
            f"There are rules for {sorted(rules)} but none for {missing}: give one "
            "rule for each part that is trained."
        )
    if any(isinstance(rule, Flow) for rule in rules.values()):
        raise ValueError(
            "A gradient flow moves all trained parts with one clock: give one Flow, or "
            "a descent rule for each part."
        )
    return {part: rules[part] for part in parts}


def split(rule: R) -> tuple[R, Numbers]:
    """A rule of learning rate 1 to compile, and its other numbers as arguments.

    So a program serves every value of them, and of those of its schedule, if that is
    one of ours: a user's may use its numbers in ways that cannot be traced. A zero
    stays in the rule, since it may leave something out.
    """
    plain, numbers = _split(rule)
    numbers.pop("learning_rate")
    return plain, numbers


def _split(record: R) -> tuple[R, Numbers]:
    # Without its constructor, whose checks another value might not pass.
    plain = copy.copy(record)
    numbers: Numbers = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if _is_schedule(value):
            blank, numbers[field.name] = _split(value)
        elif field.type is float and value:
            # An array from a Python number takes the precision of what it multiplies.
            blank, numbers[field.name] = 1.0, jnp.asarray(1.0 * value)  # pyright: ignore[reportUnknownMemberType] # JAX leaves types of devices open
        else:
            continue
        object.__setattr__(plain, field.name, blank)
    return plain, numbers


def _is_schedule(value: object) -> bool:
    """Whether a field holds a schedule of attnflow, whose numbers may be traced."""
    ours = (LinearDecay, CosineDecay, PowerDecay, StepDecay, Warmup)
    return type(value) in ours


def joined(rule: R, numbers: Numbers) -> R:
    """A rule with its numbers, which may be traced and so are not checked again."""
    whole = copy.copy(rule)
    for name, number in numbers.items():
        field = getattr(rule, name)
        nested = _is_schedule(field)
        object.__setattr__(whole, name, joined(field, number) if nested else number)
    return whole
