"""What pages play against `run`: all records, at defaults and at random knobs."""

import base64
import functools
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnflow.browser.explorer.document import document, documents
from attnflow.browser.explorer.replay import NotOffered, Replay
from attnflow.browser.lowering import Unsupported
from attnflow.experiments import Computation, run
from attnflow.papers.base import SLUGS, paper
from attnflow.schema.installation import MissingData
from attnflow.site.agreements import with_agreement
from tests.browser.node import NODE
from tests.browser.test_kernels import CASES, ROUNDING, tolerance_of
from tests.browser.test_player import PLAYER
from tests.core import mostly_slow

VARIANTS = 6
FAST = ("mixture/figure1", "scansnap/figure3-c", "vit/theory-benign")
# Lengths of runs at which every experiment is tried in some seconds.
SHORT = {"steps": 60, "records": 7, "dense": 10, "until": 100.0, "test_samples": 20}
SIZES = {
    "signgd": {"embed": 200, "samples": 6, "support": 20, "test_samples": 4},
    "vit/figure1": {"samples": 4, "embed": 64, "key_width": 32, "value_width": 16},
    "vit/appendix-benign": {"samples": 4, "embed": 64},
    "vit/appendix-harmful": {"samples": 4, "embed": 64},
    # At 60 samples the drawn start takes 1.8 MB, more than a page has room for.
    "cooccurrence/theory": {"horizon": 50.0, "samples": 12, "embed": 39},
    "cooccurrence/flow": {"steps": 1.0},
    "cooccurrence/quotient": {"horizon": 1000.0, "test_samples": 0},
}


# Experiments that train and have no page: images are too many, float32 is not compiled.
# Any other must have one.
WITHOUT = (
    *("vit/mnist", "signgd/stack", "signgd/noisy-mnist"),
    *("scansnap/wikitext", "scansnap/wikitext-notebook", "scansnap/wikitext-plain"),
)
DESCENTS = ("gd", "momentum", "signgd", "adam")
SLIDERS = {"bias", "learning_rate", "omega", "steps", "value_scale"}
STAGES = ("t_neuron", "t_consistent", "t_onset", "t_attention", "t_conflict")


def trains(name):
    slug, id = name.split("/")
    recipe = paper(slug).recipe(id)
    return not isinstance(recipe.experiment(recipe.setting), Computation)


def sizes_of(name):
    """Overrides of an experiment that make it short and small."""
    slug, id = name.split("/")
    setting = paper(slug).recipe(id).setting
    wanted = {**SHORT, **SIZES.get(slug, {}), **SIZES.get(name, {})}
    wanted |= CASES.get(name, {})
    return {n: v for n, v in wanted.items() if hasattr(setting, n)}


@functools.cache
def made(name, **more):
    """A page of one experiment, made once for all tests that ask it something."""
    slug, id = name.split("/")
    overrides = {**sizes_of(name), **more}
    return Replay(document(paper(slug), [id], overrides, most=VARIANTS))


def random_setting(replay, draw):
    """Another value of every slider, and one of the variants.

    Flows of what was declared as a descent may slide along a ReLU's kink by very short
    steps; flows are tried where they are declared.
    """
    declared = replay.experiment["setting"].get("rule")
    variants = [
        variant
        for variant in replay.experiment["variants"]
        if variant["choices"].get("rule", declared) in (declared, *DESCENTS)
    ]
    setting = dict(variants[draw.integers(len(variants))]["choices"])
    variant = replay.variant(replay.complete(setting))
    for knob in replay.experiment["knobs"]:
        if knob["kind"] == "number" and knob["name"] not in variant["fixed"]:
            if knob["name"] in ("steps", "until", "horizon"):
                continue
            scale = draw.uniform(0.8, 1.1)
            value = knob["default"] * scale if knob["default"] else 0.1 * scale
            setting[knob["name"]] = min(max(value, knob["low"]), knob["high"])
    return setting


def check(replay, setting):
    """Hold what the document plays to what Python runs."""
    whole = replay.complete(setting)
    mine = replay.play(setting)
    name = replay.experiment["name"]
    slug, id = name.split("/")
    recipe = paper(slug).recipe(id)
    fixed = {
        # A page may record more than the experiment does by default.
        n: tuple(v) if n == "record" else v
        for n, v in replay.experiment["setting"].items()
        if v is not None
    }
    fields = {**fixed, **{n: v for n, v in whole.items() if n != "seed"}}
    tolerance = tolerance_of(recipe.experiment(recipe.with_overrides(fields)))
    # Where a ReLU switches off inside a step, a flow is off by some ten tolerances:
    # of two such flows, Python's is solved far more accurately.
    if fields.get("rtol", 0.0) >= 1e-12:
        fields |= {n: fields[n] / 100 for n in {"rtol", "atol"} & fields.keys()}
    experiment = recipe.experiment(recipe.with_overrides(fields))
    expected = run(experiment, seeds=(whole["seed"],)).isel(seed=0)
    assert mine.outcome.label == str(expected.outcome.values), setting
    np.testing.assert_allclose(mine.ends, expected.stage_end.values, rtol=tolerance)
    np.testing.assert_allclose(mine.times, expected.time.values, rtol=1e-14)
    np.testing.assert_array_equal(mine.recorded, expected.recorded.values)
    largest = max(np.nanmax(np.abs(rows), initial=0.0) for rows in mine.rows.values())
    for observable, rows in mine.rows.items():
        theirs = expected[observable].values
        size = np.nanmax(np.abs(theirs), initial=0.0)
        near = max(tolerance * size, ROUNDING * largest)
        message = f"{observable} at {setting}"
        np.testing.assert_allclose(rows, theirs, rtol=0, atol=near, err_msg=message)


