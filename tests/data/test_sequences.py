import numpy as np
import pytest

from attnflow.data import from_arrays, sequences

pytestmark = pytest.mark.usefixtures("precise")

GOOD = {"tokens": np.eye(3), "key": [[0, 1], [1, 2]], "label": [1, -1]}


def test_what_is_left_out_takes_its_plain_meaning():
    data = sequences(**GOOD)
    np.testing.assert_array_equal(data.query, data.key)
    np.testing.assert_array_equal(data.mass, 1.0)
    np.testing.assert_array_equal(data.probability, 0.5)
    assert data.names == ("token0", "token1", "token2")


def test_absent_keys_are_no_queries():
    data = sequences(**GOOD, mass=[[1, 0], [1, 1]])
    np.testing.assert_array_equal(data.query_weight, [[1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": [[0, 3], [1, 2]]}, "rows of tokens, 0 to 2"),
        ({"label": [1, -1, 1]}, r"label has shape \(3,\)"),
        ({"mass": [[1, -1], [1, 1]]}, "smallest mass is -1"),
        ({"mass": [[0, 0], [1, 1]]}, "no key of positive mass"),
        ({"probability": [0.5, 0.4]}, "sum to 0.9"),
        ({"probability": [1.5, -0.5]}, "negative"),
        ({"names": ["a", "b"]}, "2 names for 3 tokens"),
        ({"tokens": np.ones(3)}, "two axes"),
        ({"columns": np.ones((2, 4))}, r"columns has shape \(2, 4\).*the 3 tokens"),
        ({"columns": np.ones(3)}, r"columns has shape \(3,\)"),
        ({"columns": np.full((3, 1), np.inf)}, "columns is not finite"),
        ({"scale": np.ones(2)}, r"scale has shape \(2,\).*the 3 tokens"),
        ({"scale": [1.0, np.nan, 1.0]}, "a finite number for each of"),
    ],
)
def test_bad_arrays(change, message):
    with pytest.raises(ValueError, match=message):
        sequences(**{**GOOD, **change})


def test_given_arrays_are_checked_by_name():
    with pytest.raises(ValueError, match="Did you mean 'label'"):
        from_arrays({**GOOD, "labels": [1, -1]})
    with pytest.raises(ValueError, match="lacks"):
        from_arrays({"tokens": np.eye(3), "key": [[0, 1]]})
    with pytest.raises(ValueError, match="not finite"):
        from_arrays({**GOOD, "tokens": np.diag([1.0, np.nan, 1.0])})


def test_columns_are_given_or_none():
    assert sequences(**GOOD).columns is None
    data = from_arrays({**GOOD, "columns": np.diag([1.0, 2, 3])})
    np.testing.assert_array_equal(data.columns, np.diag([1, 2, 3]))
    np.testing.assert_array_equal(data.restrict("all").columns, data.columns)
