"""Values that no experiment of `cooccurrence` can be run with are refused."""

import pytest

from attnflow.papers.cooccurrence.computations import Concentration
from attnflow.papers.cooccurrence.settings import Quotient
from attnflow.schema.settings import coerce


@pytest.mark.parametrize(
    ("setting", "name", "value"),
    [
        (Quotient(), "learning_rate", 0.0),
        (Concentration(), "widths", (512, 0)),
        (Concentration(), "lone_widths", ()),
    ],
)
def test_zero_and_nothing_are_refused(setting, name, value):
    with pytest.raises(ValueError, match=name):
        coerce(setting, name, value)
