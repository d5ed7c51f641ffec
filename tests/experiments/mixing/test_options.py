from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from attnflow.experiments.mixing.options import Choice, Slot, own_fields


@dataclass(frozen=True)
class Round:
    radius: float


@dataclass(frozen=True)
class Square:
    side: float = 1.0


SHAPE = Slot(
    "shape", {"round": own_fields(Round), "square": Choice(Square, {"length": "side"})}
)


def made(**given):
    return SHAPE.made(SimpleNamespace(**{"radius": None, "length": None, **given}))


def test_a_part_takes_its_options_and_its_own_defaults():
    assert made(shape="round", radius=2.0) == Round(2.0)
    assert made(shape="square") == Square(1.0)
    assert made(shape="square", length=3.0) == Square(3.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shape": "rond"}, "no shape 'rond'. Did you mean 'round'"),
        ({"shape": "round"}, "shape=round needs radius"),
        (
            {"shape": "square", "radius": 2.0},
            "radius=2.0 plays no part with shape=square, which takes length. Leave it "
            "out, or use shape=round.",
        ),
    ],
)
def test_what_does_not_fit_is_said(given, message):
    with pytest.raises(ValueError) as error:
        made(**given)
    assert message in str(error.value)
