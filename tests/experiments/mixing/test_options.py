from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from attnflow.experiments.mixing.build import Choice, Slot, with_fields


@dataclass(frozen=True)
class Round:
    radius: float


@dataclass(frozen=True)
class Square:
    side: float = 1.0


SHAPE = Slot(
    "shape", {"round": with_fields(Round), "square": Choice(Square, {"length": "side"})}
)


def part(**options):
    return SHAPE.part_of(SimpleNamespace(**{"radius": None, "length": None, **options}))


def test_a_part_takes_its_options_and_its_own_defaults():
    assert part(shape="round", radius=2.0) == Round(2.0)
    assert part(shape="square") == Square(1.0)
    assert part(shape="square", length=3.0) == Square(3.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": "rond"}, "no shape 'rond'. Did you mean 'round'"),
        ({"shape": "round"}, "shape=round needs radius"),
        (
            {"shape": "square", "radius": 2.0},
            "radius=2.0 is not used by shape=square, which takes length. Leave it "
            "out, or use shape=round.",
        ),
    ],
)
def test_what_does_not_fit_is_said(options, message):
    with pytest.raises(ValueError) as error:
        part(**options)
    assert message in str(error.value)
