import numpy as np
import pytest

from attnflow.dynamics import Grid
from attnflow.experiment import run
from attnflow.observables import OBSERVABLES, parse
from attnflow.rules import Flow
from tests.core import experiment, given_weights

NEURONS = {name for name in OBSERVABLES if "neuron" in name}
EVERYTHING = tuple(sorted(set(OBSERVABLES) - {"W_K", "W_Q", "w"} - NEURONS))
RATES = {
    "score": "score_rate",
    "value": "value_rate",
    "key_self_score": "key_self_score_rate",
    "query_self_score": "query_self_score_rate",
}


@pytest.fixture(scope="module")
def made():
    """A short flow, recorded densely around one time."""
    h = 1e-3
    grid = Grid(points=(0.0, 5 - 2 * h, 5 - h, 5.0, 5 + h, 5 + 2 * h))
    plan = experiment(
        rule=Flow(rtol=1e-13), until=5 + 2 * h, grid=grid, observables=EVERYTHING
    )
    return run(plan, weights=given_weights())


@pytest.mark.parametrize(("name", "rate"), RATES.items())
def test_rates_are_derivatives_in_time(made, name, rate):
    """Against a central difference of fourth order, whose error is about 1e-12."""
    h = 1e-3
    at = {i: made[name].values[0, i] for i in range(1, 6)}
    slope = (at[1] - 8 * at[2] + 8 * at[4] - at[5]) / (12 * h)
    np.testing.assert_allclose(made[rate].values[0, 3], slope, atol=2e-11)


def test_losses_and_accuracies_by_group_average_to_the_whole(made):
    for name in ("loss", "accuracy"):
        by_group = made[f"{name}_by_group"].values
        whole = made[name].values
        np.testing.assert_allclose(by_group.mean(axis=-1), whole, rtol=1e-13)


def test_outputs_follow_from_heads_and_heads_from_what_they_read(made):
    heads = made["head_output"].values
    reads, value = made["pooled_token"].values, made["value"].values
    np.testing.assert_allclose(
        heads, np.einsum("stnhk,sthk->stnh", reads, value), atol=1e-14
    )
    active = np.maximum(heads + 0.5, 0)
    np.testing.assert_allclose(
        made["output"].values, active[..., 0] - active[..., 1], atol=1e-14
    )


def test_attention_is_a_probability_and_scores_make_it(made):
    attention = made["attention"].values
    np.testing.assert_allclose(attention.sum(axis=-1), 1, rtol=1e-14)
    # Sample 'c1 v1 v2': the query v2 sees the keys c1, v1, v2 as the table says.
    table = made["score"].sel(head="+", query="v2", key=["c1", "v1", "v2"]).values
    expected = np.exp(table) / np.exp(table).sum(axis=-1, keepdims=True)
    ours = made["attention"].sel(sample="c1 v1 v2", head="+").values[:, :, 2]
    np.testing.assert_allclose(ours, expected, rtol=1e-13)


def test_a_margin_of_zero_is_an_error():
    """Before training the neurons are zero, and so is every output."""
    made = run(experiment(observables=("accuracy", "output")))
    assert float(np.abs(made["output"][0, 0]).max()) == 0
    assert float(made["accuracy"][0, 0]) == 0


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
