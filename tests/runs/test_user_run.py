"""What a user's run lacks is told from mistakes of a judge."""

from dataclasses import asdict, dataclass, replace

import pytest

import attnflow as af
from attnflow.claims import Exact, Finding
from attnflow.runs.runner import Runner
from attnflow.runs.user_run import (
    JudgeError,
    NotRecorded,
    Place,
    differences,
    guarded_run,
    judge_user_run,
)
from attnflow.schema.conditions import at_least
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.settings import canonical_json
from tests.claims.toy import corrected_claim
from tests.toy import ToySetting, make_run, toy_claim, toy_paper


@dataclass(frozen=True)
class Recording(ToySetting):
    """Settings that say what is recorded, as those of all papers do."""

    record: tuple[str, ...] = ("loss", "attention", "score")


PAPER = toy_paper(
    recipes=(Recipe("flow", "A flow", Recording(), "tests.toy:build"),),
)
SAME = canonical_json(asdict(Recording()))


def own_run(**attrs):
    return make_run(**{"setting": SAME, **attrs})


def judged(judge, run, **changes):
    claim = replace(toy_claim(), judge=judge, **changes)
    (row,) = judge_user_run(PAPER, [claim], run, Runner(False))
    return row


def reading(name):
    """A judge that looks at one variable."""

    def judge(evidence):
        lowest = float(evidence["main"][name].min())
        return Finding((Exact(lowest, 10.0, "the lowest"),))

    return judge


def raising(error):
    def judge(evidence):
        raise error

    return judge


def test_a_run_that_has_everything_is_judged():
    assert str(judged(reading("loss"), own_run()).verdict) == "holds"


@pytest.mark.parametrize(
    "name", ["score", "score_at_end", "W_K_final", "refinement", "head"]
)
def test_what_its_experiment_records_is_lacking(name):
    row = judged(reading(name), own_run())
    assert str(row.verdict) == "unchecked"
    assert row.note.startswith(f"the run has no {name}. Record it too")


def test_several_variables_at_once():
    def judge(evidence):
        return evidence["main"][["loss", "score"]]

    assert "no score" in judged(judge, own_run()).note


def test_a_name_that_no_run_of_the_experiment_has_is_a_mistake():
    with pytest.raises(JudgeError, match="lost") as raised:
        judged(reading("lost"), own_run())
    assert isinstance(raised.value.__cause__, NotRecorded)


@pytest.mark.parametrize(
    "error", [ValueError("zero-size array"), KeyError("mu9"), IndexError("3 of 2")]
)
def test_other_errors_on_a_run_like_ours_are_mistakes(error):
    with pytest.raises(JudgeError, match="T-Thm1") as raised:
        judged(raising(error), own_run())
    assert raised.value.__cause__ is error
    assert f"{__file__}:" in str(raised.value)


def test_errors_of_other_kinds_are_raised_as_they_are():
    with pytest.raises(ZeroDivisionError):
        judged(raising(ZeroDivisionError()), own_run(setting="{}"))


@pytest.mark.parametrize(
    ("attrs", "told"),
    [
        ({"setting": SAME.replace('"width":4', '"width":8')}, "width=8 for 4"),
        ({"outcome": "diverged"}, "the outcome diverged"),
    ],
)
def test_a_run_unlike_ours_may_lack_what_the_judge_needs(attrs, told):
    row = judged(raising(ValueError("zero-size array")), own_run(**attrs))
    assert str(row.verdict) == "unchecked"
    assert told in row.note
    assert "ValueError: zero-size array" in row.note
    assert f"{__file__}:" in row.note


def test_a_run_without_a_setting_is_unlike_ours():
    run = own_run()
    del run.attrs["setting"]
    assert "no setting" in judged(raising(KeyError("mu9")), run).note


def test_seeds_matter_where_a_claim_names_them():
    planned = {"main": Request("flow", seeds=(7, 8))}
    broken = raising(IndexError("seed 8"))
    row = judged(broken, own_run(), needs=planned)
    assert "the seeds [0, 1] for [7, 8]" in row.note
    with pytest.raises(JudgeError):
        judged(broken, own_run(seeds=(7, 8)), needs=planned)


def test_times_that_a_run_of_ours_has():
    recipe = af.paper("mixture").recipe("figure1")

    def told(records):
        setting = recipe.with_overrides({"steps": 10.0, "records": records})
        ours = recipe.experiment(setting)
        return differences(make_run(), Place(("main",), {}), ours=ours, seeds=None)

    # The run has the times 0, 1 and 10.
    assert told(2) == ""
    assert told(3).startswith("not 1 of the 3 times")


def test_a_correction_is_guarded_too():
    claim = corrected_claim()
    fixed = replace(claim.correction, judge=raising(ValueError("no root")))

    def fails(evidence):
        return Finding((Exact(1.0, 0.1, "an error"),))

    with pytest.raises(JudgeError, match="no root"):
        judged(fails, own_run(), correction=fixed)


def conditions(setting):
    return [at_least("width", "width ≥ 4", setting["width"], 4)]


def of_run(run):
    lowest = float(run["loss"].min())
    return [at_least("loss", "a loss of 0.05", lowest, 0.05)]


def scope_of(run, *, under=("width", "loss")):
    paper = replace(PAPER, conditions=conditions, run_conditions=of_run)
    claim = replace(toy_claim(), judge=reading("attention"), under=under)
    (row,) = judge_user_run(paper, [claim], run, Runner(False))
    return row


def test_the_scope_is_that_of_the_users_own_run():
    row = scope_of(own_run())
    assert (str(row.scope), row.slack) == ("theorem", 1.0)
    narrow = own_run(setting=SAME.replace('"width":4', '"width":2'))
    row = scope_of(narrow)
    assert (str(row.scope), row.slack) == ("beyond", 0.5)
    assert row.missed == ("width (width ≥ 4) is missed by a factor of 2",)


def test_items_that_the_run_cannot_tell_are_unread():
    row = scope_of(own_run().drop_vars("loss"))
    assert row.unread == ("width", "loss")
    run = own_run()
    del run.attrs["setting"]
    row = scope_of(run)
    assert (str(row.scope), row.unread) == ("beyond", ("width", "loss"))


def test_a_claim_that_is_unchecked_has_the_scope_of_the_users_run():
    narrow = own_run(setting=SAME.replace('"width":4', '"width":2'))
    row = scope_of(narrow.drop_vars("attention"), under=("width",))
    assert str(row.verdict) == "unchecked"
    assert (str(row.scope), row.slack) == ("beyond", 0.5)


def test_what_is_missing_is_missing_after_selections_too():
    with pytest.raises(NotRecorded):
        guarded_run(make_run()).isel(seed=[0]).sel(time=[0.0, 1.0])["score"]
    assert guarded_run(make_run())["loss"].dims == ("seed", "time")
