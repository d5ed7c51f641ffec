import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import attnflow as af
from attnflow.runs import code
from attnflow.runs.runner import Runner, stage_rows
from attnflow.runs.store import Store, StoreWarning, summarise
from attnflow.schema.declarations import Request
from attnflow.schema.settings import seed_numbers
from attnflow.training import programs
from tests.runs.test_store import flip
from tests.toy import ToyExperiment, toy_paper


@pytest.fixture
def paper():
    return toy_paper()


def test_computed_once_then_read(toy, paper):
    first = Runner().run(paper, Request("flow"))
    second = Runner().run(paper, Request("flow"))
    assert len(toy.calls) == 1
    xr.testing.assert_identical(first, second)
    assert Store().list()[0]["stages"][1]["note"] == "not reached"


def test_one_runner_computes_once_without_a_store(toy, paper):
    runner = Runner(False)
    first, second = (runner.run(paper, Request("flow")) for _ in range(2))
    xr.testing.assert_identical(first, second)
    assert len(toy.calls) == 1
    assert len(runner.runs) == 1
    assert Store().list() == []


def test_what_is_stored_is_kept_at_hand_within_a_memory(toy, paper):
    requests = [Request("flow", {"width": width}) for width in (4, 5, 6, 4)]
    size = Runner(False).run(paper, requests[0]).nbytes
    runner = Runner(memory=2 * size)
    runs = [runner.run(paper, request) for request in requests]
    # The last two that were asked for; the first was read again, and not computed.
    assert [run.attrs["id"] for run in runner.runs] == [
        run.attrs["id"] for run in runs[2:]
    ]
    assert len(toy.calls) == 1 + 3
    apart = Runner(False, memory=0)
    apart.gather(paper, dict(zip("abc", requests, strict=False)))
    assert len(apart.runs) == 3


def test_experiments_may_share_a_run_under_their_own_names(toy):
    flow = toy_paper().recipes[0]
    paper = toy_paper(recipes=(flow, replace(flow, id="same")))
    runner = Runner()
    runs = [runner.run(paper, Request(name)) for name in ("flow", "same")]
    assert [run.attrs["experiment"] for run in runs] == ["flow", "same"]
    assert len(toy.calls) == 1
    assert Runner().run(paper, Request("same")).attrs["experiment"] == "same"


def test_rerun_computes_anew_once_and_replaces(toy, paper):
    Runner().run(paper, Request("flow"))
    created = Store().list()[0]["created"]
    runner = Runner(rerun=True)
    runner.gather(paper, {"a": Request("flow"), "b": Request("flow")})
    assert len(toy.calls) == 2
    assert Store().list()[0]["created"] > created
    assert len(Store().list()) == 1


@pytest.mark.parametrize(
    ("options", "begun", "others", "kept"),
    [
        ({}, np.inf, False, True),
        ({"rerun": True}, np.inf, False, False),
        ({}, 0.0, False, False),
        ({}, np.inf, True, False),
    ],
)
def test_programs_of_other_sessions(
    toy, paper, monkeypatch, options, begun, others, kept
):
    """Not to compute anew, nor where sources are newer, or in no digest."""
    codes = []
    monkeypatch.setattr(
        programs, "keeping", lambda digest: codes.append(digest) or nullcontext()
    )
    monkeypatch.setattr(code, "_BEGUN", begun)
    monkeypatch.setattr("attnflow.runs.runner.imports_others", lambda *_: others)
    Runner(**options).run(paper, Request("flow"))
    assert bool(codes) == kept and len(toy.calls) == 1


@pytest.mark.parametrize(
    ("asked", "default", "seeds"),
    [
        (None, None, (0,)),
        (None, 3, (0, 1, 2)),
        (2, 3, (0, 1)),
        ((7, 9), 3, (7, 9)),
        (None, (4, 5), (4, 5)),
    ],
)
def test_seeds(toy, paper, asked, default, seeds):
    Runner(seeds=default).run(paper, Request("flow", seeds=asked))
    assert toy.calls[0]["seeds"] == seeds


