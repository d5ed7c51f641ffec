"""Declared ranges: what a field admits, and what an error says of it."""

import dataclasses
from dataclasses import dataclass
from typing import Literal

import pytest

from attnflow.papers import papers
from attnflow.schema.fields import (
    Absolute,
    Count,
    Decay,
    Duration,
    NonNegative,
    Number,
    Positive,
    Probability,
    Relative,
    Several,
    Size,
)
from attnflow.schema.settings import coerce, numbers, replace


@dataclass(frozen=True)
class Setting:
    width: Number | Literal["infinite"] = 8
    tokens: Size = 4
    test_samples: Count = 0
    omega: Positive = 0.1
    value_scale: NonNegative | None = None
    steps: Duration = 20.0
    memory: Decay = 0.9
    delta: Probability = 0.1
    rtol: Relative = 1e-10
    atol: Absolute = 1e-16
    widths: Several[Number] = (8, 16)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 1),
        ("width", "infinite"),
        ("width", 2**63 - 1),
        ("tokens", 1),
        ("test_samples", 0),
        ("omega", 1e-300),
        ("omega", 1e100),
        ("value_scale", 0.0),
        ("value_scale", None),
        ("steps", 0.0),
        ("memory", 0.0),
        ("delta", 1.0),
        ("rtol", 1e-15),
        ("atol", 0.0),
        ("widths", (3,)),
    ],
)
def test_ends_are_admitted(field, value):
    assert getattr(replace(Setting(), {field: value}), field) == value


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("width", 0, "an integer from 1 to 2^63 - 1 or 'infinite'"),
        ("width", 2**63, "an integer from 1 to 2^63 - 1 or 'infinite'"),
        ("tokens", 0, "an integer from 1 to 2^31 - 1"),
        ("tokens", 2**31, "an integer from 1 to 2^31 - 1"),
        ("test_samples", -3, "an integer from 0 to 2^31 - 1"),
        ("omega", 0, "a number above 0, up to 1e+100"),
        ("omega", "1e200", "a number above 0, up to 1e+100"),
        ("value_scale", -1.0, "'none' or a number from 0 to 1e+100"),
        ("steps", -1, "a number from 0 to 1e+100"),
        ("memory", 1.0, "a number from 0, below 1"),
        ("delta", 0.0, "a number above 0, up to 1"),
        ("rtol", 1e23, "a number from 1e-15 to 0.1"),
        ("atol", -1e-16, "a number from 0 to 1"),
        ("widths", "", "with commas, at least 1 of them"),
        ("widths", "8,0", "a list of integers from 1 to 2^63 - 1"),
    ],
)
def test_what_lies_outside_is_refused_with_the_range(field, value, words):
    with pytest.raises(ValueError) as caught:
        replace(Setting(), {field: value})
    assert words in str(caught.value)


def test_an_example_is_the_setting_s_own_value():
    with pytest.raises(ValueError, match="write for example rtol=1e-10"):
        replace(Setting(), {"rtol": "fine"})


def test_ranges_leave_numbers_numbers_and_shapes_shapes():
    shapes = {"tokens", "test_samples", "widths"}
    names = {field.name for field in dataclasses.fields(Setting)}
    assert set(numbers(Setting())) == names - shapes


def test_every_paper_admits_its_own_settings():
    for paper in papers().values():
        for recipe in paper.recipes:
            for field in dataclasses.fields(recipe.setting):
                value = getattr(recipe.setting, field.name)
                assert coerce(recipe.setting, field.name, value) == value
