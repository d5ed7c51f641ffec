from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.schema.settings import canonical_json, digest, replace


@dataclass(frozen=True)
class Setting:
    width: int | Literal["infinite"] = 8
    rate: float = 0.1
    horizon: float | None = None
    trained: bool = True
    sizes: tuple[int, ...] = (1, 2)
    rule: Literal["flow", "descent"] = "flow"
    name: str = "plain"


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ("width", "16", 16),
        ("width", "1e12", 10**12),
        pytest.param("width", "1234567890123456789", 1234567890123456789),
        ("width", "infinite", "infinite"),
        ("width", 32, 32),
        ("rate", "1e-3", 1e-3),
        ("rate", 2, 2.0),
        ("horizon", "none", None),
        ("horizon", None, None),
        ("horizon", "5", 5.0),
        ("trained", "no", False),
        ("trained", "True", True),
        ("trained", False, False),
        ("sizes", "4,8,16", (4, 8, 16)),
        ("sizes", [4, 8], (4, 8)),
        ("sizes", "4", (4,)),
        ("rule", "descent", "descent"),
        ("name", "anything", "anything"),
    ],
)
def test_values_are_read(field, typed, value):
    result = getattr(replace(Setting(), {field: typed}), field)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("width", "2.5"),
        ("width", "wide"),
        pytest.param("width", "inf"),
        ("width", "nan"),
        pytest.param("width", float("inf")),
        ("width", True),
        ("width", ""),
        pytest.param("width", 2**63),
        ("rate", "fast"),
        pytest.param("rate", "nan"),
        pytest.param("rate", "inf"),
        pytest.param("rate", float("nan")),
        ("rate", True),
        ("rate", None),
        ("rate", (1, 2)),
        ("horizon", "later"),
        ("trained", "maybe"),
        ("trained", 1),
        ("sizes", "1,x"),
        ("sizes", 3),
        ("rule", "adam"),
        ("name", 3),
    ],
)
def test_wrong_values_say_what_is_allowed(field, typed):
    with pytest.raises(ValueError) as caught:
        replace(Setting(), {field: typed})
    message = str(caught.value)
    assert message.startswith(f"{field}={typed!r} ({type(typed).__name__})")
    assert f"{field} must be" in message
    assert message.endswith(".")


def test_unknown_fields_suggest():
    with pytest.raises(ValueError, match="Did you mean 'width'"):
        replace(Setting(), {"widht": 3})


def test_the_setting_itself_stays():
    setting = Setting()
    replace(setting, {"width": 3})
    assert setting == Setting()


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_survive_their_text(number):
    assert replace(Setting(), {"width": str(number)}).width == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_their_text(number):
    assert replace(Setting(), {"rate": repr(number)}).rate == number


def test_one_text_for_one_value():
    assert canonical_json({"b": 1, "a": 0.1}) == '{"a":0.1,"b":1}'
    assert canonical_json({"a": 0.1, "b": 1}) == canonical_json({"b": 1, "a": 0.1})


def test_addresses_tell_texts_apart():
    assert digest("ab", "c") != digest("a", "bc")
    assert len(digest("ab")) == 16
