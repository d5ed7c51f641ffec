"""Deeper models: data, readings of the blocks, and tables of the first layer."""

import numpy as np
import pytest

import attnflow as af
from attnflow.data.deep_samples import SequenceTokens
from attnflow.experiments import members
from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.deep_experiments import stacked
from attnflow.papers.signgd.deep_settings import READINGS, Stacked
from attnflow.papers.signgd.experiments import train
from attnflow.papers.signgd.figures.sign_tables import TABLES, sign_table
from attnflow.papers.signgd.settings import Train
from attnflow.testing import all_sentences

SMALL = {"embed": 200, "steps": 3}


def test_samples_are_those_of_the_shallow_runs(precise):
    plan = train(Train(embed=200, test_samples=50))
    task = stacked(Stacked(**SMALL)).model.task
    assert isinstance(task, SequenceTokens)
    for ours, theirs in (
        (task.training(1), members.samples_of(plan, 1, None)),
        (task.test(1), members.test_samples_of(plan, 1, None)),
    ):
        tokens = np.asarray(theirs.tokens)[np.asarray(theirs.key)]
        assert np.array_equal(ours.tokens, tokens)
        assert np.array_equal(ours.label, theirs.label)


def test_the_first_layer_begins_alike_whatever_stands_above(precise):
    states = [
        stacked(Stacked(layers=k, **SMALL)).model.members([0], None)[0][1]
        for k in (1, 3)
    ]
    for name in ("W_K", "W_Q"):
        shallow, deep = (np.asarray(state["scores"][name]) for state in states)
        assert np.array_equal(shallow[0], deep[0])
        assert len(deep) == 3


@pytest.mark.parametrize("reading", READINGS)
def test_readings_differ_in_their_blocks(reading):
    network = stacked(Stacked(reading=reading, mlp=True, **SMALL)).model.network
    weights = network.draw(np.random.default_rng(0))["values"]
    size = {"large": 200**-0.5}.get(reading, 0.1 * 200**-0.5)
    assert np.std(weights["W_1"]) == pytest.approx(size, rel=0.02)
    assert ("W_O" in weights) == (reading == "factored")
    assert network.factor == {"damped": 1 / 2, "mean": 1 / 200}.get(reading, 1.0)


@pytest.fixture(scope="module")
def run():
    return af.run("signgd/stack", seeds=2, store=False, embed=200)


def test_a_small_run_and_its_table(run):
    assert run["time"].values.tolist() == list(range(11))
    assert (run["loss"][:, -1] < run["loss"][:, 0]).all()
    table = sign_table(run)
    assert (table.sum(("before", "after")) == 20).all()
    assert set(map(str, run["token"].values)) == {"mu", "noise1", "noise2"}
    # What no sample covers has no gradient, in the first layer alone.
    assert (run["zero_signs"].sel(layer="1") > 0.9).all()
    assert (run["zero_signs"].sel(layer="2") < 0.1).all()


def test_printed_tables_have_2000_pairs_and_the_row_sums_of_table_2():
    counts = {number: np.array(cells) for number, cells in TABLES.items()}
    assert all(cells.sum() == 2000 for cells in counts.values())
    apart = [int(cells[:, 1:3].sum()) for cells in counts.values()]
    assert apart == [34, 32, 49, 78, 24, 51, 37, 64]
    rows = {tuple(cells.sum(axis=1)) for cells in counts.values()}
    assert rows == {(512, 507, 458, 523)}


def test_tables_are_drawn_and_can_be_missing(run):
    exhibit = PAPER.exhibit("table4")
    display = exhibit.display({"run": run})
    figure = display.draw()
    assert len(figure.axes) == 2
    # Printed counts are scaled down, and the panel says so.
    assert "times 0.01" in figure.axes[1].get_title(loc="left")
    row = display.values()["pairs of different signs at t = 10"]
    # Twenty pairs, where 34 of 2000 are printed.
    assert row["printed"] == pytest.approx(0.34)
    ends_apart = sign_table(run).sel(after=["K+Q−", "K−Q+"]).sum(("before", "after"))
    assert row["mean"] == pytest.approx(float(ends_apart.mean()))
    negated = run.assign(query_neuron=-run["query_neuron"])
    assert not all(all_sentences(exhibit, {"run": negated}).values())


def test_wrong_settings():
    with pytest.raises(ValueError, match="1 or more"):
        Stacked(layers=0)
    with pytest.raises(ValueError, match="every=10 steps=1000"):
        Stacked(steps=15, every=10)