@pytest.mark.parametrize("seeds", [0, -1, (), (-1,), (1, 1)])
def test_seeds_that_are_none(seeds):
    with pytest.raises(ValueError, match="seed"):
        seed_numbers(seeds)


def test_quick_settings_only_when_quick(toy, paper):
    request = Request("flow", {"learning_rate": 0.5}, quick={"width": 2})
    quick = Runner(quick=True).run(paper, request)
    whole = Runner().run(paper, request)
    assert '"width": 2' in quick.attrs["setting"]
    assert '"learning_rate": 0.5' in quick.attrs["setting"]
    assert '"width": 4' in whole.attrs["setting"]
    assert quick.attrs["id"] != whole.attrs["id"]


def test_a_quick_run_may_have_fewer_seeds(toy, paper):
    request = Request("flow", seeds=3, quick_seeds=(1,))
    assert Runner(quick=True).run(paper, request)["seed"].values.tolist() == [1]
    assert Runner().run(paper, request)["seed"].values.tolist() == [0, 1, 2]
    assert request.sized(quick=True) == Request("flow", seeds=(1,))
    assert request.sized(quick=False) == Request("flow", seeds=3)


def test_given_data_and_recording_are_part_of_the_address(toy, paper, tmp_path):
    mine = tmp_path / "mine.npz"
    np.savez(mine, labels=np.ones(3))
    runs = [
        Runner().run(paper, Request("flow"), **given)
        for given in (
            {},
            {"data": mine},
            {"record": ["loss"]},
            {"at": [0.0, 1.0]},
            {"at": [0.0]},
        )
    ]
    assert len({run.attrs["id"] for run in runs}) == 5
    assert toy.calls[1]["data"] == mine
    assert toy.calls[3]["at"] == [0.0, 1.0]
    assert len(Store().list()) == 5


def test_one_address_for_all_spellings_of_a_setting(toy, paper):
    """And another for every other setting, seed, paper and function that builds."""
    paper = with_two_names(paper)

    def id_of(experiment="flow", paper=paper, **options):
        seeds = options.pop("seeds", None)
        request = Request(experiment, options, seeds=seeds)
        return Runner(False).run(paper, request).attrs["id"]

    id = id_of()
    same = [id_of(width=4), id_of(width="4"), id_of(width=4.0), id_of(seeds=(0,))]
    same += [id_of("same"), id_of(learning_rate="1e-1")]
    assert set(same) == {id}
    recipes = tuple(replace(r, build="tests.other:build") for r in paper.recipes)
    others = [id_of(width=5), id_of(seeds=2), id_of(seeds=(1,))]
    others += [id_of(paper=replace(paper, slug="other"))]
    order = Runner(False)._order(replace(paper, recipes=recipes), Request("flow"))
    assert len({id, order.id, *others}) == 2 + len(others)


def with_two_names(paper):
    (recipe,) = paper.recipes
    return replace(paper, recipes=(recipe, replace(recipe, id="same")))


def test_a_stored_run_is_shown_without_building_or_reading_it(toy, paper, monkeypatch):
    paper = with_two_names(paper)
    assert Runner().stored_summary(paper, Request("flow")) is None
    run = Runner().run(paper, Request("flow"))
    for reads in ("read", "write"):
        monkeypatch.delattr(Store, reads)
    monkeypatch.delattr("tests.toy.build")
    shown = Runner().stored_summary(paper, Request("same"))
    assert shown is not None and shown["experiment"] == "same"
    stages = stage_rows(run, paper.stage_table)
    assert {**shown, "experiment": "flow"} == json.loads(
        json.dumps(summarise(run, stages))
    )
    assert Runner(rerun=True).stored_summary(paper, Request("flow")) is None
    assert Runner(False).stored_summary(paper, Request("flow")) is None


