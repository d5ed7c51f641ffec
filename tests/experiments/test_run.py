import json

import numpy as np
import pytest

from attnflow import schema
from attnflow.data import MixtureTask
from attnflow.experiments import Computation, run
from attnflow.models.forms import Initial
from attnflow.schema.settings import address
from attnflow.training import Grid, Stage
from attnflow.training.rules import Flow, GradientDescent
from tests.core import (
    assert_same_course,
    assert_same_to_rounding,
    experiment,
    given_weights,
    largest_difference,
)

pytestmark = pytest.mark.cpus


def test_the_dataset_follows_the_schema():
    result = run(experiment(), seeds=(0, 7))
    schema.check(result)
    assert result.sizes["seed"] == 2 and list(result["seed"].values) == [0, 7]
    assert list(result["head"].values) == ["+", "-"]
    assert list(result["key"].values) == ["c1", "c2", "v1", "v2"]
    assert result["time"].attrs["units"] == "step"
    assert {"jax", "diffrax"} <= set(json.loads(result.attrs["versions"]))
    assert schema.last(result, "loss").values == pytest.approx(
        result["loss"].values[:, -1]
    )


def test_equal_experiments_have_one_address_and_others_another():
    seeds = (0, 1)
    id = address(experiment().canonical(), seeds=seeds)
    assert id == address(experiment().canonical(), seeds=seeds)
    changed = [
        experiment(initial=Initial(width=16, omega=0.31)),
        experiment(until=201),
        experiment(form="weights"),
        experiment(observables=("loss",)),
        experiment(fixed={"data": 0}),
    ]
    others = {address(e.canonical(), seeds=seeds) for e in changed}
    others.add(address(experiment().canonical(), seeds=(0,)))
    others.add(address(experiment().canonical(), seeds=seeds, weights=given_weights()))
    assert len(others) == 7 and id not in others


def test_the_address_covers_the_code():
    before = address(experiment().canonical(), seeds=(0,), code="one")
    assert address(experiment().canonical(), seeds=(0,), code="another") != before


def test_given_data_and_weights_by_mapping_and_by_file(tmp_path):
    """The task's own samples, given as arrays, give the task's own run."""
    import attnflow

    with attnflow.precise():
        samples = MixtureTask().sequences()
    arrays = {
        name: np.asarray(getattr(samples, name))
        for name in ("tokens", "key", "label", "probability", "group")
    }
    weights = given_weights()
    np.savez(tmp_path / "data.npz", **arrays)
    np.savez(tmp_path / "weights.npz", **weights)
    plain = run(experiment(), weights=weights)
    by_mapping = run(experiment(), weights=weights, data=arrays)
    by_file = run(
        experiment(),
        weights=str(tmp_path / "weights.npz"),
        data=tmp_path / "data.npz",
    )
    assert_same_course(by_mapping, plain, steps=200)
    # What is read from a file is what was written: the same program on the same bits.
    assert largest_difference(by_mapping, by_file).max() == 0
    assert by_mapping.attrs["id"] == by_file.attrs["id"]


def test_tables_and_weights_at_chosen_steps():
    """What an outside implementation needs to be compared step by step."""
    weights = given_weights()
    result = run(
        experiment(form="weights"),
        weights=weights,
        record=["W_K", "W_Q", "w"],
        at=[0, 1, 7],
    )
    assert list(result["time"].values) == [0, 1, 7]
    keys, queries = result["W_K"].values[0], result["W_Q"].values[0]
    np.testing.assert_array_equal(keys[0], weights["W_K"])
    table = np.einsum("thmk,thmq->thkq", keys, queries)
    # Sums of 16 products, of which none is as large as the largest weight.
    size = float(np.abs(keys).max() * np.abs(queries).max())
    assert_same_to_rounding(result["score"].values[0], table, roundings=16, scale=size)
    with pytest.raises(ValueError, match="form='weights'"):
        run(experiment(form="gram"), weights=weights, record=["W_K"])


def test_streams_can_be_held_fixed():
    task = MixtureTask(population=50)
    result = run(experiment(task=task, fixed={"weights": 3}, until=20), seeds=(0, 1))
    # Side by side, two seeds need not be summed in the same order.
    first, second = result["score"].values[:, 0]
    assert_same_to_rounding(first, second, roundings=16)
    assert float(np.abs(result["score"][0, -1] - result["score"][1, -1]).max()) > 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"W_K": 0, "W_Q": 0}, "needed are W_K"),
        ({"W_K": np.nan}, "1 entries that are not finite"),
        ({"w": "transposed"}, "w has shape"),
        ({"W_K": "transposed"}, "looks transposed"),
        ({"W_K": "narrow"}, "with width = 5"),
    ],
)
def test_bad_given_weights(weights, message):
    changed = given_weights()
    for name, change in weights.items():
        if change == "transposed":
            changed[name] = changed[name].swapaxes(-1, -2)
        elif change == "narrow":
            changed[name] = changed[name][:, :5]
        elif change == 0:
            changed.pop("w", None)
        else:
            changed[name][0, 0, 0] = change
    with pytest.raises(ValueError, match=message):
        run(experiment(), weights=changed)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observables": ("los",)}, "Did you mean 'loss'"),
        ({"form": "grams"}, "Did you mean 'gram'"),
        ({"stages": ()}, "nothing is trained"),
        (
            {"stages": (Stage(Flow(), 1.0), Stage(GradientDescent(0.1), 2))},
            "different clocks",
        ),
        ({"fixed": {"dice": 0}}, "no streams"),
        ({"initial": Initial("infinite"), "form": "weights"}, "no weights"),
        ({"form": "infinite"}, "Set it to infinite"),
        ({"task": MixtureTask(population="orbits")}, "quotient needs"),
        (
            {"stages": (Stage(GradientDescent(0.1), 9, group="mixed"),)},
            "no group of samples 'mixed'",
        ),
    ],
)
def test_bad_experiments(changes, message):
    with pytest.raises(ValueError, match=message):
        run(experiment(**changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"width": -3}, "positive integer or 'infinite'"),
        ({"omega": -0.1}, "omega is -0.1"),
        ({"omega": 0.0}, "never starts to move"),
    ],
)
def test_bad_initial_states(changes, message):
    with pytest.raises(ValueError, match=message):
        experiment(initial=Initial(**changes))


def test_bad_files_and_seeds(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        run(experiment(), weights=tmp_path / "absent.npz")
    (tmp_path / "text.npz").write_text("no arrays here")
    with pytest.raises(ValueError, match="not a readable npz"):
        run(experiment(), weights=tmp_path / "text.npz")
    with pytest.raises(ValueError, match="different integers"):
        run(experiment(), seeds=(1, 1))


def test_computations_have_the_same_face():
    result = run(
        Computation("mixture", "toy", {"n": 3}, "tests.experiments.toys:square"),
        seeds=(4, 5),
    )
    schema.check(result)
    assert list(result["square"].values) == [16, 25]


def test_wide_runs_cost_what_narrow_ones_cost():
    """Bartlett: the arrays of a run at width 10⁶ are those of width 32."""
    sizes = []
    for width in (32, 10**6, 10**12):
        initial = Initial(width=width, omega=0.1, draw="bartlett")
        result = run(experiment(initial=initial, until=50, grid=Grid(stop=50, count=3)))
        sizes.append(result.nbytes)
        assert result["outcome"].values[0] == "finished"
    assert len(set(sizes)) == 1
