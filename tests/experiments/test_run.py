import json

import numpy as np
import pytest

from attnflow import schema
from attnflow.data import MixtureTask
from attnflow.experiments import Computation, address, run
from attnflow.models.forms import Initial
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
    made = run(experiment(), seeds=(0, 7))
    schema.check(made)
    assert made.sizes["seed"] == 2 and list(made["seed"].values) == [0, 7]
    assert list(made["head"].values) == ["+", "-"]
    assert list(made["key"].values) == ["c1", "c2", "v1", "v2"]
    assert made["time"].attrs["units"] == "step"
    assert {"jax", "diffrax"} <= set(json.loads(made.attrs["versions"]))
    assert schema.last(made, "loss").values == pytest.approx(made["loss"].values[:, -1])


def test_equal_experiments_have_one_address_and_others_another():
    seeds = (0, 1)
    one = address(experiment(), seeds=seeds)
    assert one == address(experiment(), seeds=seeds)
    changed = [
        experiment(initial=Initial(width=16, omega=0.31)),
        experiment(until=201),
        experiment(form="weights"),
        experiment(observables=("loss",)),
        experiment(fixed={"data": 0}),
    ]
    others = {address(e, seeds=seeds) for e in changed}
    others.add(address(experiment(), seeds=(0,)))
    others.add(address(experiment(), seeds=seeds, weights=given_weights()))
    assert len(others) == 7 and one not in others


def test_the_address_covers_the_code(monkeypatch):
    from attnflow.experiments import record

    before = address(experiment(), seeds=(0,))
    monkeypatch.setattr(record, "code_version", lambda paper: "another")
    assert address(experiment(), seeds=(0,)) != before


def test_given_data_and_weights_by_mapping_and_by_file(tmp_path):
    """The task's own samples, given as arrays, give the task's own run."""
    import attnflow

    with attnflow.precise():
        own = MixtureTask().sequences()
    arrays = {
        name: np.asarray(getattr(own, name))
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
    made = run(
        experiment(form="weights"),
        weights=weights,
        record=["W_K", "W_Q", "w"],
        at=[0, 1, 7],
    )
    assert list(made["time"].values) == [0, 1, 7]
    np.testing.assert_array_equal(made["W_K"].values[0, 0], weights["W_K"])
    table = np.einsum("thmk,thmq->thkq", made["W_K"].values[0], made["W_Q"].values[0])
    # Sums of 16 products, of which none is as large as the largest weight.
    size = float(np.abs(made["W_K"]).max() * np.abs(made["W_Q"]).max())
    assert_same_to_rounding(made["score"].values[0], table, roundings=16, scale=size)
    with pytest.raises(ValueError, match="form='weights'"):
        run(experiment(form="gram"), weights=weights, record=["W_K"])


def test_streams_can_be_held_fixed():
    task = MixtureTask(population=50)
    made = run(experiment(task=task, fixed={"weights": 3}, until=20), seeds=(0, 1))
    # Side by side, two seeds need not be summed in the same order.
    first, second = made["score"].values[:, 0]
    assert_same_to_rounding(first, second, roundings=16)
    assert float(np.abs(made["score"][0, -1] - made["score"][1, -1]).max()) > 0


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
    given = given_weights()
    for name, change in weights.items():
        if change == "transposed":
            given[name] = given[name].swapaxes(-1, -2)
        elif change == "narrow":
            given[name] = given[name][:, :5]
        elif change == 0:
            given.pop("w", None)
        else:
            given[name][0, 0, 0] = change
    with pytest.raises(ValueError, match=message):
        run(experiment(), weights=given)


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
        Initial(**changes)


def test_bad_files_and_seeds(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        run(experiment(), weights=tmp_path / "absent.npz")
    (tmp_path / "text.npz").write_text("no arrays here")
    with pytest.raises(ValueError, match="not a readable npz"):
        run(experiment(), weights=tmp_path / "text.npz")
    with pytest.raises(ValueError, match="different integers"):
        run(experiment(), seeds=(1, 1))


def test_computations_have_the_same_face():
    made = run(
        Computation("mixture", "toy", {"n": 3}, "tests.experiments.toys:square"),
        seeds=(4, 5),
    )
    schema.check(made)
    assert list(made["square"].values) == [16, 25]


def test_wide_runs_cost_what_narrow_ones_cost():
    """Bartlett: the arrays of a run at width 10⁶ are those of width 32."""
    sizes = []
    for width in (32, 10**6, 10**12):
        initial = Initial(width=width, omega=0.1, draw="bartlett")
        made = run(experiment(initial=initial, until=50, grid=Grid(stop=50, count=3)))
        sizes.append(made.nbytes)
        assert made["outcome"].values[0] == "finished"
    assert len(set(sizes)) == 1
