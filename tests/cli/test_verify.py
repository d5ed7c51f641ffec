import json
from dataclasses import replace
from pathlib import Path

import pytest

import attnflow as af
from attnflow.claims import (
    Correction,
    CorrectionKind,
    Exact,
    Finding,
    Kind,
    Seeds,
    Verdict,
    Witness,
)
from attnflow.runs.run_files import export_netcdf
from attnflow.schema.conditions import at_least
from attnflow.schema.installation import MissingData
from tests import toy as toys
from tests.toy import toy_claim

FIELDS = {
    "id",
    "paper",
    "place",
    "kind",
    "statement",
    "origin",
    "scope",
    "slack",
    "verdict",
    "expected",
    "corrected",
    "held",
    "seeds",
    "interval",
    "margin",
    "witness",
    "seconds",
}


def with_claims(toy, *claims, **options):
    toys.install(toy, toys.toy_paper(claims=claims, **options))


def conditions(setting):
    """A condition that the toy's setting misses by a factor of 2."""
    return [at_least("m", "m ≥ 8", setting["width"], 8)]


def test_json(program):
    content = program.json("verify")
    rows = content["claims"]
    assert content["version"] == 2
    assert [row["id"] for row in rows] == ["T-Thm1", "T-Thm2"]
    assert all(set(row) >= FIELDS for row in rows)
    assert {row["verdict"] for row in rows} == {"holds"}
    assert rows[0]["interval"] is None


def test_claims_share_runs(program, toy):
    program("verify", "toy", "--seeds", 3)
    assert [call["seeds"] for call in toy.calls] == [(0, 1, 2), (0, 1, 2)]


def test_the_profile_is_told_and_in_json(program):
    assert "profile" not in program.json("verify", "toy/T-Thm2", "--seeds", 2)
    profile = program.json("verify", "--seeds", 3, "--profile")["profile"]
    assert {"computed", "stored", "judged"} <= set(profile["phases"])
    names = {job["job"] for job in profile["jobs"]}
    assert {"toy/T-Thm1", "toy/T-Thm2", "toy/flow"} <= names
    assert set(profile["with_runs"]) == {"toy/T-Thm1", "toy/T-Thm2"}
    assert profile["peak"] > 10**7
    text = program("verify", "--seeds", 4, "--profile").output
    assert "dearest experiments" in text and "judged" in text
    again = program("verify", "--seeds", 4, "--profile").output
    assert "No job of a worker was measured" in again


def test_one_claim(program):
    assert len(program.json("verify", "toy/T-Thm2")["claims"]) == 1


def test_a_definite_difference_is_exit_code_1_and_comes_first(program, toy):
    with_claims(toy, toy_claim("T-One"), toy_claim("T-Two", at_most=0.009))
    rows = program.json("verify", code=1)["claims"]
    assert [row["verdict"] for row in rows] == ["holds", "fails"]
    _, table = program("verify").stdout.split("\nclaim ")
    first = table.splitlines()[1]
    assert first.startswith("T-Two")
    assert "fails !" in first


def test_a_summary_by_paper_and_scope_comes_before_the_table(program, toy):
    beyond = replace(toy_claim("T-Three"), under=("m",))
    claims = (toy_claim("T-One"), toy_claim("T-Two"), beyond)
    with_claims(toy, *claims, conditions=conditions)
    header, theorem, other, *_ = program("verify").stdout.splitlines()
    assert header.split()[:3] == ["paper", "scope", "holds"]
    assert theorem.split() == ["toy", "theorem", "2"]
    assert other.split() == ["toy", "beyond", "1"]


def test_columns(program):
    _, table = program("verify", "toy/T-Thm1").stdout.split("\nclaim ")
    header, row, *_ = table.splitlines()
    assert header.split()[:5] == ["place", "kind", "verdict", "recorded", "scope"]
    assert "Section 1" in row and "1/1" in row and row.endswith("The loss falls.")


def with_shares(toy, held):
    """A claim over seeds that holds in some of them."""
    check = Seeds(tuple(1.0 if h else -1.0 for h in held), "the order")
    judged = replace(toy_claim(), judge=lambda evidence: Finding((check,)))
    with_claims(toy, replace(judged, kind=Kind.OBSERVATION))


