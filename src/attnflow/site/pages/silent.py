"""What a paper leaves unsaid: the readings in use, and those that were tried."""

import typing
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from attnflow.papers.base import Paper
from attnflow.schema.declarations import Exhibit


@dataclass
class Reading:
    """A sentence about what is not stated, and the exhibits that rest on it."""

    text: str
    exhibits: list[Exhibit] = field(default_factory=list)


@dataclass
class Choice:
    """A value that a setting was given, and what was made or judged with it."""

    setting: str
    value: str
    exhibits: dict[str, Exhibit] = field(default_factory=dict)
    claims: set[str] = field(default_factory=set)


def silent_readings(paper: Paper) -> list[Reading]:
    """Every reading once, in the order in which exhibits come to it."""
    found: dict[str, Reading] = {}
    for exhibit in paper.shown:
        for text in exhibit.silent:
            found.setdefault(text, Reading(text)).exhibits.append(exhibit)
    return list(found.values())


def tried_choices(paper: Paper) -> list[list[Choice]]:
    """Settings that name alternatives, of which two or more were run.

    They are read off the runs that exhibits and claims ask for, so that nothing is
    listed that was not tried.
    """
    found: dict[str, dict[str, Choice]] = {}
    for owner in (*paper.exhibits, *paper.claims):
        for name, value in _chosen(paper, owner.needs.values()):
            choice = found.setdefault(name, {}).setdefault(value, Choice(name, value))
            if isinstance(owner, Exhibit):
                choice.exhibits[owner.id] = owner
            else:
                choice.claims.add(owner.id)
    return [list(values.values()) for values in found.values() if len(values) > 1]


def _chosen(paper: Paper, requests: Any) -> Iterator[tuple[str, str]]:
    for request in requests:
        setting = paper.recipe(request.experiment).with_overrides(request.overrides)
        for name in _alternatives(type(setting)):
            yield name, str(getattr(setting, name))


def _alternatives(setting: type) -> list[str]:
    """The fields of a setting whose values are named alternatives."""
    hints = typing.get_type_hints(setting)
    named = [f.name for f in fields(setting)]
    return [name for name in named if typing.get_origin(hints[name]) is Literal]
