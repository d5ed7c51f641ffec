import json

import numpy as np
import pytest

import attnflow as af
from attnflow.models.problem import Problem, ReluPair
from tests.core import assert_same_to_rounding

pytestmark = pytest.mark.cpus

NAME = "mixture/figure1"
SETTING = {"steps": 40, "records": 5, "width": 8}
# Of what is seen of a state: sums over 8 directions, 3 tokens of a sample and what they
# read, and 8 samples; exponentials and logarithms.
SIGHT = {"roundings": 8 + 3 + 3 + 8 + 10, "scale": 1.0}


@pytest.fixture(scope="module")
def own():
    """A run of ours that keeps its weights."""
    weights = ["W_K", "W_Q", "w"]
    return af.run(NAME, store=False, form="weights", record=weights, **SETTING)


@pytest.fixture(scope="module")
def checkpoints(own):
    return {
        float(time): {n: own[n].values[0, i] for n in ("W_K", "W_Q", "w")}
        for i, time in enumerate(own["time"].values)
    }


@pytest.fixture(scope="module")
def seen(checkpoints):
    return af.observe(NAME, checkpoints, **SETTING)


def experiment(**changes):
    recipe = af.paper("mixture").recipe("figure1")
    return recipe.experiment(recipe.with_overrides({**SETTING, **changes}))


def series_of(run):
    return [n for n in run if "time" in run[n].dims and n != "recorded"]


def test_weights_give_what_the_run_recorded(own, seen):
    """The same state, seen through the same form: nothing but a fused sum differs."""
    names = series_of(seen)
    assert set(names) == set(series_of(own)) - {"W_K", "W_Q", "w"}
    for name in names:
        assert seen[name].dims == own[name].dims
        assert_same_to_rounding(seen[name], own[name], **SIGHT)


def test_a_run_like_others(own, seen):
    assert dict(seen.sizes) == {d: own.sizes[d] for d in seen.sizes}
    for name in ("outcome", "end_time", "stage_start", "stage_end", "recorded"):
        assert seen[name].equals(own[name].drop_vars("clock")), name
    assert seen.attrs["form"] == "observed"
    assert seen.attrs["setting"] == own.attrs["setting"].replace('"weights"', '"auto"')
    assert "missing_times" not in seen.attrs
    assert (seen["loss_at_end"][:, 0] == seen["loss"][:, -1]).all()


def test_tables_give_the_same(own):
    tables = {name: own[name].values[0] for name in ("score", "value")}
    run = af.observe(NAME, tables, at=own["time"].values, **SETTING)
    assert run.attrs["form_reason"] == "tables that were given at 5 times"
    for name in series_of(run):
        assert_same_to_rounding(run[name], own[name], **SIGHT)


def test_what_tables_do_not_tell_is_left_out_or_refused(own):
    tables = {name: own[name].values[0, 0] for name in ("score", "value")}
    plan = experiment(record=("loss", "score_rate", "key_square"))
    run = af.observe(plan, {0: tables})
    left_out = json.loads(run.attrs["left_out"])
    assert set(left_out) == {"score_rate", "key_square"}
    assert "depends on the weights" in left_out["key_square"]
    with pytest.raises(ValueError, match="key_square cannot be computed from these"):
        af.observe(NAME, {0: tables}, record=["key_square"], **SETTING)


def test_changes_need_the_start(checkpoints):
    late = {40.0: checkpoints[40.0]}
    run = af.observe(experiment(record=("loss", "largest_score_change")), late)
    assert "where it began" in json.loads(run.attrs["left_out"])["largest_score_change"]
    assert run.attrs["missing_times"].startswith("4 of the 5 times")


def test_a_loop_that_moves_its_weights_in_place(checkpoints):
    def loop():
        state = {name: array.copy() for name, array in checkpoints[0.0].items()}
        for time in (0.0, 10.0):
            yield time, state
            state["W_K"] *= 2.0

    plan = experiment(record=("score", "largest_score_change"), draw="weights")
    run = af.observe(plan, loop())
    score = run["score"].values[0]
    moved = abs(score[1] - score[0]).max()
    assert run["largest_score_change"].values[0] == pytest.approx([0.0, moved])
    assert moved > 0


