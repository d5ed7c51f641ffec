"""Scopes are computed from the conditions that judged runs meet."""

import json

import pytest

from attnflow.claims import (
    Kind,
    Scope,
    assumed_items,
    circumstances,
    declared_runs,
)
from attnflow.papers.base import paper
from attnflow.schema.conditions import at_least, exactly, of_order, unread
from attnflow.schema.declarations import Request
from tests.claims.toy import make_claim, make_evidence, make_paper


def conditions(setting):
    rate = setting["rate"]
    return [
        at_least("rate", "the rate is at least 1/20", rate, 0.05),
        of_order("one", "the rate is Θ(1)", rate, 1.0),
        exactly("K", "K = 2", 2, 2),
        unread("small", "small enough"),
    ]


PAPER = make_paper(conditions=conditions)


def claim(**changes):
    options = {
        "kind": Kind.UNIVERSAL,
        "under": ("rate", "K"),
        "needs": {"main": Request("flow")},
    }
    return make_claim(**{**options, **changes})


def evidence(**setting):
    run = make_evidence(2)["main"]
    return {"main": run.assign_attrs(setting=json.dumps({"rate": 0.1, **setting}))}


def test_all_items_met_is_theorem_with_the_smallest_slack():
    around = circumstances(claim(), evidence(), PAPER)
    assert around.scope is Scope.THEOREM
    assert around.slack == pytest.approx(2.0)
    assert (around.missed, around.unread) == ((), ())


def test_items_that_are_missed_say_by_what_factor():
    around = circumstances(claim(), evidence(rate=0.01), PAPER)
    assert around.scope is Scope.BEYOND
    assert around.slack == pytest.approx(0.2)
    (missed,) = around.missed
    assert (missed.name, missed.runs) == ("rate", ("main",))
    assert str(missed) == (
        "rate (the rate is at least 1/20) is missed by a factor of 5"
    )


def test_an_equality_is_met_or_not():
    paper = make_paper(conditions=lambda setting: [exactly("K", "K = 2", 3, 2)])
    around = circumstances(claim(under=("K",)), evidence(), paper)
    assert around.slack is None
    assert str(around.missed[0]) == "K (K = 2) is not met"


def test_missed_items_in_the_papers_own_setting_are_its_experiment():
    around = circumstances(
        claim(under=("strict",)),
        evidence(),
        make_paper(
            conditions=lambda setting: [at_least("strict", "at least 1", 0.1, 1.0)]
        ),
    )
    assert around.scope is Scope.EXPERIMENT
    assert around.missed
    ours = make_paper(
        place="", conditions=lambda setting: [at_least("strict", "", 0.1, 1.0)]
    )
    assert circumstances(claim(under=("strict",)), evidence(), ours).scope is (
        Scope.BEYOND
    )


def test_an_observation_is_never_of_a_theorem():
    observed = claim(kind=Kind.OBSERVATION, under=())
    assert circumstances(observed, evidence(), PAPER).scope is Scope.EXPERIMENT
    elsewhere = circumstances(observed, evidence(rate=0.3), PAPER)
    assert elsewhere.scope is Scope.BEYOND


def test_a_statement_without_conditions_is_about_every_run():
    free = circumstances(claim(under=()), evidence(rate=0.01), PAPER)
    assert (free.scope, free.slack) == (Scope.THEOREM, None)


def test_runs_for_comparison_do_not_count():
    needs = {"main": Request("flow"), "other": Request("flow", {"rate": 0.01})}
    both = {**evidence(), "other": evidence(rate=0.01)["main"]}
    judged = claim(needs=needs, judged=("main",))
    assert circumstances(judged, both, PAPER).scope is Scope.THEOREM
    every = circumstances(claim(needs=needs, judged=()), both, PAPER)
    assert every.scope is Scope.BEYOND
    assert every.missed[0].runs == ("other",)
    with pytest.raises(ValueError, match="which it does not need"):
        claim(judged=("others",))


def test_items_that_no_number_decides_are_listed():
    around = circumstances(claim(under=("rate", "small")), evidence(), PAPER)
    assert around.scope is Scope.THEOREM
    assert around.unread == ("small",)


def test_items_of_the_run_itself():
    def of_run(run):
        last = float(run["loss_by_group"].isel(time=-1).max())
        return [exactly("learned", "the loss ends at 0", round(last, 1), 0.0)]

    paper = make_paper(conditions=conditions, run_conditions=of_run)
    about_runs = claim(under=("learned",))
    assert circumstances(about_runs, evidence(), paper).scope is Scope.THEOREM
    declared = circumstances(about_runs, declared_runs(about_runs, paper), paper)
    assert declared.unread == ("learned",)


def test_a_run_without_a_setting_is_beyond():
    run = evidence()["main"]
    del run.attrs["setting"]
    around = circumstances(claim(), {"main": run}, PAPER)
    assert around.scope is Scope.BEYOND
    assert around.unread == ("rate", "K")


def test_an_item_that_the_conditions_do_not_have_is_an_error():
    with pytest.raises(ValueError, match=r"assumes \['width'\]"):
        circumstances(claim(under=("width",)), evidence(), PAPER)


def test_items_by_judged_run():
    items = assumed_items(claim(under=("one", "rate")), evidence(), PAPER)
    assert list(items["main"]) == ["one", "rate"]
    assert items["main"]["rate"].slack == pytest.approx(2.0)


@pytest.mark.parametrize(
    "slug", ["mixture", "cooccurrence", "signgd", "vit", "scansnap"]
)
def test_another_optimiser_is_beyond(slug):
    """Every claim of every paper on runs of AdamW, and on runs that decay."""
    declared, changed = paper(slug), 0
    for claim in declared.claims:
        runs = declared_runs(claim, declared)
        for fields in ({"rule": "adamw"}, {"weight_decay": 0.1}, {"clip": 1.0}):
            settings = {
                name: json.loads(run.attrs["setting"]) for name, run in runs.items()
            }
            judged = claim.judged or tuple(claim.needs)
            if not all("weight_decay" in settings[name] for name in judged):
                continue
            own = [settings[name] for name in judged]
            if all(setting[n] == v for setting in own for n, v in fields.items()):
                continue
            free = [declared.recipe(claim.needs[n].experiment).free for n in judged]
            if any(set(fields) & set(names) for names in free):
                continue
            other = {
                name: run.assign_attrs(setting=json.dumps({**settings[name], **fields}))
                for name, run in runs.items()
            }
            around = circumstances(claim, other, declared)
            assert around.scope is Scope.BEYOND, (claim.id, fields)
            if claim.under:
                assert set(fields) <= {missed.name for missed in around.missed}
            changed += 1
    assert changed > 20
