import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.observables import OBSERVABLES, parse
from attnflow.training import Grid
from attnflow.training.rules import Flow
from tests.core import assert_same_to_rounding, experiment, given_weights
from tests.observables.plans import (
    CHAIN,
    COORDINATES,
    NEURONS,
    PLAIN,
    ROWS,
    TEST,
    WEIGHT_CHANGES,
)

pytestmark = pytest.mark.cpus

SPECIAL = PLAIN | CHAIN | TEST | NEURONS | ROWS | COORDINATES | WEIGHT_CHANGES
EVERYTHING = tuple(sorted(set(OBSERVABLES) - SPECIAL))
RATES = {
    "score": "score_rate",
    "value": "value_rate",
    "key_self_score": "key_self_score_rate",
    "query_self_score": "query_self_score_rate",
    "attention": "attention_rate",
}


@pytest.fixture(scope="module")
def dataset():
    """A short flow, recorded densely around one time."""
    h = 1e-3
    grid = Grid(points=(0.0, 5 - 2 * h, 5 - h, 5.0, 5 + h, 5 + 2 * h))
    plan = experiment(
        rule=Flow(rtol=1e-13, solver="tsit5"),
        until=5 + 2 * h,
        grid=grid,
        observables=EVERYTHING,
    )
    return run(plan, weights=given_weights())


@pytest.mark.parametrize(("name", "rate"), RATES.items())
def test_rates_are_derivatives_in_time(dataset, name, rate):
    """Against a central difference of fourth order, whose error is about 1e-12."""
    h = 1e-3
    at = {i: dataset[name].values[0, i] for i in range(1, 6)}
    slope = (at[1] - 8 * at[2] + 8 * at[4] - at[5]) / (12 * h)
    np.testing.assert_allclose(dataset[rate].values[0, 3], slope, atol=2e-11)


def test_rates_of_margins_by_part(dataset):
    """They add up to the margin's rate, and their pulls give the loss's decrease."""
    h = 1e-3
    parts = [dataset[f"margin_rate_by_{part}"] for part in ("scores", "values")]
    at = {i: dataset["margin"].values[0, i] for i in range(1, 6)}
    slope = (at[1] - 8 * at[2] + 8 * at[4] - at[5]) / (12 * h)
    np.testing.assert_allclose(sum(parts)[0, 3], slope, atol=2e-11)
    forces = (("score_force", "score_rate"), ("token_force", "value_rate"))
    for part, names in zip(parts, forces, strict=True):
        force, rate = (dataset[name] for name in names)
        power = (force * rate).sum([d for d in force.dims if d not in ("seed", "time")])
        ours = (dataset["pull"] * part).mean("sample")
        np.testing.assert_allclose(ours, power, rtol=1e-12, atol=1e-16)
    assert float(abs(parts[0]).max()) > 1e-4


def test_losses_and_accuracies_by_group_average_to_the_whole(dataset):
    for name in ("loss", "accuracy"):
        by_group = dataset[f"{name}_by_group"].values
        whole = dataset[name].values
        np.testing.assert_allclose(by_group.mean(axis=-1), whole, rtol=1e-13)


def test_outputs_follow_from_heads_and_heads_from_what_they_read(dataset):
    heads = dataset["head_output"].values
    reads, value = dataset["pooled_token"].values, dataset["value"].values
    np.testing.assert_allclose(
        heads, np.einsum("stnhk,sthk->stnh", reads, value), atol=1e-14
    )
    active = np.maximum(heads + 0.5, 0)
    np.testing.assert_allclose(
        dataset["output"].values, active[..., 0] - active[..., 1], atol=1e-14
    )


def test_attention_is_a_probability_and_scores_make_it(dataset):
    attention = dataset["attention"].values
    np.testing.assert_allclose(attention.sum(axis=-1), 1, rtol=1e-14)
    # Sample 'c1 v1 v2': the query v2 sees the keys c1, v1, v2 as the table says.
    table = dataset["score"].sel(head="+", query="v2", key=["c1", "v1", "v2"]).values
    expected = np.exp(table) / np.exp(table).sum(axis=-1, keepdims=True)
    ours = dataset["attention"].sel(sample="c1 v1 v2", head="+").values[:, :, 2]
    np.testing.assert_allclose(ours, expected, rtol=1e-13)


