"""Rules and schedules by the names that are typed on a command line."""

import dataclasses
from typing import Any, get_args

from attnflow.schema.names import look_up, unknown
from attnflow.schema.settings import ScheduleName
from attnflow.training.rules.coordinates import Adam, SignGD
from attnflow.training.rules.flow import Flow
from attnflow.training.rules.plain import GradientDescent, Momentum
from attnflow.training.rules.schedules import (
    AbstractSchedule,
    CosineDecay,
    LinearDecay,
    PowerDecay,
)
from attnflow.training.rules.whole import Muon, NormalisedDescent

Descent = GradientDescent | Momentum | Adam | SignGD | NormalisedDescent | Muon
Rule = Flow | Descent

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
    own = {field.name for field in dataclasses.fields(kind)}
    if offered.get("schedule") is not None and "schedule" not in own:
        raise ValueError(
            f"The rule {name!r} has no learning rate, so that there is nothing to "
            "schedule: use schedule='constant', or a rule of descent."
        )
    return rule_named(name, **{n: v for n, v in offered.items() if n in own})


def rule_of(setting: Any, **more: Any) -> Rule:
    """The rule of a setting with the fields `rule`, `schedule` and `steps`.

    Its other fields, and `more`, are options where they have the names of options.
    """
    schedule = schedule_named(setting.schedule, setting.steps)
    offered = {**vars(setting), **more, "schedule": schedule}
    return fitting_rule(setting.rule, **offered)


def schedule_named(name: str, steps: float) -> AbstractSchedule | None:
    """The schedule of a name for a run of so many steps; `None` for `constant`.

    `linear` and `cosine` end at zero; `inverse-root` has fallen to a half by the end.
    """
    look_up("schedule", name, dict.fromkeys(SCHEDULES))
    if name == "constant":
        return None
    if name == "inverse-root":
        return PowerDecay(steps / 3)
    return {"linear": LinearDecay, "cosine": CosineDecay}[name](steps)
