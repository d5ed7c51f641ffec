"""Changes of what a judge reads: each variable matters, and a claim can fail."""

import json

import numpy as np
import pytest

from attnflow.claims import (
    AtMost,
    Exact,
    Finding,
    Kind,
    Rule,
    Rungs,
    Verdict,
    mutations,
)
from attnflow.claims.judgement import rule_of
from attnflow.claims.judges.base import remembering
from attnflow.claims.trials import (
    UNKNOWN,
    attempt,
    generated,
    setting_changes,
    try_out,
    watch,
)
from attnflow.testing import check_claim
from tests.claims.toy import corrected_claim, make_claim, make_evidence, order_holds

LOSS = "loss_by_group"
LAST = AtMost("the last loss", lambda run: run[LOSS].isel(time=-1), 0.5)
UNIVERSAL = Rule(Kind.UNIVERSAL)


@pytest.fixture
def evidence():
    return make_evidence(3)


def test_a_judge_is_watched_and_gives_the_same(evidence):
    reading = watch(order_holds, evidence)
    assert reading.finding == order_holds(evidence)
    assert (("main", LOSS)) in reading.reads
    assert [detection.level for detection in reading.detections] == [0.1, 0.1]


def test_bookkeeping_is_not_data(evidence):
    reading = watch(LAST, evidence)
    assert reading.reads == (("main", LOSS),)


def test_variables_are_read_by_lists_too(evidence):
    def judge(runs):
        runs["main"][["end_time", LOSS]]
        return Finding(())

    assert watch(judge, evidence).reads == (("main", "end_time"), ("main", LOSS))


def test_changes_are_generated_for_each_variable(evidence):
    changes = generated(evidence, (("main", LOSS),))[("main", LOSS)]
    names = " ".join(change.name for change in changes)
    for word in ("negated", "times 10", "times 0.1", "constant", "shuffled", "noise"):
        assert word in names


def test_a_claim_that_depends_on_its_data_can_fail(evidence):
    trial = try_out(LAST, UNIVERSAL, evidence)
    assert any("constant" in name for name in trial.failing)
    assert trial.inert == ()
    assert set(trial.unknown) == {"untrained", "cut", "holes"}


def test_on_runs_whose_end_is_unknown_a_claim_about_the_end_does_not_hold(evidence):
    trial = try_out(order_holds, Rule(Kind.OBSERVATION), evidence)
    assert trial.unknown["untrained"] is Verdict.INCONCLUSIVE
    assert trial.unknown["cut"] is Verdict.INCONCLUSIVE
    last = try_out(LAST, UNIVERSAL, evidence)
    assert last.unknown["cut"] is not Verdict.HOLDS


def test_what_a_judge_reads_for_nothing_is_inert(evidence):
    def judge(runs):
        runs["main"]["end_time"]
        return LAST(runs)

    assert try_out(judge, UNIVERSAL, evidence).inert == ("end_time",)


def _ladder(measure):
    """An o(1) statement whose values fall so fast that no single run matters."""
    runs = {}
    for k in range(1, 6):
        run = make_evidence(1)["main"]
        run = run.assign({LOSS: run[LOSS] * 0 + 0.02**k})
        setting = json.dumps({"width": 10**k})
        runs[f"m=1e{k}"] = run.assign_attrs(setting=setting)
    return Rungs("value", measure, "o(1)", "width"), runs


def test_along_a_ladder_a_variable_grows_where_one_run_alone_does_not_matter():
    judge, runs = _ladder(lambda run: float(abs(run[LOSS]).max()))
    rule = Rule(Kind.ASYMPTOTIC)
    one = generated(runs, watch(judge, runs).reads)["m=1e5", LOSS]
    assert {attempt(judge, rule, runs, change) for change in one} == {Verdict.HOLDS}
    trial = try_out(judge, rule, runs)
    assert trial.failing == ("loss_by_group times 100 from run to run",)
    assert trial.inert == ()