def test_stages_are_detected_anew_where_their_code_has_changed(toy, paper):
    Runner().run(paper, Request("flow"))
    # The stage table of another module.
    other = replace(paper, stage_table=stage_table_of_nothing)
    shown = Runner().stored_summary(other, Request("flow"))
    assert shown is not None and shown["stages"] == []
    (kept,) = Store().list()
    assert kept["stages"] == [] and len(toy.calls) == 1
    again = Runner().stored_summary(paper, Request("flow"))
    assert again is not None and again["stages"][1]["note"] == "not reached"


def stage_table_of_nothing(run):
    return []


def test_a_damaged_run_is_not_shown_from_its_summary(toy, paper):
    id = Runner().run(paper, Request("flow")).attrs["id"]
    flip(Store().path(id), 100)
    assert Runner().stored_summary(paper, Request("flow")) is None


def test_an_unwritable_store_warns_and_keeps_the_run(toy, paper, tmp_path):
    (tmp_path / "file").write_text("")
    runner = Runner(Store(tmp_path / "file" / "runs"))
    with pytest.warns(StoreWarning, match="ATTNFLOW_STORE"):
        run = runner.run(paper, Request("flow"))
    assert run["loss"].size == 3


def test_a_damaged_run_is_computed_anew(toy, paper):
    id = Runner().run(paper, Request("flow")).attrs["id"]
    flip(Store().path(id), -1)
    with pytest.warns(StoreWarning, match="damaged"):
        Runner().run(paper, Request("flow"))
    assert len(toy.calls) == 2
    Store().read(id)


def test_an_interrupted_run_is_returned_but_not_stored(toy, paper):
    runner = Runner()
    run = runner.run(paper, Request("flow", {"ends": "interrupted"}))
    assert str(run["outcome"].values[0]) == "interrupted"
    assert Store().list() == []
    with pytest.raises(KeyboardInterrupt):
        runner.gather(paper, {"main": Request("flow", {"ends": "interrupted"})})


def test_a_failing_detector_does_not_cost_the_run(toy):
    def broken(run):
        raise ZeroDivisionError

    with pytest.warns(StoreWarning, match="stages"):
        Runner().run(toy_paper(stage_table=broken), Request("flow"))
    assert len(Store().list()) == 1


def test_progress_is_told(toy, paper):
    told = []
    Runner(progress=lambda *seen: told.append(seen)).run(paper, Request("flow"))
    assert told == [(0.0, "step 0"), (1 / 3, "step 1"), (2 / 3, "step 2")]


def test_run_by_name(toy):
    run = af.run("toy/flow", seeds=3, width="infinite")
    assert run.sizes["seed"] == 3
    assert '"infinite"' in run.attrs["setting"]
    af.run("toy/flow", seeds=[2, 4], store=False)
    assert toy.calls[1]["seeds"] == (2, 4)
    assert len(Store().list()) == 1


def test_run_an_experiment_of_ones_own(toy):
    own = ToyExperiment("own", {"ends": "finished"})
    assert af.run(own).attrs["experiment"] == "own"
    with pytest.raises(ValueError, match="width"):
        af.run(own, width=3)


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("tay/flow", {}, "Did you mean 'toy'"),
        ("toy/flaw", {}, "Did you mean 'flow'"),
        ("toy", {}, "toy/flow"),
        ("toy/flow", {"widht": 3}, "Did you mean 'width'"),
        ("toy/flow", {"width": "wide"}, "'infinite'"),
        ("toy/flow", {"learning_rate": -1}, "not positive"),
    ],
)
def test_wrong_names_and_values(toy, name, overrides, message):
    with pytest.raises(ValueError, match=message):
        af.run(name, **overrides)
    assert toy.calls == []


def test_a_check_is_asked_for_by_name(toy):
    plain, checked = af.run("toy/flow"), af.run("toy/flow", check=True)
    assert [call["check"] for call in toy.calls] == [False, True]
    assert plain.attrs["id"] != checked.attrs["id"]