def test_seeds_side_by_side(own, checkpoints, seen):
    run = af.observe(NAME, [checkpoints, checkpoints], seeds=[3, 5], **SETTING)
    assert run["seed"].values.tolist() == [3, 5]
    assert (run["loss"].sel(seed=5) == seen["loss"][0]).all()
    short = dict(list(checkpoints.items())[:2])
    with pytest.raises(ValueError, match="at different times"):
        af.observe(NAME, [checkpoints, short], seeds=2, **SETTING)
    with pytest.raises(ValueError, match="2 seeds and 1 series"):
        af.observe(NAME, [checkpoints], seeds=2, **SETTING)


def test_what_stops_being_finite_ends_the_run(checkpoints, seen):
    worse = {time: dict(state) for time, state in checkpoints.items()}
    worse[30.0]["w"] = np.full((2, 4), np.inf)
    run = af.observe(NAME, worse, **SETTING)
    assert run["outcome"].item() == "diverged"
    assert run["recorded"].values.tolist() == [[True] * 3 + [False] * 2]
    assert run["end_time"].item() == 20.0
    assert (run["loss"][:, :3] == seen["loss"][:, :3]).all()
    assert run["loss"][:, 3:].isnull().all()
    with pytest.raises(ValueError, match="no finite checkpoint among 1"):
        af.observe(NAME, {0: worse[30.0]}, **SETTING)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W_K": np.ones((2, 4, 8))}, r"W_K has shape \(2, 4, 8\).*looks transposed"),
        ({"W_K": np.ones((2, 9, 4))}, r"W_Q has shape \(2, 8, 4\).*with width = 9"),
        ({"w": np.ones((3, 4))}, r"w has shape \(3, 4\); it must have \(2, 4\)"),
    ],
)
def test_a_misshapen_entry_is_named_with_what_is_there(checkpoints, change, message):
    with pytest.raises(ValueError, match=message) as error:
        af.observe(NAME, {0: {**checkpoints[0.0], **change}}, **SETTING)
    assert "The checkpoint has W_K (2, " in str(error.value)
    assert str(error.value).endswith("(It is the one at 0.)")


def test_tables_of_a_wrong_size(own):
    value = own["value"].values[0, 0]
    with pytest.raises(ValueError, match=r"must have \(2, tokens, tokens\)"):
        af.observe(NAME, {0: {"score": np.ones((2, 3, 3)), "value": value}}, **SETTING)
    few = {"score": np.ones((2, 3, 3)), "value": np.ones((2, 3))}
    with pytest.raises(ValueError, match="over all 6 of the vocabulary"):
        af.observe(NAME, {0: few}, **SETTING)


def test_a_problem_alone_needs_the_samples(checkpoints, seen):
    run = af.observe(Problem(ReluPair()), checkpoints, data=af.samples(NAME))
    assert_same_to_rounding(run["loss"], seen["loss"], **SIGHT)
    assert run.attrs["rule"] == "not told"
    with pytest.raises(ValueError, match="give those that it was trained on"):
        af.observe(Problem(ReluPair()), checkpoints)
    with pytest.raises(ValueError, match="W_K and W_Q; W_KQ; score"):
        af.observe(Problem(), {0: {"w": np.ones(4)}}, data=af.samples(NAME))


def test_samples_in_single_precision_are_refused(checkpoints):
    arrays = af.samples(NAME)
    data = af.sequences(arrays["tokens"], arrays["key"], arrays["label"])
    with pytest.raises(ValueError, match="float32: make them in float64"):
        af.observe(NAME, checkpoints, data=data, **SETTING)


def test_where_a_loop_of_ones_own_begins(own, checkpoints):
    weights = af.initial_weights(NAME, **SETTING)
    assert all((weights[n] == checkpoints[0.0][n]).all() for n in weights)
    assert af.times(NAME, **SETTING).tolist() == own["time"].values.tolist()
    with pytest.raises(ValueError, match="one sample for each orbit"):
        af.samples(NAME, population="orbits", width="infinite")
    with pytest.raises(ValueError, match="trains a model on a task"):
        af.samples("mixture/construction")
