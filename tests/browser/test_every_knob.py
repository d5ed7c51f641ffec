"""Every knob of every page, moved alone as a reader moves it, against `run`."""

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from attnflow.browser.lowering import Unsupported
from attnflow.experiments import run
from attnflow.papers.base import paper
from attnflow.schema.installation import MissingData
from tests.browser.node import NODE
from tests.browser.test_explorer import WITHOUT, made, offered, trains
from tests.browser.test_kernels import ROUNDING, tolerance_of
from tests.browser.test_player import PLAYER
from tests.core import mostly_slow

FAST = ("mixture/figure1",)
BESIDE = 1.07
"""A value beside the default, as somebody types it."""
HALTS = 1e-3
"""A flow that slides along a kink ends after some thousand of the tiny steps that are
left to its solver there: how far they lead depends on the solver."""


def moves_of(experiment):
    """No move, then each slider to both ends and beside its default, each choice."""
    yield None, None
    for knob in experiment["knobs"]:
        usual = knob["default"]
        if knob["kind"] == "choice":
            values = [value for value in knob["values"] if value != usual]
        else:
            beside = usual * BESIDE if usual else 0.1 * knob["high"]
            values = [knob["low"], knob["high"], min(beside, knob["high"])]
        yield from ((knob["name"], value) for value in values)


def moved(replay, tmp_path):
    """What the page's own code says after each of these moves."""
    job = {"document": replay.document, "moves": list(moves_of(replay.experiment))}
    (tmp_path / "job.json").write_text(json.dumps(job))
    script = str(Path(__file__).with_name("move_knobs.js"))
    command = [NODE, script, str(PLAYER), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Python:
    """What Python runs at settings of a page."""

    def __init__(self, replay):
        self.page = replay.experiment
        slug, id = self.page["name"].split("/")
        self.paper, self.recipe = paper(slug), paper(slug).recipe(id)

    def experiment(self, setting, **more):
        fixed = {
            name: tuple(value) if name == "record" else value
            for name, value in self.page["setting"].items()
            if value is not None
        }
        moved = {name: value for name, value in setting.items() if name != "seed"}
        return self.recipe.experiment(
            self.recipe.with_overrides({**fixed, **moved, **more})
        )

    def run(self, setting, **more):
        """The run, of a flow with a hundredth of its tolerance.

        Where a ReLU switches off inside a step, a flow is off by some ten tolerances.
        """
        experiment = self.experiment(setting)
        stated = experiment.setting
        fine = {n: stated[n] / 100 for n in ("rtol", "atol") if stated.get(n)}
        if not (experiment.is_flow and fine.get("rtol", 0.0) >= 1e-14):
            fine = {}
        return run(self.experiment(setting, **fine, **more), seeds=(setting["seed"],))

    def twins(self, setting):
        """Runs of settings that are one ulp away, in one number each.

        How far they part is what float64 can tell of this setting.
        """
        numbers = [
            knob["name"]
            for knob in self.page["knobs"]
            if knob["kind"] == "number" and knob["name"] not in LENGTHS
        ]
        for name in numbers:
            yield self.run(setting, **{name: np.nextafter(setting[name], np.inf)})


LENGTHS = ("steps", "until", "horizon")


def differences(rows, run):
    """By observable, the largest difference up to each record."""
    found = {}
    for name, row in rows.items():
        theirs = run[name].isel(seed=0).values
        gap = np.abs(row.reshape(theirs.shape) - theirs).reshape(len(theirs), -1)
        found[name] = np.fmax.accumulate(np.nan_to_num(gap.max(axis=1), nan=0.0))
    return found


def check(python, job):
    """Hold one move to Python: outcome, ends, records and stages."""
    setting = {"seed": 0, **job["setting"]}
    tolerance = tolerance_of(python.experiment(setting))
    expected = python.run(setting)
    rows = {
        name: np.frombuffer(base64.b64decode(text)).reshape(len(job["times"]), -1)
        for name, text in job["rows"].items()
    }
    where = f"{job['knob']} = {job['value']}"
    alone = expected.isel(seed=0)
    assert job["outcome"] == str(alone.outcome.values), where
    near = HALTS if job["outcome"] == "out-of-steps" else tolerance
    ends = alone.stage_end.values[: len(job["ends"])]
    np.testing.assert_allclose(job["ends"], ends, rtol=near, err_msg=where)
    np.testing.assert_allclose(job["times"], alone.time.values, rtol=1e-14)
    kept = np.isfinite(next(iter(rows.values()))[:, 0])
    np.testing.assert_array_equal(kept, alone.recorded.values, err_msg=where)
    largest = max(np.nanmax(np.abs(row), initial=0.0) for row in rows.values())
    gaps = differences(rows, expected)
    near = {}
    for name in rows:
        size = np.nanmax(np.abs(alone[name].values), initial=0.0)
        near[name] = max(tolerance * size, ROUNDING * largest)
    if any((gaps[name] > near[name]).any() for name in rows):
        spread = {name: np.zeros(len(kept)) for name in rows}
        for twin in python.twins(setting):
            apart = differences(
                {n: alone[n].values.reshape(len(kept), -1) for n in rows}, twin
            )
            spread = {n: np.maximum(spread[n], apart[n]) for n in rows}
        for name in rows:
            allowed = np.maximum(10 * spread[name], near[name])
            assert (gaps[name] <= allowed).all(), f"{name} at {where}"
    check_stages(python, job, expected, tolerance, where)


def check_stages(python, job, expected, tolerance, where):
    """Each stage that the page detects, at Python's time, and none that has none."""
    if python.paper.stage_table is None:
        return
    mine = {(row["name"], row["meaning"]): row for row in job["stages"]}
    for row in python.paper.stage_table(expected):
        page = next(
            r for (n, words), r in mine.items() if n == row.name and words in row.note
        )
        if page["note"].startswith(("not detected in this page", "not known")):
            continue
        theirs = row.detected
        if theirs is None or not np.isfinite(theirs):
            assert page["detected"] is None, f"{row.name} at {where}"
        else:
            near = pytest.approx(theirs, rel=max(1e-6, tolerance))
            assert page["detected"] == near, f"{row.name} at {where}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", mostly_slow(offered(), *FAST))
def test_every_knob_is_python_or_says_why_not(name, tmp_path):
    try:
        replay = made(name)
    except (Unsupported, MissingData) as reason:
        assert name in WITHOUT or not trains(name) or isinstance(reason, MissingData)
        pytest.skip(str(reason))
    jobs = moved(replay, tmp_path)
    assert {job["knob"] for job in jobs} == {
        None,
        *(knob["name"] for knob in replay.experiment["knobs"]),
    }
    python = Python(replay)
    played = 0
    for job in jobs:
        if job["problems"]:
            # The page never begins with a setting that it refuses.
            assert job["knob"] is not None
            assert all(problem["message"] for problem in job["problems"])
        else:
            check(python, job)
            played += 1
    assert 2 * played > len(jobs), "most moves are played"