def offered():
    """Experiments that train, by name."""
    for slug in SLUGS:
        for recipe in paper(slug).recipes:
            yield f"{slug}/{recipe.id}"


def test_no_slider_and_no_stage_is_lost():
    """What cannot be followed is left out, so that what can be is named here."""
    (experiment,) = made("mixture/figure1").document["experiments"]
    numbers = {k["name"] for k in experiment["knobs"] if k["kind"] == "number"}
    assert numbers == SLIDERS
    stages = [row["name"] for row in experiment["stages"]]
    assert stages[: len(STAGES)] == list(STAGES)


def test_each_experiment_of_a_page_is_measured(tmp_path, monkeypatch):
    """Beside the run of the store, which is there once."""
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path))
    whole = with_agreement(paper("mixture"), made("mixture/figure1").document)
    again = with_agreement(paper("mixture"), made("mixture/figure1").document)
    (experiment,), (other,) = whole["experiments"], again["experiments"]
    assert experiment["agreement"] == other["agreement"]
    assert len(list(tmp_path.glob("*.run"))) == 1
    measured = experiment["agreement"]["observables"]
    assert {o["name"] for o in experiment["observables"]} == set(measured)
    assert max(measured.values()) < 1e-12
    assert experiment["agreement"]["zero"] == []


def test_a_page_that_is_wrong_is_seen_to_be(tmp_path, monkeypatch):
    """A document whose rate is another one than it says; one that records no more."""
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path))
    page = made("mixture/figure1")
    (experiment,) = page.document["experiments"]
    knobs = [
        {**k, "default": 0.2} if k["name"] == "learning_rate" else k
        for k in experiment["knobs"]
    ]
    wrong = {**page.document, "experiments": [{**experiment, "knobs": knobs}]}
    (shown,) = with_agreement(paper("mixture"), wrong)["experiments"]
    assert shown["agreement"]["observables"]["loss"] > 1e-3
    knobs = [
        {**k, "default": 1e99} if k["name"] == "learning_rate" else k
        for k in experiment["knobs"]
    ]
    wrong = {**page.document, "experiments": [{**experiment, "knobs": knobs}]}
    (shown,) = with_agreement(paper("mixture"), wrong)["experiments"]
    assert shown["agreement"]["observables"]["loss"] is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", mostly_slow(offered(), *FAST))
def test_a_page_plays_what_python_runs(name):
    try:
        replay = made(name)
    except Unsupported as reason:
        assert name in WITHOUT or not trains(name), reason
        pytest.skip(str(reason))
    except MissingData as reason:
        pytest.skip(str(reason))
    json.dumps(replay.document, allow_nan=False)
    check(replay, {"seed": 0})
    draw = np.random.default_rng(len(name))
    played = 0
    for _ in range(20):
        setting = random_setting(replay, draw)
        try:
            check(replay, setting)
        except NotOffered:
            continue
        played += 1
        if played == 3:
            break
    assert played == 3


def test_a_page_shows_attention_where_its_experiment_records_none():
    usual = paper("vit").recipe("figure1").setting.record
    experiment = made("vit/figure1").experiment
    assert experiment["attention"]["observable"] == "attention"
    assert experiment["given"]["record"] == [*usual, "attention"]
    # What a reader has chosen to record is what is recorded.
    chosen = made("vit/figure1", record=("loss",)).experiment
    assert [o["name"] for o in chosen["observables"]] == ["loss"]


def test_a_map_of_several_rows_is_preferred_to_a_single_row():
    experiment = made("scansnap/figure3").experiment
    assert experiment["attention"]["observable"] == "attention_per_class"
    alone = made("scansnap/figure3", record=("loss", "score")).experiment
    assert alone["attention"]["observable"] == "score"


def test_an_experiment_without_its_data_is_left_out(monkeypatch, tmp_path):
    """The others have their page, which names no directory of this machine."""
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    whole = paper("scansnap")
    few = [r for r in whole.recipes if r.id in ("wikitext", "figure3-c")]
    (part,) = documents(replace(whole, recipes=few), most=1)
    assert [e["id"] for e in part["experiments"]] == ["figure3-c"]
    (missing,) = part["missing"]
    assert missing["id"] == "wikitext" and "data" in missing["why"]
    assert str(tmp_path) not in json.dumps(part)


def by_node(replay, settings, tmp_path):
    """What the page's own code says of some settings."""
    job = {"document": replay.document, "settings": settings}
    (tmp_path / "job.json").write_text(json.dumps(job))
    script = str(Path(__file__).with_name("play_document.js"))
    command = [NODE, script, str(PLAYER), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, check=True)
    return json.loads(done.stdout)


