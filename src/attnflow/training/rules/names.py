"""Rules and schedules by the names that are typed on a command line, and by part."""

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

import jax

from attnflow.schema.fields import PARTS, ScheduleName
from attnflow.schema.settings import look_up, part_of, parts_of, unknown
from attnflow.training.rules.records import (
    Adam,
    AdamW,
    Flow,
    GradientDescent,
    Lion,
    Momentum,
    Muon,
    Nesterov,
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

Descent = GradientDescent | Momentum | Adam | Lion | SignGD | NormalisedDescent | Muon
Rule = Flow | Descent
Rules = Rule | Mapping[str, Descent]
R = TypeVar("R", bound="DataclassInstance")
Numbers: TypeAlias = dict[str, Any]
"""Numbers of a rule by field, those of its schedule in a dictionary of their own."""

RULES: dict[str, type[Rule]] = {
    "flow": Flow,
    "gd": GradientDescent,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "normalised-gd": NormalisedDescent,
    "muon": Muon,
    "adam": Adam,
    "adamw": AdamW,
    "lion": Lion,
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

    For settings that have a field for every option of every rule; one that is `None`
    is the rule's own.
    """
    kind = look_up("rule", name, RULES)
    fields = {field.name for field in dataclasses.fields(kind)}
    given = {n: v for n, v in offered.items() if v is not None}
    for option, why in _OF_DESCENTS.items():
        if option in given and option not in fields:
            raise ValueError(
                f"The rule {name!r} {why}: leave {option} out, or use a rule of "
                "descent."
            )
    return rule_named(name, **{n: v for n, v in given.items() if n in fields})


_OF_DESCENTS = {
    "schedule": "has no learning rate, so that there is nothing to schedule",
    "clip": "has no steps, so that there is nothing to clip",
}


def rule_of(setting: Any, **more: Any) -> Rule:
    """The rule of a setting with the fields of `attnflow.schema.fields.Optimised`.

    `more` are further options; where they have the names of fields, in their place.
    """
    fields: dict[str, Any] = {**vars(setting), **more}
    steps, warmup = fields.get("steps") or 0.0, fields.get("warmup") or 0.0
    schedule = schedule_named(setting.schedule, steps, warmup=warmup)
    offered = {name: fields[name] for name in _OPTIONS if name in fields}
    return fitting_rule(setting.rule, **{**offered, **more, "schedule": schedule})


_OPTIONS = (
    *("learning_rate", "momentum", "nesterov", "beta1", "beta2", "epsilon", "growth"),
    *("weight_decay", "clip", "rtol", "atol", "clock"),
)
"""Fields of settings that are options of rules; others may have a name of theirs."""


def trained_by(
    setting: Any, *, only: tuple[str, ...] | None = None, **more: Any
) -> dict[str, Any]:
    """The `rule` and `trains` of a stage, from the fields of `Optimised`.

    Parts that have rates or rules of their own get them; those of rate 0 stay. `only`
    are the parts of one stage out of several, and `more` are options of rules.
    """
    trains = only or parts_of(getattr(setting, "trains", "both"))
    kinds, rates = _kinds_of(setting), _rates_of(setting)
    _check_used(setting, {setting.rule, *kinds.values()})
    if only:
        kinds = {n: kind for n, kind in kinds.items() if part_of(n) in only}
        rates = {n: rate for n, rate in rates.items() if part_of(n) in only}
    if not kinds and not rates:
        return {"rule": rule_of(setting, **more), "trains": trains}
    names = list(trains)
    for name in (*kinds, *rates):
        if name not in names and part_of(name) in trains:
            names.append(name)
        elif name not in names:
            raise ValueError(
                f"{name} has a rule or a rate of its own, and what is trained is "
                f"{'+'.join(trains)}: train it too, or leave it out."
            )
    # If every weight of a part is named separately, the part has no rest.
    if {"keys", "queries"} <= set(names) and "scores" in names:
        names.remove("scores")
    rules: dict[str, Rule] = {}
    for name in names:
        own = more.get("learning_rate", setting.learning_rate)
        rate = rates.get(name, rates.get(part_of(name), own))
        if rate == 0:
            continue
        kind = kinds.get(name, kinds.get(part_of(name), setting.rule))
        one = SimpleNamespace(**{**vars(setting), "rule": kind})
        rules[name] = rule_of(one, **{**more, "learning_rate": rate})
    if not rules:
        raise ValueError("All learning rates are zero, so that nothing is trained.")
    if any(isinstance(rule, Flow) for rule in rules.values()):
        raise ValueError(
            "A gradient flow moves all trained parts with one clock: leave out rates "
            "and rules of parts, or use a rule of descent."
        )
    return {"rule": rules, "trains": tuple(rules)}


def _check_used(setting: Any, kinds: Iterable[str]) -> None:
    """Raise where an option is set that no rule takes, and that is none by default."""
    used = {f.name for kind in kinds for f in dataclasses.fields(RULES[kind])}
    defaults = {f.name: f.default for f in dataclasses.fields(setting)}
    for name in ("momentum", "beta1", "beta2", "epsilon"):
        value = getattr(setting, name, None)
        if value is not None and name not in used and defaults[name] is None:
            takers = [n for n, kind in RULES.items() if name in _fields(kind)]
            raise ValueError(
                f"{name}={value} is not used by rule={setting.rule}: leave it out, or "
                f"use rule={' or '.join(takers)}."
            )


def _fields(kind: type[Rule]) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def _rates_of(setting: Any) -> dict[str, float]:
    """Learning rates of parts, where these have their own."""
    fields = {
        "scores": "score_rate",
        "values": "value_rate",
        "keys": "key_rate",
        "queries": "query_rate",
    }
    rates = {part: getattr(setting, name, None) for part, name in fields.items()}
    return {part: rate for part, rate in rates.items() if rate is not None}


def _kinds_of(setting: Any) -> dict[str, str]:
    """Names of the rules of parts, where these have their own."""
    kinds: dict[str, str] = {}
    for text in getattr(setting, "rules", ()):
        part, colon, kind = text.partition(":")
        if not colon:
            raise ValueError(
                f"rules has {text!r}: write a part and its rule, as in "
                "rules=values:adamw,keys:gd."
            )
        look_up("part", part, dict.fromkeys(PARTS))
        look_up("rule", kind, RULES)
        kinds[part] = kind
    return kinds


def schedule_named(
    name: str, steps: float, *, warmup: float = 0.0
) -> AbstractSchedule | None:
    """The schedule of a name for a run of `steps` steps; `None` for `constant`.

    `linear` and `cosine` end at zero; `inverse-root` has fallen to a half by the end;
    `step` is multiplied by 0.1 after each third. With a `warmup` of some steps, the
    rate first rises in a straight line, and the schedule has the other steps.
    """
    look_up("schedule", name, dict.fromkeys(SCHEDULES))
    if warmup:
        return Warmup(warmup, schedule_named(name, max(steps - warmup, 1.0)))
    if name == "constant":
        return None
    if name == "inverse-root":
        return PowerDecay(steps / 3)
    if name == "step":
        return StepDecay(steps / 3)
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
    # Not through its constructor, whose checks another value might not pass.
    plain = copy.copy(record)
    numbers: Numbers = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if _is_schedule(value):
            blank, numbers[field.name] = _split(value)
        elif field.type is float and value:
            # An array from a Python number takes the precision of what it multiplies.
            blank, numbers[field.name] = 1.0, jax.device_put(1.0 * value)  # pyright: ignore[reportUnknownMemberType] # JAX leaves types of devices open
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
