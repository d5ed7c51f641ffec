"""Sweeps that a map needs, kept in the runner's store."""

import json
from dataclasses import replace

import pytest

import attnflow as af
from attnflow.papers import paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import SweepRequest
from attnflow.site.reproduce import gather_sweep
from attnflow.sweeps import BatchStore

# A Monte Carlo bound: a real experiment whose cells take milliseconds.
SWEEP = SweepRequest(
    "concentration",
    {"omega": "0.1..0.5:5", "width": [8, 16, 32], "draws": 5},
    ("bound",),
    seeds=3,
    quick={"omega": "0.1..0.5:2"},
    quick_seeds=2,
)
PAPER = paper("mixture")


@pytest.fixture
def runner(tmp_path):
    return Runner(af.Store(tmp_path), quick=True)


def test_a_sweep_has_the_attributes_of_a_run(runner):
    cells = gather_sweep(runner, PAPER, SWEEP)
    assert cells["bound"].sizes == {"omega": 2, "width": 3, "seed": 2}
    attrs = cells.attrs
    assert (attrs["cells_computed"], attrs["cells_full"]) == (6, 6)
    assert attrs["experiment"] == "concentration" and attrs["wall_seconds"] > 0
    assert json.loads(attrs["changed"]) == ["omega", "seeds"]


def test_a_sweep_is_computed_once(runner, monkeypatch):
    first = gather_sweep(runner, PAPER, SWEEP)
    monkeypatch.setattr("attnflow.sweeps.worker.compute", None)
    assert gather_sweep(runner, PAPER, SWEEP).identical(first)
    assert BatchStore(runner.store.root).seconds(first.attrs["id"]) == pytest.approx(
        first.attrs["wall_seconds"]
    )


def test_a_refined_sweep_says_what_it_saved(runner):
    grid = {"omega": "0.1..0.9:9", "delta": "0.05..0.5:9"}
    fine = replace(SWEEP, quick=grid, refine=0.5, coarse=4)
    fine = replace(fine, settings={**SWEEP.settings, "width": 8})
    attrs = gather_sweep(runner, PAPER, fine).attrs
    assert 0 < attrs["cells_computed"] < attrs["cells_full"] == 81


def test_sweeps_need_a_store():
    with pytest.raises(ValueError, match="needs a store"):
        gather_sweep(Runner(False), PAPER, SWEEP)