def test_node_plays_the_bits_of_wasmtime(tmp_path):
    """The page's own code, at the defaults and at another setting."""
    replay = made("mixture/figure1")
    settings = [{}, {"omega": 0.07, "bias": 0.6, "width": "infinite"}]
    for setting, theirs in zip(
        settings, by_node(replay, settings, tmp_path), strict=True
    ):
        mine = replay.play(setting)
        assert theirs["problems"] == [] and theirs["outcome"] == mine.outcome.label
        np.testing.assert_array_equal(theirs["times"], mine.times)
        for name, rows in mine.rows.items():
            bits = np.frombuffer(base64.b64decode(theirs["rows"][name]))
            np.testing.assert_array_equal(bits, rows.ravel(), err_msg=name)
        stages = {row["name"]: row for row in theirs["stages"]}
        assert {"t_neuron", "t_onset"} <= set(stages)


STAGED = {
    "cooccurrence/quotient": ({}, {"seed": 0}, 3),
    "mixture/three-stage": ({}, {"omega": 0.2, "bias": 0.4}, 4),
    "vit/theory-benign": ({}, {"values": 0.12}, 1),
    "signgd/setting-a": ({"steps": 800}, {}, 3),
}
"""Sizes, another setting, and how many stages are to be reached."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    mostly_slow(STAGED, "cooccurrence/quotient", "vit/theory-benign"),
)
def test_stages_that_are_functions_of_a_run_are_detected(name, tmp_path):
    """Each row of the paper's own table, by its words: one time, or none, in both."""
    sizes, setting, least = STAGED[name]
    replay = made(name, **sizes)
    (theirs,) = by_node(replay, [setting], tmp_path)
    run = python_run(replay, setting)
    rows = {(r["name"], r["meaning"]): r for r in theirs["stages"]}
    table = paper(name.split("/")[0]).stage_table(run)
    reached = 0
    for row in table:
        mine = next(
            r for (n, words), r in rows.items() if n == row.name and words in row.note
        )
        if "not detected in this page" in mine["note"]:
            continue
        reached += row.detected is not None
        assert is_same(mine["detected"], row.detected, 1e-6), row.name
        if mine["formula"] is not None:
            assert mine["formula"] == pytest.approx(row.formula, rel=1e-9), row.name
    assert reached >= least


def is_same(mine, theirs, rel):
    """One number, or none in both; infinity is no number of JSON."""
    if theirs is None or not np.isfinite(theirs):
        return mine is None
    return mine == pytest.approx(theirs, rel=rel)


def python_run(replay, setting):
    """The run in Python of a setting of a page."""
    slug, id = replay.experiment["name"].split("/")
    recipe = paper(slug).recipe(id)
    fixed = {
        n: v
        for n, v in replay.experiment["setting"].items()
        if n != "record" and v is not None
    }
    whole = {n: v for n, v in setting.items() if n != "seed"}
    experiment = recipe.experiment(recipe.with_overrides({**fixed, **whole}))
    return run(experiment, seeds=(setting.get("seed", 0),))


def test_conditions_are_those_of_python_at_every_setting(tmp_path):
    replay = made("mixture/figure1")
    settings = [{}, {"omega": 0.4, "bias": 0.9, "learning_rate": 2.0}]
    for setting, theirs in zip(
        settings, by_node(replay, settings, tmp_path), strict=True
    ):
        fields = {**replay.experiment["setting"], **setting}
        items = {item.name: item for item in paper("mixture").conditions(fields)}
        mine = {item["name"]: item for item in theirs["conditions"]}
        assert set(items) <= set(mine) and len(items) > 5
        for name, item in items.items():
            assert mine[name]["met"] is item.met, name
            assert is_same(mine[name]["slack"], item.slack, 1e-12), name


def test_stage_times_are_those_of_python(tmp_path):
    """Formulas, as programs, against the paper's stage table."""
    replay = made("mixture/figure1", width="infinite")
    setting = {"omega": 0.05, "bias": 0.7, "learning_rate": 0.2, "seed": 0}
    whole = replay.complete(setting)
    *_, formulas = replay.prepare(whole, replay.variant(whole))
    recipe = paper("mixture").recipe("figure1")
    fields = {n: v for n, v in setting.items() if n != "seed"}
    overrides = {**sizes_of("mixture/figure1"), **fields, "width": "infinite"}
    experiment = recipe.experiment(recipe.with_overrides(overrides))
    rows = paper("mixture").stage_table(run(experiment))
    expected = {n: r.formula for n, r in enumerate(rows) if r.formula is not None}
    assert formulas == pytest.approx(expected, rel=1e-12) and len(expected) == 3


def test_what_a_page_cannot_follow_it_refuses():
    replay = made("mixture/figure1")
    whole = replay.complete({"omega": 1e-9})
    with pytest.raises(NotOffered, match="another path"):
        replay.prepare(whole, replay.variant(whole))
    with pytest.raises(NotOffered, match="No variant"):
        replay.play({"width": 77})
