"""How a claim came to its verdict, in words, code and numbers."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from attnflow.claims import (
    Exact,
    Finding,
    HighProbability,
    Ladder,
    LargeEnough,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
)
from attnflow.claims.source_code import sources, unwrapped
from attnflow.claims.stages import first_crossing, record_detections
from attnflow.schema.conditions import Condition
from attnflow.site.explain import explain
from attnflow.site.explain.explanation import fails_where, seed_names, series_of, watch
from tests.claims import toy
from tests.toy import toy_paper

SIZES = (1.0, 10.0, 100.0, 1e3, 1e4)


@pytest.fixture
def evidence():
    return toy.make_evidence(3)


def claim(**changes):
    return replace(
        toy.make_claim(), needs={"main": toy.make_claim().needs["main"]}, **changes
    )


def test_an_explanation_has_all_that_led_to_the_verdict(evidence):
    explanation = explain(toy_paper(), claim(), evidence)
    assert explanation.row.verdict is Verdict.HOLDS
    assert explanation.met.startswith("Scope experiment: not all are met")
    assert [source.name for source in explanation.code] == ["order_holds", "learned"]
    assert explanation.code[0].text.startswith("def order_holds(evidence):")
    assert explanation.code[0].file.endswith("tests/claims/toy.py")
    assert explanation.settings["main"]["experiment"] == "flow"
    assert explanation.looked_at == ("loss_by_group",)
    (seeds,) = explanation.seeds.values()
    assert [one["seed"] for one in seeds] == ["0", "1", "2"]
    assert all(one["held"] and one["margin"] > 0 for one in seeds)
    assert len(explanation.broken) == 3
    assert not {mutated.verdict for mutated in explanation.broken} & {Verdict.HOLDS}
    json.dumps(explanation.as_json(), allow_nan=False)


def test_conditions_that_are_numbers_are_told_item_by_item(evidence):
    def conditions(setting):
        rate = setting["rate"]
        return [
            Condition("(1)", "a rate", rate, 0.0, 1.0),
            Condition("(2)", "a large rate", rate, least=0.2),
        ]

    explanation = explain(toy_paper(conditions=conditions), claim(), evidence)
    assert [item.met for item in explanation.conditions["main"]] == [True, False]
    items = explanation.as_json()["items"]["main"]
    assert items[1] == {
        "name": "(2)",
        "what": "a large rate",
        "value": 0.1,
        "least": 0.2,
        "most": None,
        "strict": False,
        "met": False,
    }
    assert explain(toy_paper(), claim(), evidence).conditions == {}


def test_of_a_corrected_claim_the_correction_is_explained(evidence):
    corrected = toy.corrected_claim()
    needs = {"main": corrected.needs["main"]}
    explanation = explain(toy_paper(), replace(corrected, needs=needs), evidence)
    assert explanation.row.verdict is Verdict.HOLDS_CORRECTED
    (check,) = explanation.seen.finding.checks
    assert check.error < check.tolerance


def test_judges_are_watched_and_find_the_same(evidence):
    seen = watch(toy.order_holds, evidence)
    assert seen.finding == toy.order_holds(evidence)
    assert [detection.level for detection in seen.detections] == [0.1, 0.1]
    first = series_of(seen, evidence)[0]
    assert first.series.dims == ("seed", "time")
    assert np.all(np.isfinite(first.times))


def test_without_detectors_variables_that_were_read_are_shown(evidence):
    def judge(runs):
        last = runs["main"].isel(time=-1)["loss_by_group"]
        return Finding((Exact(float(last.max()), 1.0, "last loss"),))

    seen = watch(judge, evidence)
    assert seen.read == ("loss_by_group",)
    (detection,) = series_of(seen, evidence)
    assert (detection.name, detection.level) == ("loss_by_group", None)


def test_values_at_all_ends_say_nothing_of_what_was_needed(evidence):
    ends = {f"{name}_at_end": ("seed", np.ones(3)) for name in ("loss", "score")}
    evidence = {"main": evidence["main"].assign(ends)}

    def judge(runs):
        for name in ends:
            runs["main"][name]
        return Finding(())

    assert watch(judge, evidence).read == ()
    one = watch(lambda runs: (runs["main"]["loss_at_end"], Finding(()))[1], evidence)
    assert one.read == ("loss_at_end",)


def test_only_listeners_hear_of_detections(evidence):
    run = evidence["main"]
    where = {"group": "consistent"}
    with record_detections() as heard:
        event = first_crossing(run, "loss_by_group", where, level=0.1, direction="down")
    first_crossing(run, "loss_by_group", where, level=0.2, direction="down")
    (detection,) = heard
    assert (detection.level, detection.times) == (0.1, tuple(event.times))


def outer(evidence, factor):
    return inner(factor)


def inner(factor):
    return np.float64(factor)


def test_code_is_that_of_the_function_and_of_its_own_package():
    judge = partial(partial(outer, factor=2.0))
    assert unwrapped(judge) is outer
    assert [source.name for source in sources(judge)] == ["outer", "inner"]
    (source,) = sources(lambda evidence: None)
    assert "sources(lambda evidence: None)" in source.text
    assert sources(eval("lambda evidence: None")) == []


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Exact(1e-9, 1e-6, "sum"), "sum: an error above 1e-06, 1e+03 times what it is"),
        (Exact(0.0, 0.0, "signs"), "signs: an error above 0"),
        (Seeds((True,) * 5, (0.5,) * 5, "order"), "in fewer than 5 of 5 seeds"),
        (Ladder(SIZES, SIZES, "theta", "time"), "reaches outside ±0.05"),
        (Ladder(SIZES, SIZES, "O-tilde", "time"), "reaches above 0.05"),
        (Ladder(SIZES, SIZES, "o(1)", "gap"), "a quarter of the first"),
        (Slope(SIZES, SIZES, 1.0, 0.1, "rate"), "outside [0.9, 1.1]"),
        (HighProbability((0,), (60,), 0.05, "noise"), "more than 0 failures in 60"),
        (HighProbability((0,), (6,), 0.05, "noise"), "6 draws are too few"),
        (LargeEnough(SIZES, (True,) * 5, "order"), "one of the largest two sizes"),
        (Unchecked("no data"), "could not be checked"),
    ],
)
def test_what_would_have_made_a_check_fail(check, words):
    assert words in fails_where(check)


def test_names_of_seeds(evidence):
    assert seed_names(3, evidence) == ["0", "1", "2"]
    two = {**evidence, "wide": evidence["main"]}
    assert seed_names(6, two)[2:4] == ["main: 2", "wide: 0"]
    assert seed_names(4, evidence) == ["1", "2", "3", "4"]