def test_what_is_undecided_is_a_warning_with_the_seeds_that_would_decide(program, toy):
    with_shares(toy, (True, True, False))
    done = program("verify")
    assert done.exit_code == 0
    assert "T-Thm1, recorded as holds, is inconclusive" in done.stderr
    assert "At this rate, 11 seeds would decide." in done.stderr


def test_what_no_seeds_would_decide_is_a_surprise(program, toy):
    """The record says holds, and now nothing is known."""
    unknown = Seeds((float("nan"),) * 3, "the order")
    judged = replace(toy_claim(), judge=lambda evidence: Finding((unknown,)))
    with_claims(toy, judged)
    (row,) = program.json("verify", code=1)["claims"]
    assert row["verdict"] == "inconclusive"


def corrected_claim(*, fixed=0.2, expected="holds"):
    """The loss does not fall to 0.01, but to another constant."""

    def judge(evidence):
        lowest = float(evidence["main"]["loss"].min())
        return Finding((Exact(lowest, fixed, "the lowest loss"),), {"lowest": lowest})

    correction = Correction(
        CorrectionKind.CONSTANT, "It falls to 0.2.", judge, Verdict(expected)
    )
    wrong = toy_claim(at_most=0.009, expected="fails")
    return replace(wrong, correction=correction)


def test_both_verdicts_in_words(program, toy):
    with_claims(toy, corrected_claim())
    shown = program("verify").stdout
    words = "fails as printed; holds with another constant"
    assert f"toy/T-Thm1 {words}: refuted as printed." in shown
    assert "Corrected (constant): It falls to 0.2." in shown
    assert "Refuted as printed: T-Thm1." in shown
    (row,) = program.json("verify")["claims"]
    assert row["corrected"]["verdict"] == row["corrected"]["expected"] == "holds"


def test_a_correction_that_comes_out_otherwise_is_exit_code_1(program, toy):
    with_claims(toy, corrected_claim(fixed=0.009))
    done = program("verify")
    assert done.exit_code == 1
    assert "fails as printed; fails with another constant !" in done.stdout


def test_the_scope_with_what_is_missed(program, toy):
    with_claims(toy, replace(toy_claim(), under=("m",)), conditions=conditions)
    shown = program("verify").stdout
    assert "toy/T-Thm1 holds here, beyond its conditions." in shown
    assert "Scope beyond: m (m ≥ 8) is missed by a factor of 2." in shown
    (row,) = program.json("verify")["claims"]
    assert (row["scope"], row["slack"]) == ("beyond", 0.5)
    assert row["missed"] == ["m (m ≥ 8) is missed by a factor of 2"]


def test_the_scope_with_its_smallest_slack(program, toy):
    def wide(setting):
        return [at_least("m", "m ≥ 2", setting["width"], 2)]

    with_claims(toy, replace(toy_claim(), under=("m",)), conditions=wide)
    assert "the tightest by a factor of 2." in program("verify").stdout


class TestWitness:
    """`--witness` runs the second programs."""

    @pytest.fixture
    def script(self, toy, tmp_path, monkeypatch):
        claim = corrected_claim()
        witness = Witness("witnesses/loss.py", {"loss": ("lowest",)})
        with_claims(toy, replace(claim, witness=witness), toy_claim("T-Thm2"))
        file = tmp_path / "loss.py"
        monkeypatch.setattr(
            "attnflow.runs.witnesses.witness_file", lambda paper, witness: file
        )
        return file

    def test_it_is_named_and_not_run_unless_asked(self, program, script):
        first, second = program.json("verify")["claims"]
        assert first["witness"] == {
            "script": "witnesses/loss.py",
            "agrees": None,
            "note": "",
        }
        assert second["witness"] is None
        assert "was not run (--witness)" in program("verify").stdout

    def test_one_that_agrees(self, program, script):
        script.write_text("print('loss = 0.10')")
        first, _ = program.json("verify", "--witness")["claims"]
        assert first["witness"]["agrees"] is True
        assert first["witness"]["note"] == "loss: 0.10, ours 0.1"

    def test_one_that_does_not_is_exit_code_1(self, program, script):
        script.write_text("print('loss = 0.20')")
        done = program("verify", "--witness")
        assert done.exit_code == 1
        assert "Witness witnesses/loss.py does not agree" in done.stdout


