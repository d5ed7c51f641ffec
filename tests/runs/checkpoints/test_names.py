import numpy as np
import pytest

from attnflow.runs.checkpoints.states import pick

SHAPES = {"W_K": (1, "width", 4), "W_V": (1, 2, "neuron", 4)}
STATE = {
    "attention.key.weight": np.ones((3, 4)),
    "plus.weight": np.ones((5, 4)),
    "minus.weight": -np.ones((5, 4)),
}
NAMES = {"W_K": "attention.key.weight", "W_V": ["plus.weight", "minus.weight"]}


def picked(state=STATE, names=NAMES, shapes=SHAPES):
    return pick(state, shapes, names, heads=1)


def test_names_are_mapped_stacked_and_given_the_axis_of_the_head():
    arrays = picked()
    assert arrays["W_K"].shape == (1, 3, 4)
    assert arrays["W_V"].shape == (1, 2, 5, 4)
    assert (arrays["W_V"][0, 1] == -1).all()


def test_functions_and_fixed_arrays():
    def banks(state):
        return np.stack([state["plus.weight"], np.zeros((5, 4))])

    arrays = picked(names={"W_K": np.zeros((1, 3, 4)), "W_V": banks})
    assert (arrays["W_K"] == 0).all()
    assert (arrays["W_V"][0, 0] == 1).all()


def test_our_own_names_need_no_map():
    arrays = picked({"W_K": np.ones((1, 3, 4)), "other": 0}, None, {"W_K": (1, 3, 4)})
    assert set(arrays) == {"W_K"}


def test_a_missing_entry_is_named_with_what_is_there():
    rest = {name: v for name, v in STATE.items() if name != "minus.weight"}
    with pytest.raises(
        ValueError, match=r"no 'minus\.weight', which is to be W_V"
    ) as e:
        picked(rest)
    assert "attention.key.weight (3, 4), plus.weight (5, 4)" in str(e.value)
    assert "Did you mean 'plus.weight'?" in str(e.value)


def test_a_misnamed_entry_gets_a_guess():
    odd = {**NAMES, "W_K": "attn.key.weight"}
    with pytest.raises(ValueError, match=r"Did you mean 'attention\.key\.weight'"):
        picked(names=odd)


def test_a_part_of_a_name_is_a_guess():
    state = {"blocks.0.W_K.inner": np.ones((3, 4))}
    with pytest.raises(ValueError, match=r"Did you mean 'blocks\.0\.W_K\.inner'"):
        picked(state, None, {"W_K": (1, "width", 4)})


def test_a_shape_is_a_guess_where_no_name_is():
    state = {"first": np.ones((3, 4)), "second": np.ones((3, 5))}
    with pytest.raises(ValueError, match=r"Of its shape: 'first'\."):
        picked(state, None, {"W_K": (1, "width", 4)})


def test_a_wrong_name_of_ours():
    with pytest.raises(ValueError, match="Did you mean 'W_K'"):
        picked(names={"WK": "attention.key.weight"})


def test_parts_of_different_shapes_are_not_stacked():
    odd = {**STATE, "minus.weight": np.ones((6, 4))}
    with pytest.raises(ValueError, match=r"plus.weight \(5, 4\), minus.weight \(6, 4"):
        picked(odd)