def test_in_a_trial_unchanged_runs_are_measured_once():
    measured = []

    def measure(run):
        measured.append(id(run))
        return float(abs(run[LOSS]).max())

    judge, runs = _ladder(measure)
    changes = generated(runs, watch(judge, runs).reads)["m=1e5", LOSS]
    rule, ids = Rule(Kind.ASYMPTOTIC), {id(run) for run in runs.values()}
    with remembering(runs):
        verdicts = [attempt(judge, rule, runs, change) for change in changes]
    unchanged = [id for id in measured if id in ids]
    assert len(unchanged) == len(set(unchanged)) == 4
    assert verdicts == [attempt(judge, rule, runs, change) for change in changes]


def test_an_error_on_nonsense_is_no_verdict(evidence):
    def judge(runs):
        raise ValueError("zero-size array")

    assert attempt(judge, UNIVERSAL, evidence, UNKNOWN["cut"]) is None


def test_settings_are_scaled_for_formulas(evidence):
    judge = corrected_claim().correction.judge
    changes = setting_changes(evidence)
    names = {"setting rate times 10", "setting rate times 0.1"}
    assert {change.name for change in changes} == names
    rule = rule_of(corrected_claim())
    verdicts = {attempt(judge, rule, evidence, change) for change in changes}
    assert verdicts == {Verdict.FAILS}


# What the protocol asks of every claim


def test_the_toys_pass(evidence):
    check_claim(make_claim(), evidence)
    check_claim(corrected_claim(), evidence)


def refused(match, evidence, **changes):
    with pytest.raises(AssertionError, match=match):
        check_claim(make_claim(**changes), evidence)


def test_a_claim_that_cannot_fail_is_refused(evidence):
    def judge(runs):
        return Finding((Exact(0.0, 1.0, "nothing"),))

    refused("does not fail under any change", evidence, judge=judge, mutations={})


def test_a_variable_that_does_not_matter_is_refused_or_explained(evidence):
    def judge(runs):
        runs["main"]["end_time"]
        return order_holds(runs)

    refused(r"reads \['end_time'\]", evidence, judge=judge)
    reason = {"end_time": "only to print it"}
    check_claim(make_claim(judge=judge, inert=reason), evidence)


def test_a_claim_that_holds_on_an_untrained_run_says_why(evidence):
    first = AtMost("the first loss", lambda run: run[LOSS].isel(time=0), 1.0)
    changes = {"judge": first, "kind": Kind.UNIVERSAL, "mutations": {}}
    refused("holds on runs that are 'untrained'", evidence, **changes)
    reasons = dict.fromkeys(("untrained", "cut", "holes"), "it is of the first record")
    check_claim(make_claim(**changes, survives=reasons), evidence)


def test_a_failing_claim_names_what_would_mend_it(evidence):
    wrong = AtMost("the last loss", lambda run: run[LOSS].isel(time=-1), 1e-4)
    changes = {"judge": wrong, "kind": Kind.UNIVERSAL, "expected": Verdict.FAILS}
    refused("no change is named that mends it", evidence, **changes, mutations={})
    idle = {"mends": mutations.named(mutations.scale("main", LOSS, 2.0))}
    refused("should hold after", evidence, **changes, **idle, mutations={})
    mend = {"mends": mutations.named(mutations.scale("main", LOSS, 1e-6))}
    check_claim(make_claim(**changes, **mend, mutations={}), evidence)


def test_a_correction_must_be_able_to_fail_too(evidence):
    claim = corrected_claim()

    def judge(runs):
        return Finding((Exact(0.0, 1.0, "nothing"),))

    from dataclasses import replace

    weak = replace(claim, correction=replace(claim.correction, judge=judge))
    with pytest.raises(AssertionError, match="correction of T-Time holds"):
        check_claim(weak, evidence)


def test_a_hole_is_in_the_middle_and_unknown(evidence):
    holed = UNKNOWN["holes"](evidence)["main"][LOSS]
    share = float(np.isnan(holed.values).mean())
    assert share == pytest.approx(0.25, abs=0.01)
    assert np.isfinite(holed.isel(time=[0, -1])).all()


def test_a_cut_run_ends_where_it_was_cut(evidence):
    cut = UNKNOWN["cut"](evidence)["main"]
    assert (cut["end_time"] == 6.0).all()
    assert float(cut["time"].where(cut["recorded"]).max()) == 6.0
    assert np.isnan(cut[LOSS].isel(time=-1)).all()
    untrained = UNKNOWN["untrained"](evidence)["main"]
    assert (untrained["recorded"].sum("time") == 1).all()
