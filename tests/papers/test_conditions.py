"""Conditions as numbers: told of every setting that a paper itself asks for."""

import json
import math
from dataclasses import asdict, replace

import pytest

from attnflow.papers import SLUGS, paper
from attnflow.schema.settings import canonical_json
from attnflow.sweeps.sweep import plan_sweep
from attnflow.training.rules import RULES


def kept(setting):
    """A setting as a run keeps it."""
    return json.loads(canonical_json(asdict(setting)))


def requested(paper):
    """Settings of all experiments, and of all runs for claims and figures."""
    yield from (recipe.setting for recipe in paper.recipes)
    for asking in (*paper.claims, *paper.exhibits):
        for request in asking.needs.values():
            recipe = paper.recipe(request.experiment)
            yield recipe.with_overrides(request.overrides)
            yield recipe.with_overrides(request.sized(quick=True).overrides)


def swept(paper):
    """Settings in the first and the last cell of all sweeps for maps."""
    for exhibit in paper.shown:
        for request in exhibit.sweeps.values():
            name = f"{paper.slug}/{request.experiment}"
            sweep = plan_sweep(
                name, request.sized(quick=False).settings, zip=request.zip, seeds=1
            )
            for cell in (sweep.cells[0], sweep.cells[-1]):
                values = dict(zip(sweep.keys, sweep.row(cell), strict=True))
                yield replace(sweep.setting, **values)


def ruled(paper):
    """Settings of all experiments under every rule that they take."""
    for recipe in paper.recipes:
        if hasattr(recipe.setting, "rule"):
            yield from (replace(recipe.setting, rule=rule) for rule in RULES)
        else:
            yield recipe.setting


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("asked", [requested, swept, ruled])
def test_every_setting_has_its_items_or_none(slug, asked):
    about = paper(slug)
    texts = {canonical_json(asdict(setting)) for setting in asked(about)}
    found = [about.conditions(json.loads(text)) for text in texts]
    assert any(found)
    for items in found:
        names = [item.name for item in items]
        assert len(set(names)) == len(names)
        for item in items:
            assert item.what
            numbers = (item.value, item.least, item.most)
            assert all(isinstance(number, int | float) for number in numbers)
            assert item.met is None or not math.isnan(item.value)
            assert item.least <= item.most


@pytest.mark.parametrize("slug", SLUGS)
def test_changed_settings_change_what_is_met(slug):
    """Over its experiments a paper has items that are met in one and not in another."""
    about = paper(slug)
    found: dict[str, set[bool]] = {}
    for setting in requested(about):
        for item in about.conditions(kept(setting)):
            found.setdefault(item.name, set()).add(item.met)
    assert sum(len(outcomes) == 2 for outcomes in found.values()) >= 2
