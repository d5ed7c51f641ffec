"""Which runs claims need, in which order workers take them, and when they judge."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from attnflow.claims import with_seeds
from attnflow.runs.plan import MakeRun, Plan, carry_out, make_plan, past_costs, pick
from attnflow.runs.pool import Here, Pool
from attnflow.runs.store import Store
from attnflow.runs.verify import Judge, verdict_key
from attnflow.schema.declarations import Request
from attnflow.schema.files import WriteError, write_text
from tests.toy import make_run, toy_claim, toy_paper

HERE = Path("nowhere")


@dataclass(frozen=True)
class Unwritable:
    """A job that writes where no directory is."""

    verb = "drawn"
    usual_seconds = 0.1

    def do(self):
        write_text(Path("/nowhere/at/all/file"), "text")


@pytest.mark.parametrize("team", [Here(), Pool(1)], ids=["here", "pool"])
def test_what_the_system_says_against_a_file_is_no_fault_of_ours(team):
    """The driver hears the same error that a worker met, which is a sentence."""
    plan = Plan([Unwritable()], {}, {})
    with closing(team), pytest.raises(WriteError, match=r"no directory.*Make its"):
        list(carry_out(plan, team, "exhibits"))


def plan_of(paper, *, seeds, root):
    jobs = {
        Judge(paper.slug, claim.id, seeds, root, claim.id): (
            paper,
            list(with_seeds(claim.needs, seeds).values()),
        )
        for claim in paper.claims
    }
    return make_plan(jobs, root)


@pytest.fixture
def plan(toy):
    return plan_of(toy_paper(), seeds=2, root=HERE)


def test_runs_that_claims_share_are_made_once(plan):
    assert [dict(job.request.overrides) for job in plan.waiting] == [
        {},
        {"width": "infinite"},
    ]
    assert all(job.request.seeds == 2 for job in plan.waiting)
    assert len(plan.jobs) == 4


def test_a_claim_is_judged_when_its_last_run_is_made(plan):
    shared, wide = plan.waiting[:]
    plan.waiting.clear()
    plan.settle(shared)
    assert [job.id for job in plan.waiting] == ["T-Thm1"]
    plan.settle(plan.waiting.pop())
    assert plan.waiting == []
    plan.settle(wide)
    assert [job.id for job in plan.waiting] == ["T-Thm2"]
    assert not plan.lacking


def test_the_dearest_family_comes_first(toy, tmp_path):
    store = Store(tmp_path)
    store.write(make_run(wall_seconds=5.0))
    assert past_costs(store) == {("toy", "flow"): 5.0}
    widths = {str(w): Request("flow", {"width": w}, seeds=1) for w in (1, 2, 3)}
    many = toy_claim("T-Many", widths)
    paper = toy_paper(claims=(toy_claim("T-One"), many))
    plan = plan_of(paper, seeds=1, root=tmp_path)
    assert [job.request.overrides.get("width") for job in plan.waiting] == [
        *(1, 2, 3),
        None,
    ]
    assert plan.cost(plan.waiting[0]) == 5.0


def job(*family):
    return MakeRun("toy", Request("flow"), HERE, "-".join(family), family)


def test_who_takes_what():
    judge = Judge("toy", "T-Thm1", 1, HERE, "key")
    waiting = [job("a"), job("b"), job("c"), judge]
    assert pick(waiting, None, []) == 3
    assert pick(waiting, job("b"), []) == 1
    assert pick(waiting, job("d"), []) == 3
    waiting.pop()
    assert pick(waiting, None, []) == 0
    assert pick(waiting, job("b"), [job("b")]) == 1
    assert pick(waiting, None, [job("a"), judge]) == 1
    assert pick(waiting, judge, [job("a"), job("b"), job("c")]) == 0


def test_what_decides_a_verdict(toy):
    paper = toy_paper()
    one, two = paper.claims
    key = verdict_key(paper, one, 3)
    assert key == verdict_key(paper, replace(one, judge=two.judge), 3)
    others = [
        verdict_key(paper, two, 3),
        verdict_key(paper, one, 4),
        verdict_key(replace(paper, slug="other"), one, 3),
        verdict_key(paper, replace(one, needs={"main": Request("flow", seeds=9)}), 3),
        verdict_key(
            paper, replace(one, needs={"main": Request("flow", {"width": 9})}), 3
        ),
    ]
    assert len({key, *others}) == 6
    planned = replace(one, needs={"main": Request("flow", seeds=(5, 6))})
    assert verdict_key(paper, planned, 3) == verdict_key(paper, planned, 4)
