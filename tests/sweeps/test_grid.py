"""The grammar of sweeps: what it means, and what it says about mistakes."""

import math
import random

import numpy as np
import pytest

from attnflow.sweeps import Axis, make_axes, parse_settings
from tests.sweeps.trivial import Trivial


def axes_of(zipped=(), **overrides):
    return make_axes(Trivial(), overrides, zipped)[1]


def column(**overrides):
    (axis,) = axes_of(**overrides)
    (key,) = axis.keys
    assert axis.name == key
    return [row[0] for row in axis.rows]


def test_ranges_have_their_ends_and_even_steps():
    generator = random.Random(0)
    for _ in range(200):
        low, high = generator.uniform(-5, 5), generator.uniform(-5, 5)
        count = generator.randint(2, 30)
        values = column(a=f"{low}..{high}:{count}")
        assert len(values) == count
        np.testing.assert_allclose([values[0], values[-1]], [low, high], rtol=1e-14)
        # 15 digits of numbers up to 5, twice in each difference.
        np.testing.assert_allclose(
            np.diff(values), (high - low) / (count - 1), atol=2e-14
        )


def test_logarithmic_ranges_have_even_ratios():
    generator = random.Random(1)
    for _ in range(200):
        low, high = (10 ** generator.uniform(-8, 8) for _ in range(2))
        count = generator.randint(2, 30)
        values = np.array(column(a=f"{low}..{high}:{count}:log"))
        np.testing.assert_allclose(values[[0, -1]], [low, high], rtol=1e-14)
        ratio = (high / low) ** (1 / (count - 1))
        np.testing.assert_allclose(values[1:] / values[:-1], ratio, rtol=1e-13)


def test_values_are_as_one_would_write_them():
    assert column(a="0.1..0.5:5") == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert column(a="1e-3..10:5:log") == [0.001, 0.01, 0.1, 1.0, 10.0]
    assert column(a="2..1:2:linear") == [2.0, 1.0]
    assert column(b="16..1024:7:log") == [16, 32, 64, 128, 256, 512, 1024]
    assert all(isinstance(value, int) for value in column(b="1..9:5"))
    assert column(width="16,64,infinite") == [16, 64, "infinite"]
    assert column(a=[1, 2.5]) == [1.0, 2.5]
    assert column(b=np.arange(3)) == [0, 1, 2]


def test_one_value_is_no_axis_and_lists_keep_their_commas():
    fixed, axes = make_axes(Trivial(), {"a": "3", "names": "x,y", "b": 5, "width": [8]})
    assert fixed == {"a": 3.0, "names": ("x", "y"), "b": 5}
    assert axes == (Axis(("width",), ((8,),)),)
    assert column(names=[("x",), ("x", "y")]) == [("x",), ("x", "y")]


def test_axes_multiply_in_the_order_in_which_they_are_given():
    axes = axes_of(b="3,1", a="0..1:3")
    assert [axis.name for axis in axes] == ["b", "a"]
    assert [axis.is_continuous for axis in axes] == [False, True]


def test_zipped_keys_share_an_axis():
    axes = axes_of([("b", "a")], a="0..1:3", b="1,2,3", width="4,8")
    assert axes[0] == Axis(("b", "a"), ((1, 0.0), (2, 0.5), (3, 1.0)))
    assert axes[1].keys == ("width",)
    # A key may repeat its values where its partner does not.
    assert len(axes_of([("a", "b")], a="1,1,2", b="1,2,2")[0]) == 3


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"c": "1,2"}, "no setting 'c'"),
        ({"widht": "1,2"}, "Did you mean 'width'"),
        ({"a": "0..1"}, "no number where the number of values belongs"),
        ({"a": "0..1:"}, "no number where"),
        ({"a": "0..1:0"}, "has 0 where"),
        ({"a": "0..1:1"}, "from 2 to"),
        ({"a": "0..1:2.5"}, "has 2.5 where"),
        ({"a": "0..1:-3"}, "has -3 where"),
        ({"a": "x..1:3"}, "an end that is not a number"),
        ({"a": "0..inf:3"}, "not finite"),
        ({"a": "0..1:3:log"}, "its end 0 is not positive"),
        ({"a": "-2..-1:3:log"}, "its end -2 is not positive"),
        ({"a": "1..2:3:lg"}, "Did you mean 'log'"),
        ({"a": "1..1:3"}, "Write a=1"),
        ({"b": "1..2:3"}, "The nearest integers are b=1,2"),
        ({"b": "1,2.5"}, "b must be an integer"),
        ({"b": "1,two"}, "b must be an integer"),
        ({"a": "1,,2"}, "Remove a comma"),
        ({"a": "1,1.0"}, "a=1.0 is there twice"),
        ({"a": []}, "no values"),
        ({"width": "1..infinite:3"}, "not a number"),
    ],
)
def test_mistakes_are_explained(overrides, said):
    with pytest.raises(ValueError, match=said) as caught:
        make_axes(Trivial(), overrides)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("zipped", "said"),
    [
        ([("a", "c")], "no swept key 'c'"),
        ([("a",)], "two or more"),
        ([("a", "a")], "two or more different"),
        ([("a", "b"), ("b", "width")], "b is zipped twice"),
        ([("a", "width")], "a has 3, width has 2"),
    ],
)
def test_mistakes_in_zips_are_explained(zipped, said):
    with pytest.raises(ValueError, match=said):
        axes_of(zipped, a="1,2,3", b="1,2,3", width="4,8")


def test_texts_of_a_command_line():
    assert parse_settings(["a=0..1:3", "names=x=y"]) == {"a": "0..1:3", "names": "x=y"}
    for text in ("a", "=3", "a="):
        with pytest.raises(ValueError, match="neither a setting nor a range"):
            parse_settings([text])
    with pytest.raises(ValueError, match="a is given twice"):
        parse_settings(["a=1", "a=2"])


def test_no_range_is_read_as_something_else():
    for text in ("1..2:3", "1..2:3:log"):
        assert all(math.isfinite(value) for value in column(a=text))