def test_the_family_is_told_under_the_table_and_in_json(program, toy):
    with_shares(toy, (True, True, True))
    shown = program("verify").stdout
    assert "By chance alone it would hold with probability 0.12." in shown
    family = program.json("verify")["family"]
    assert family["by_chance"] == family["any_by_chance"] == 0.125
    assert family["held"] == 1 and family["beyond_chance"] == 0
    assert "each seed has the property like a fair coin" in str(family["assumed"])


def test_what_fails_has_no_chance_to_hold(program, toy):
    with_shares(toy, (False, False, False))
    shown = program("verify").stdout
    assert "1 fails" in shown and "By chance alone" not in shown


def test_a_verdict_is_read_until_its_code_changes(program, toy, monkeypatch):
    first = program.json("verify", "--seeds", 3)["claims"]
    before = len(toy.calls)
    assert program.json("verify", "--seeds", 3)["claims"] == first
    assert program.json("verify", "--changed", "--seeds", 3)["claims"] == []
    changed = program.json("verify", "--changed", "--seeds", 4)["claims"]
    assert [row["id"] for row in changed] == ["T-Thm1", "T-Thm2"]
    assert len(toy.calls) == before + 2
    monkeypatch.setattr("attnflow.runs.verify.judging_code", lambda *_: "other code")
    assert len(program.json("verify", "--changed", "--seeds", 4)["claims"]) == 2


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        (["T-Thm*"], ["T-Thm1", "T-Thm2"]),
        (["T-Thm2"], ["T-Thm2"]),
        (["T-Thm2", "T-Lem*"], ["T-Thm2", "T-Lemma"]),
        (["T-Thm*", "fails", "T-Lemma"], ["T-Thm2"]),
        (["beyond"], ["T-Thm1"]),
        (["universal"], ["T-Lemma"]),
        (["fails"], ["T-Thm2"]),
        (["ours"], ["T-Lemma"]),
        (["paper", "theorem"], ["T-Thm2"]),
    ],
)
def test_only_some_claims(program, toy, only, ids):
    with_claims(
        toy,
        replace(toy_claim("T-Thm1"), under=("m",)),
        toy_claim("T-Thm2", at_most=0.009, expected="fails"),
        replace(toy_claim("T-Lemma"), origin="ours", kind=Kind.UNIVERSAL),
        conditions=conditions,
    )
    options = [part for text in only for part in ("--only", text)]
    assert [row["id"] for row in program.json("verify", *options)["claims"]] == ids


def test_a_recorded_failure_is_no_surprise(program, toy):
    with_claims(toy, toy_claim(at_most=0.009, expected="fails"))
    assert program.json("verify")["claims"][0]["verdict"] == "fails"


def test_what_is_unchecked_is_a_warning(program, toy):
    def judge(evidence):
        raise MissingData("the data set is not here.")

    with_claims(toy, replace(toy_claim(), judge=judge))
    done = program("verify")
    assert done.exit_code == 0
    assert "T-Thm1, recorded as holds, is unchecked" in done.stderr
    assert "the data set is not here" in done.stderr


def test_an_interrupted_run_is_not_judged(program, toy):
    needs = {"main": toys.Request("flow", {"ends": "interrupted"})}
    with_claims(toy, toy_claim(needs=needs))
    done = program("verify")
    assert done.exit_code == 130
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tay"], "Did you mean 'toy'"),
        (["toy/T-Thm3"], "Did you mean 'T-Thm"),
        (["--seeds", "0"], "seeds"),
        (["--only", "theorm"], "Did you mean 'theorem'"),
        (["--only", "T-*", "--only", "theorm"], "Did you mean 'theorem'"),
        (["--only", "T-*", "--only", "ours"], "'T-*' and 'ours'. Leave a trait out"),
        (["--workers", "-1"], "workers"),
        (["--run", "absent.nc"], "no file absent.nc"),
    ],
)
def test_wrong_usage(program, args, message):
    assert message in program.refused("verify", *args)


