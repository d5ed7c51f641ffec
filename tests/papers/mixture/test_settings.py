"""Values that no experiment of `mixture` can be run with are refused."""

import pytest

from attnflow.papers.mixture.settings import Construction, InitialMargin, ThreeStage
from attnflow.schema.settings import coerce


@pytest.mark.parametrize(
    ("setting", "name", "value"),
    [
        (ThreeStage(), "learning_rate", 0.0),
        (ThreeStage(), "epsilon", 0.0),
        (Construction(), "groups", (2, 0)),
        (InitialMargin(), "widths", (0,)),
    ],
)
def test_zero_is_refused(setting, name, value):
    with pytest.raises(ValueError, match=name):
        coerce(setting, name, value)
