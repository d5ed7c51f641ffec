import numpy as np
import pytest

from attnflow.runs.checkpoints.states import read_series

STATE = {"W": np.arange(6.0).reshape(2, 3)}


def sums_of(checkpoints, at=None):
    return [
        (time, float(state["W"].sum())) for time, state in read_series(checkpoints, at)
    ]


STACKED = {"W": np.stack([STATE["W"], 2 * STATE["W"]])}


@pytest.mark.parametrize(
    ("checkpoints", "at"),
    [
        ([(0, STATE), (5, {"W": 2 * STATE["W"]})], None),
        ({0: STATE, 5: {"W": 2 * STATE["W"]}}, None),
        ([STATE, {"W": 2 * STATE["W"]}], [0, 5]),
        (STACKED, [0, 5]),
        ({**STACKED, "time": np.array([0.0, 5.0])}, None),
        (((t, {"W": (1 + t / 5) * STATE["W"]}) for t in (0, 5)), None),
    ],
    ids=["pairs", "mapping", "list", "stacked", "clock", "generator"],
)
def test_series_in_every_form_are_the_same(checkpoints, at):
    assert sums_of(checkpoints, at) == [(0.0, 15.0), (5.0, 30.0)]


def test_one_state_with_its_step_and_what_is_saved_around_it():
    assert sums_of({**STATE, "step": 7}) == [(7.0, 15.0)]
    saved = {"model": STATE, "optimiser": {"W": np.zeros(2)}, "step": 7}
    assert sums_of(saved) == [(7.0, 15.0)]
    assert sums_of(STATE, [3]) == [(3.0, 15.0)]


@pytest.mark.parametrize(
    ("checkpoints", "at", "message"),
    [
        (STATE, None, r"do not say when they are.*Found: W \(2, 3\)"),
        ([STATE], None, "a dict that does not say when it is"),
        ([STATE], [0, 1], "1 checkpoints and 2 times"),
        ((STATE for _ in range(1)), [0, 1], "1 checkpoints and 2 times"),
        ((STATE for _ in range(3)), [0, 1], "more than 2 checkpoints and 2 times"),
        ({0: STATE, -1: STATE}, None, "said to be at -1"),
        ([(2, STATE), (1, STATE)], None, "at 1 comes after one at 2"),
        ([(np.nan, STATE)], None, "said to be at nan"),
        ([("soon", STATE)], None, "said to be at 'soon'"),
        ([(0, 3.0)], None, "A checkpoint is a float"),
        (STACKED, [0, 1, 2], r"not that of W \(2, 2, 3\)"),
        ("absent.npz", None, "no file absent.npz"),
    ],
)
def test_what_is_wrong_is_said(checkpoints, at, message):
    with pytest.raises(ValueError, match=message):
        sums_of(checkpoints, at)


def test_a_loop_that_changes_one_array_is_seen_at_each_of_its_times():
    model = {"W": np.zeros(3)}

    def train():
        for step in range(3):
            model["W"][:] = step
            yield model

    assert sums_of(train(), [0, 10, 20]) == [(0.0, 0.0), (10.0, 3.0), (20.0, 6.0)]
