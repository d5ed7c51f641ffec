import pytest

from attnflow.runs.plan import time_left


@pytest.mark.parametrize(
    ("spent", "share", "words"),
    [
        (12.0, 0.5, "about 12 s left"),
        (60.0, 0.25, "about 3 min left"),
        (3000.0, 0.25, "about 2.5 h left"),
        (5.0, 1.0, "about 0 s left"),
    ],
)
def test_times_as_people_say_them(spent, share, words):
    assert time_left(spent, share) == words