class TestOwnRun:
    """`--run FILE` judges a user's own run."""

    def save(self, *args):
        export_netcdf(af.run("toy/flow", *args), "mine.nc")

    def test_it_takes_the_place_of_the_evidence(self, program, toy):
        self.save()
        before = len(toy.calls)
        (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc")["claims"]
        assert (row["id"], row["verdict"], row["scope"]) == (
            "T-Thm1",
            "holds",
            "theorem",
        )
        assert len(toy.calls) == before

    def test_its_own_setting_gives_the_scope(self, program, toy):
        with_claims(toy, replace(toy_claim(), under=("m",)), conditions=conditions)
        for width, scope in ((4, "beyond"), (64, "theorem")):
            export_netcdf(af.run("toy/flow", width=width), "mine.nc")
            (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc")["claims"]
            assert (row["scope"], row["slack"]) == (scope, width / 8)

    def test_its_own_numbers_decide(self, program):
        run = af.run("toy/flow")
        run["loss"] = run["loss"] + 3
        export_netcdf(run, "mine.nc")
        (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc", code=1)[
            "claims"
        ]
        assert row["verdict"] == "fails"

    def test_a_stored_run_by_its_directory(self, program):
        run = af.run("toy/flow")
        path = af.Store().path(run.attrs["id"])
        assert len(program.json("verify", "--run", path)["claims"]) == 2

    def test_what_it_lacks_is_unchecked_and_named(self, program):
        export_netcdf(af.run("toy/flow").drop_vars("loss"), "mine.nc")
        (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc")["claims"]
        assert row["verdict"] == "unchecked"
        assert row["note"].startswith("the run has no loss. Record it too")

    def test_a_mistake_of_a_judge_is_a_fault_of_ours(self, program, toy):
        def judge(evidence):
            raise ValueError("zero-size array")

        with_claims(toy, replace(toy_claim(), judge=judge))
        self.save()
        done = program("verify", "toy/T-Thm1", "--run", "mine.nc")
        assert done.exit_code == 70
        assert "Traceback" in done.stderr
        assert "ValueError: zero-size array" in done.stderr

    def test_why_it_lacks_it_is_told(self, program):
        why = json.dumps({"loss": "the tables were not finite."})
        mine = af.run("toy/flow").drop_vars("loss").assign_attrs(left_out=why)
        export_netcdf(mine, "mine.nc")
        (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc")["claims"]
        assert row["note"] == "the run has no loss: the tables were not finite."

    def test_records_that_are_missing_are_unchecked(self, program):
        mine = af.run("toy/flow").assign_attrs(missing_times="2 of 5 times")
        export_netcdf(mine, "mine.nc")
        (row,) = program.json("verify", "toy/T-Thm1", "--run", "mine.nc")["claims"]
        assert (row["verdict"], row["note"]) == (
            "unchecked",
            "the run lacks 2 of 5 times",
        )

    def test_beside_runs_of_ours(self, program, toy):
        run = af.run("toy/flow")
        run["loss"] = run["loss"] + 3
        export_netcdf(run, "mine.nc")
        args = ("verify", "toy/T-Thm2", "--run", "mine.nc")
        (row,) = program.json(*args, code=1)["claims"]
        assert row["verdict"] == "fails"
        assert "(your run as main; ours as wide)" in row["note"]

    def test_a_setting_that_none_of_several_runs_has(self, program):
        export_netcdf(af.run("toy/flow", width=64), "mine.nc")
        args = ("verify", "toy/T-Thm2", "--run", "mine.nc")
        (row,) = program.json(*args)["claims"]
        assert row["verdict"] == "unchecked"
        assert "nearest is 'main', beside which yours has width=64 for 4" in row["note"]

    def test_a_run_of_something_else(self, program):
        run = af.run("toy/flow").assign_attrs(experiment="other")
        export_netcdf(run, "mine.nc")
        message = program.refused("verify", "--run", "mine.nc")
        assert "a run of toy/other, and none of these claims is judged on" in message


def test_an_own_run_from_python(program):
    claims = af.paper("toy").claims
    (row,) = claims.verify("T-Thm1", run=af.run("toy/flow", width=64))
    assert (str(row.verdict), str(row.scope)) == ("holds", "theorem")


def test_the_python_way(program):
    claims = af.paper("toy").claims
    assert len(claims) == 2
    table = claims.verify(seeds=2)
    assert [str(row.verdict) for row in table] == ["holds", "holds"]
    assert "T-Thm1" in repr(table)
    assert json.dumps(table.as_json())
    assert len(claims.verify("T-Thm2")) == 1


class TestExplained:
    """`--explain` tells all of one claim."""

    def test_for_people(self, program):
        done = program("verify", "toy/T-Thm1", "--explain")
        assert done.exit_code == 0, done.output
        parts = (
            "Statement",
            "Predicate",
            "Conditions",
            "Runs",
            "Predicate as code",
            "Trials",
        )
        places = [done.stdout.index(f"\n{part}") for part in parts]
        assert places == sorted(places)
        assert "def judge(evidence):" in done.stdout
        assert "the lowest loss: an error above 2, ten times" in done.stdout
        assert "generated changes of what it reads" in done.stdout
        assert "named    higher     " in done.stdout
        for line in done.stdout.splitlines()[-2:]:
            assert Path(line.removeprefix("picture  ")).stat().st_size > 1000

    def test_conditions_as_numbers(self, program, toy):
        with_claims(toy, replace(toy_claim(), under=("m",)), conditions=conditions)
        done = program("verify", "toy/T-Thm1", "--explain")
        assert "hidden constants and logarithms read as 1" in done.stdout
        line = next(x for x in done.stdout.splitlines() if x.startswith("m "))
        cells = ["m", "m", "≥", "8", "4", "≥", "8", "no", "0.5", "all"]
        assert line.split() == cells

    def test_both_statements_and_the_neighbourhood(self, program, toy):
        inventory = {
            "lemma": [{"id": "Lemma 1", "claims": ["T-Lem"]}],
            "theorem": [{"id": "Theorem 1", "uses": ["Lemma 1"], "claims": ["T-Thm1"]}],
        }
        claims = (corrected_claim(), toy_claim("T-Lem"))
        with_claims(toy, *claims, inventory=inventory)
        shown = program("verify", "toy/T-Thm1", "--explain").stdout
        assert "fails as printed; holds with another constant" in shown
        assert "constant: It falls to 0.2." in shown
        assert "Theorem 1 rests on" in shown
        assert "Lemma 1    T-Lem: holds" in shown
        assert "Trials: the statement as corrected" in shown

    def test_a_run_of_ones_own(self, program, toy):
        run = af.run("toy/flow", width=64, seeds=3)
        run["loss"] = run["loss"] + 3
        export_netcdf(run, "mine.nc")
        args = ("verify", "toy/T-Thm1", "--run", "mine.nc", "--explain")
        content = program.json(*args, code=1)
        assert content["claims"][0]["verdict"] == "fails"
        setting = content["explanation"]["settings"]["main"]
        assert (setting["seeds"], setting["changed"]) == ([0, 1, 2], {"width": 64})
        assert all(Path(file).is_file() for file in content["explanation"]["files"])

    def test_for_programs(self, program):
        answer = program.json("verify", "toy/T-Thm1", "--explain")
        assert answer["claims"][0]["id"] == "T-Thm1"
        explanation = answer["explanation"]
        assert explanation["tried"]["mutations"] == {"higher": "inconclusive"}
        assert explanation["reading"] == "holds under its conditions"
        assert explanation["code"][0]["name"].endswith("judge")
        assert all(Path(file).is_file() for file in explanation["files"])

    def test_what_is_unchecked_has_a_reason_and_no_picture(self, program, toy):
        def judge(evidence):
            raise MissingData("the data set is not here.")

        with_claims(toy, replace(toy_claim(), judge=judge))
        done = program("verify", "toy/T-Thm1", "--explain")
        assert "is unchecked: the data set is not here." in done.stdout
        assert "picture" not in done.stdout

    @pytest.mark.parametrize("more", [(), ("--changed",)])
    def test_one_claim_alone(self, program, more):
        target = () if not more else ("toy/T-Thm1",)
        message = program.refused("verify", *target, "--explain", *more)
        assert "--explain" in message
