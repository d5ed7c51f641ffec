"""How a claim came to its verdict, in words, code and numbers."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from attnflow.claims import (
    All,
    AtMost,
    Estimate,
    Exact,
    HighProbability,
    Kind,
    Ladder,
    LargeEnough,
    Rule,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
    circumstances,
    judge,
    make_row,
)
from attnflow.claims.source_code import sources
from attnflow.claims.stages import first_crossing, record_detections
from attnflow.schema.conditions import Condition
from attnflow.site.explain import explain
from attnflow.site.explain.explanation import over_seeds, seed_names
from attnflow.site.explain.failing import fails_where
from tests.claims import toy

SIZES = (1.0, 10.0, 100.0, 1e3, 1e4)
INVENTORY = {
    "lemma": [
        {"id": "Lemma 1", "claims": ["T-Time"]},
        {"id": "Lemma 2", "uses": ["Lemma 1", "Lemma 3"], "claims": ["T-Order"]},
        {"id": "Lemma 3"},
    ],
    "theorem": [{"id": "Theorem 1", "uses": ["Lemma 2"]}],
}


@pytest.fixture
def evidence():
    return toy.make_evidence(3)


def claim(**changes):
    return replace(
        toy.make_claim(), needs={"main": toy.make_claim().needs["main"]}, **changes
    )


def explained(claim, evidence, **options):
    paper = toy.make_paper(**options)
    around = circumstances(claim, evidence, paper)
    row = make_row(claim, "toy", judge(claim, evidence), around, seconds=0.0)
    return explain(paper, claim, evidence, row)


def test_an_explanation_has_all_that_led_to_the_verdict(evidence):
    explanation = explained(claim(), evidence)
    assert explanation.row.verdict is Verdict.HOLDS
    assert [source.name for source in explanation.code] == ["order_holds", "learned"]
    assert explanation.code[0].text.startswith("def order_holds(evidence):")
    assert explanation.code[0].file.endswith("tests/claims/toy.py")
    assert explanation.settings["main"]["experiment"] == "flow"
    assert explanation.reads == ("loss_by_group",)
    (seeds,) = explanation.seeds.values()
    assert [one["seed"] for one in seeds] == ["0", "1", "2"]
    assert all(one["held"] and one["margin"] > 0 for one in seeds)
    json.dumps(explanation.as_json(), allow_nan=False)


def test_three_equal_seeds_are_one_number():
    assert over_seeds([0.5, 0.5, 0.5]) == 0.5
    assert over_seeds([0.5, 0.5, 0.6]) == [0.5, 0.5, 0.6]
    assert over_seeds([0.5, 0.5]) == [0.5, 0.5]
    assert over_seeds(2.0) == 2.0


def test_the_items_that_the_statement_assumes_have_their_slack(evidence):
    def conditions(setting):
        rate = setting["rate"]
        return [
            Condition("(1)", "a rate", rate, 0.05, 1.0),
            Condition("(2)", "a large rate", rate, least=0.2),
            Condition("(3)", "of another theorem", rate, least=9.0),
        ]

    assuming = claim(under=("(1)", "(2)"))
    explanation = explained(assuming, evidence, conditions=conditions)
    items = explanation.items["main"]
    assert [item.met for item in items.values()] == [True, False]
    content = explanation.as_json()["items"]["main"]
    assert [item["slack"] for item in content] == [2.0, 0.5]
    assert explained(claim(), evidence).items == {"main": {}}


def test_of_a_corrected_claim_both_statements_are_explained(evidence):
    corrected = toy.corrected_claim()
    needs = {"main": corrected.needs["main"]}
    explanation = explained(replace(corrected, needs=needs), evidence)
    assert explanation.as_json()["words"] == (
        "fails as printed; holds with another constant"
    )
    (printed,), (fixed,) = (
        reading.finding.checks
        for reading in (explanation.printed, explanation.corrected)
    )
    assert printed.error > printed.tolerance > fixed.error
    assert explanation.fails_where[1].startswith("as corrected: time: an error above")


def test_trials_say_which_changes_make_it_fail(evidence):
    judge = AtMost("loss", lambda run: run["loss_by_group"].isel(time=-1), 0.5)
    last = claim(judge=judge, kind=Kind.UNIVERSAL)
    tried = explained(last, evidence).tried
    assert tried.statement == "as printed"
    assert "loss_by_group constant along time in main" in tried.failing
    assert 0 < len(tried.failing) < tried.changes
    assert tried.unknown["cut"] == "inconclusive"
    assert set(tried.mutations) == set(last.mutations)
    assert "fails" in tried.mutations.values()


def test_of_a_claim_that_fails_the_correction_is_tried_and_the_mends(evidence):
    corrected = toy.corrected_claim()
    needs = {"main": corrected.needs["main"]}
    tried = explained(replace(corrected, needs=needs), evidence).tried
    assert tried.statement == "as corrected"
    assert tried.failing
    assert list(tried.mends.values()) == ["holds"]


def test_the_statements_around_it_with_their_recorded_verdicts(evidence):
    claims = (claim(), toy.corrected_claim())
    around = explained(claim(), evidence, inventory=INVENTORY, claims=claims).around
    assert around.judges == ("Lemma 2",)
    first, second = around.uses
    words = "fails as printed; holds with another constant"
    assert (first.id, first.claims) == ("Lemma 1", {"T-Time": words})
    assert (second.id, second.claims) == ("Lemma 3", {})
    assert [user.id for user in around.used_by] == ["Theorem 1"]


def test_only_listeners_hear_of_detections(evidence):
    run = evidence["main"]
    loss = "loss_by_group[consistent]"
    with record_detections() as heard:
        event = first_crossing(run, loss, level=0.1, direction="down")
    first_crossing(run, loss, level=0.2, direction="down")
    (detection,) = heard
    assert (detection.level, detection.times) == (0.1, tuple(event.times))


def outer(evidence, factor=1.0):
    return inner(factor)


def inner(factor):
    return np.float64(factor)


def test_code_is_that_of_the_function_and_of_its_own_package():
    judge = partial(partial(outer, factor=2.0))
    assert [source.name for source in sources(judge)] == ["outer", "inner"]
    (source,) = sources(lambda evidence: None)
    assert "sources(lambda evidence: None)" in source.text
    assert sources(eval("lambda evidence: None")) == []


def test_code_of_a_record_is_that_of_its_functions():
    record = AtMost("x", outer, 1.0)
    assert [source.name for source in sources(record)] == ["outer", "inner"]
    both = All((record, inner))
    assert [source.name for source in sources(both)] == ["outer", "inner"]


@pytest.mark.parametrize(
    ("check", "kind", "words"),
    [
        (Exact(1e-9, 1e-6, "sum"), "identity", "an error above 1e-05, ten times"),
        (Exact(0.0, 0.0, "signs"), "identity", "signs: an error above 0"),
        (Seeds((0.5,) * 5, "order"), "universal", "contrary beyond 1e-09 in 1 of 5"),
        (Seeds((0.5,) * 10, "order"), "observation", "the contrary in 9 of 10 seeds"),
        (Seeds((0.5,) * 60, "order"), "probability", "the contrary in 7 of 60 seeds"),
        (Ladder(SIZES, SIZES, "theta", "time"), "asymptotic", "above 0.05 or below"),
        (Ladder(SIZES, SIZES, "O-tilde", "time"), "asymptotic", "lies above 0.05"),
        (Ladder(SIZES, SIZES, "o(1)", "gap"), "asymptotic", "lies above −0.05"),
        (Slope(SIZES, SIZES, 1.0, 0.1, "rate"), "asymptotic", "outside [0.9, 1.1]"),
        (
            Estimate(1.0, (0.9, 1.1), 1.0, 0.2, "rate"),
            "universal",
            "outside [0.8, 1.2]",
        ),
        (HighProbability((0,), (60,), 0.05, "noise"), "probability", "7 failures or"),
        (HighProbability((0,), (1,), 0.1, "noise"), "probability", "are too few"),
        (LargeEnough(SIZES, (True,) * 5, "order"), "asymptotic", "at neither of the"),
        (Unchecked("no data"), "identity", "could not be checked"),
    ],
)
def test_what_would_have_made_a_check_fail(check, kind, words):
    assert words in fails_where(check, Rule(Kind(kind), 0.05))


def test_names_of_seeds(evidence):
    assert seed_names(3, evidence) == ["0", "1", "2"]
    two = {**evidence, "wide": evidence["main"]}
    assert seed_names(6, two)[2:4] == ["main: 2", "wide: 0"]
    assert seed_names(4, evidence) == ["1", "2", "3", "4"]
