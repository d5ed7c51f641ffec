"""Knobs of an experiment, from the declarations of its setting.

A float that set-up can be traced through is a slider. Other fields are choices: each of
their values needs arrays of its own, and a shape a kernel of its own.
"""

import dataclasses
import re
import types
import typing
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import HUGE, TRACED, Range

Json = dict[str, Any]
NUMERICAL = ("rtol", "atol", "delta")
"""Numbers that only say how exactly something is computed."""
RECORDED = {
    *("record", "records", "spacing", "first_record", "last_record", "every", "dense"),
    *("fine", "coarse", "show", "shown", "form", "draw", "cells", "room", "stream"),
    *("test_samples", "follow", "embed", "printed"),
}
"""Fields that say what is recorded and how it is computed, not what is trained."""
TRAINING = {"rule", "optimiser", "schedule", "trains", "batch", "system", "stages"}
PREFERRED = ("infinite", "flow", "adam", "signgd", "gd", "descent", "momentum")
"""Choices that readers ask for first."""
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "eta", "kappa", "lambda", "mu"),
    *("nu", "omega", "rho", "sigma", "tau", "theta"),
)
NOTCHES = (0.25, 0.5, 2.0, 4.0)
"""Other values of a whole number that is no shape, by its default."""


@dataclass(frozen=True)
class Field:
    """A field of a setting: its default, the types it takes and their ranges."""

    name: str
    default: Any
    options: tuple[Any, ...]
    ranges: tuple[Range, ...]
    traced: bool
    kind: type | None

    @property
    def limits(self) -> Range:
        """The range of its numbers."""
        return self.ranges[0] if self.ranges else Range(-HUGE, HUGE)


def fields_of(setting: Any) -> dict[str, Field]:
    """The fields of a setting by name."""
    hints = typing.get_type_hints(type(setting), include_extras=True)
    return {
        f.name: _field(f.name, getattr(setting, f.name), hints[f.name])
        for f in dataclasses.fields(setting)
    }


def _field(name: str, default: Any, hint: Any) -> Field:
    literals: list[Any] = []
    ranges: list[Range] = []
    kinds: list[type] = []
    traced = False
    for part in _parts(hint):
        if typing.get_origin(part) is Annotated:
            kind, *notes = typing.get_args(part)
            ranges += [note for note in notes if isinstance(note, Range)]
            traced = traced or TRACED in notes
            part = kind
        if typing.get_origin(part) is Literal:
            literals += typing.get_args(part)
        elif part in (int, float, bool):
            kinds.append(part)
            traced = traced or part is float
    kind = kinds[0] if kinds else None
    return Field(name, default, tuple(literals), tuple(ranges), traced, kind)


def _parts(hint: Any) -> Iterable[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def number_names(setting: Any) -> list[str]:
    """Names of the fields that may become sliders: floats that have a value."""
    return [
        name
        for name, field in fields_of(setting).items()
        if isinstance(field.default, float) and name not in NUMERICAL
        if name not in RECORDED
    ]


def values_of(
    setting: Any, requested: Sequence[Any], lost: Collection[str] = ()
) -> dict[str, list[Any]]:
    """Values of each field that may be offered as a choice, its default first.

    `requested` are other settings of the same experiment, as figures ask for them;
    `lost` are numbers through which set-up cannot be traced.
    """
    values: dict[str, list[Any]] = {}
    for name, field in fields_of(setting).items():
        if name in RECORDED or name in NUMERICAL:
            continue
        if name == "steps" and not field.traced:
            continue
        if name in lost:
            values[name] = [field.default, field.default / 2, 2 * field.default]
            continue
        if field.kind is float:
            continue
        asked = [getattr(other, name) for other in requested]
        listed = [field.default, *asked, *field.options]
        if field.kind is bool:
            listed += [True, False]
        elif field.traced and isinstance(field.default, int):
            listed += [max(1, round(field.default * share)) for share in NOTCHES]
        elif isinstance(field.default, int) and 2 <= field.default <= 12:
            listed += [field.default + 1, field.default - 1]
        if field.default is None or isinstance(field.default, tuple):
            continue
        preferred = [x for x in PREFERRED if x in listed]
        listed = [field.default, *asked, *preferred, *listed]
        distinct = list(dict.fromkeys(x for x in listed if x is not None))
        if len(distinct) > 1:
            values[name] = distinct
    return values


def number_knob(recipe: Recipe, name: str, group: str) -> Json:
    """A slider, and what may be typed beside it."""
    field = fields_of(recipe.setting)[name]
    low, high, scale = _span(field)
    low, high = (float(f"{end:.2g}") for end in (low, high))
    limits = field.limits
    return {
        **_words(recipe, name),
        "group": group,
        "kind": "number",
        "integer": False,
        "low": low,
        "high": high,
        "least": max(limits.low, -HUGE),
        "most": min(limits.high, HUGE),
        "open": [limits.above, limits.below],
        "scale": scale,
        "default": field.default,
    }


def _span(field: Field) -> tuple[float, float, str]:
    """What a slider spans: some decades around the default, or a whole short range."""
    limits, default = field.limits, float(field.default)
    if limits.high - limits.low <= 1:
        top = limits.high - (0.01 if limits.below else 0.0)
        return limits.low + (0.01 if limits.above else 0.0), top, "linear"
    if limits.low >= 0 and default > 0:
        wide = 10.0 if field.name in ("steps", "until", "horizon") else 30.0
        return default / wide, min(default * wide, limits.high), "log"
    size = abs(default) or 1.0
    low = -4 * size if default < 0 else max(limits.low, 0.0)
    return low, 4 * size, "linear"


def choice_knob(recipe: Recipe, name: str, values: Sequence[Any]) -> Json:
    """A choice among some values, in their order where they have one."""
    default = getattr(recipe.setting, name, 0)
    numbers = sorted(v for v in values if isinstance(v, int | float))
    texts = [v for v in values if not isinstance(v, int | float)]
    group = "training" if name in TRAINING else "draw" if name == "seed" else "model"
    return {
        **_words(recipe, name),
        "group": group,
        "kind": "choice",
        "values": [*numbers, *texts],
        "default": default,
    }


def _words(recipe: Recipe, name: str) -> Json:
    return {
        "name": name,
        "label": name.replace("_", " "),
        "tex": _tex(name),
        "about": _about(type(recipe.setting).__doc__ or "", name),
    }


def _tex(name: str) -> str | None:
    """A Greek name, or a single letter with an index, as TeX."""
    if name == "learning_rate":
        return r"\eta"
    letter, _, index = name.partition("_")
    if letter in GREEK and len(index) > 1:
        return rf"\{letter}_{{\mathrm{{{index}}}}}"
    stem = re.fullmatch(r"([A-Za-z]+?)_?([0-9a-z]?)", name)
    if stem is None:
        return None
    word, index = stem.groups()
    if word + index in GREEK:
        word, index = word + index, ""
    if word not in GREEK and len(word) > 1:
        return None
    letter = f"\\{word}" if word in GREEK else word
    return letter + (f"_{{{index}}}" if index else "")


def _about(text: str, name: str) -> str:
    """The clause of a setting's documentation that names a field."""
    bullets = re.split(r"\n\s*-\s", text)[1:]
    for bullet in bullets:
        clean = " ".join(bullet.split("\n\n")[0].split())
        if f"`{name}`" in clean:
            clauses = re.split(r"(?<=[;.])\s", clean)
            return next(c for c in clauses if f"`{name}`" in c).rstrip(";.")
    return ""