def test_margins_and_pulls(dataset):
    output, label = dataset["output"].values, dataset["label"].values
    np.testing.assert_allclose(dataset["margin"], label * output, rtol=1e-15)
    pull = 1 / (1 + np.exp(label * output))
    np.testing.assert_allclose(dataset["pull"], pull, rtol=1e-14)
    # Eight samples of probability 1/8, four in each group, one group after the other.
    actual = dataset["pull_by_group"].values.sum(axis=-1)
    np.testing.assert_allclose(actual, pull.mean(axis=-1), rtol=1e-14)
    names = [str(n) for n in dataset["sample"].values]
    mixed = [n for n, sample in enumerate(names) if _is_conflicting(sample)]
    np.testing.assert_allclose(
        dataset["pull_by_group"].sel(group="conflicting"),
        pull[..., mixed].sum(axis=-1) / 8,
        rtol=1e-14,
    )


def _is_conflicting(sample):
    """Whether the class token and the distractor have different signs."""
    return ("-v1" in sample) != ("-v2" in sample)


def test_score_rates_are_self_scores_times_forces(dataset):
    """`dS/dt = A_K D + D A_Q` on orthonormal tokens."""
    force, key, query = (
        dataset[name].values
        for name in ("score_force", "key_self_score", "query_self_score")
    )
    rate = key @ force + force @ query
    # Two sums of 4 products each.
    size = float(max(np.abs(key).max(), np.abs(query).max()) * np.abs(force).max())
    assert_same_to_rounding(dataset["score_rate"], rate, roundings=2 * 4, scale=size)


def test_value_rates_of_a_vector_are_its_forces(dataset):
    np.testing.assert_allclose(
        dataset["value_rate"], dataset["token_force"], atol=1e-16
    )


def test_the_vocabulary_holds_tokens_that_are_not_shown(dataset):
    actual = dataset["vocabulary_value"]
    assert list(actual["vocabulary"].values) == ["c1", "c2", "v1", "v2", "-v1", "-v2"]
    shown = dataset["value"].rename(token="vocabulary")
    # Tokens are unit vectors: there is nothing to round.
    assert (actual.sel(vocabulary=shown["vocabulary"]) == shown).all()
    mirrored = -shown.sel(vocabulary=["v1", "v2"]).values
    assert (actual.sel(vocabulary=["-v1", "-v2"]).values == mirrored).all()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("largest_score_change", "score"),
        ("largest_key_self_score_change", "key_self_score"),
        ("largest_query_self_score_change", "query_self_score"),
        ("largest_attention_change", "attention"),
    ],
)
def test_largest_changes_are_those_of_the_recorded_entries(dataset, change, name):
    """AbstractPresentable tokens are the basis here, so that no entry is missing."""
    moved = np.abs(dataset[name].values - dataset[name].values[:, :1])
    expected = moved.reshape(*moved.shape[:2], -1).max(axis=-1)
    assert expected[0, -1] > 1e-3
    # A difference of entries, each of which is summed over 8 columns of weights; the
    # largest of them may be far above what is left.
    size = float(np.abs(dataset[name]).max())
    assert_same_to_rounding(dataset[change], expected, roundings=8 + 3, scale=size)


def test_a_margin_of_zero_is_an_error():
    """Before training the neurons are zero, and so is every output."""
    dataset = run(experiment(observables=("accuracy", "output")))
    assert float(np.abs(dataset["output"][0, 0]).max()) == 0
    assert float(dataset["accuracy"][0, 0]) == 0


COORDS = {"head": ("+", "-"), "key": ("c1", "v1"), "query": ("c1", "v1")}


def test_scalars_by_text():
    assert parse("loss", {}).index == ()
    assert parse("score[-, c1 , v1]", COORDS).index == (1, 0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("los", "Did you mean 'loss'"),
        ("score[+,c1]", "one label for each"),
        ("score[+,c1,v2]", "no query 'v2'"),
        ("score[+,c1,v1", "names no scalar"),
    ],
)
def test_bad_scalars(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, COORDS)
