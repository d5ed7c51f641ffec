"""`export-claims`: folders that are read without attnflow, and run again with it."""

import csv
import hashlib
import json
import shutil
from dataclasses import replace

import pytest

from attnflow.claims import Claim, Kind, Verdict, Witness
from attnflow.papers.replies import Reply, Status
from attnflow.schema.declarations import Note
from attnflow.schema.installation import MissingData
from tests import toy as toys

FILES = {
    *("README.md", "index.html", "claim.json", "checks.csv", "trials.csv"),
    *("runs.json", "judge.py", "runs.py", "picture.png"),
}


def files(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def out(tmp_path):
    return tmp_path / "given"


def export(program, target="toy", *options, code=0):
    done = program("export-claims", target, "--out", "given", "--seeds", 2, *options)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("exported") / "given"


@pytest.fixture
def exported(program, out, kept):
    """The folder of both claims, exported once for all tests that only read it."""
    if not kept.exists():
        export(program)
        shutil.copytree(out, kept)
    return kept


def test_a_folder_for_each_claim_and_an_index(program, out):
    content = program.json("export-claims", "toy", "--out", "given", "--seeds", 2)
    assert [row["id"] for row in content["claims"]] == ["T-Thm1", "T-Thm2"]
    assert content["folders"] == ["given/T-Thm1", "given/T-Thm2"]
    assert content["index"] == "given/index.html"
    data = {"data/01.main.loss.csv"}
    assert files(out / "T-Thm1") == FILES | data
    assert files(out / "T-Thm2") == FILES | data | {"data/02.wide.loss.csv"}
    index = (out / "README.md").read_text("utf-8")
    assert index.startswith("# 2 claims of toy: 2 hold\n")
    assert "[T-Thm1](T-Thm1/README.md)" in index
    assert "What fails" not in index
    with (out / "claims.csv").open(encoding="utf-8") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["holds", "holds"]
    assert (out / "code" / "attnflow" / "claims" / "decision.py").is_file()
    assert (out / "code" / "tests" / "toy.py").is_file()


def test_the_index_of_some_claims_has_their_commands(program, out):
    export(program, "toy/T-Thm2")
    index = (out / "README.md").read_text("utf-8")
    assert "attnflow verify toy/T-Thm2 --seeds 2 --witness --json mine.json" in index
    assert "attnflow diff T-Thm2/claim.json mine.json" in index


def test_a_report_answers_what_a_referee_asks(exported):
    report = (exported / "T-Thm1" / "README.md").read_text("utf-8")
    for text in (
        "# toy/T-Thm1: holds",
        "An identity holds where",
        "The loss falls.",
        "the lowest loss is at most 0.2",
        "| loss | seed, time |",
        "an error above 2",
        "| named mutation | higher | inconclusive |",
        "def judge(evidence):",
        "def build(setting):",
        "attnflow verify toy/T-Thm1 --seeds 2",
        "attnflow diff claim.json mine.json",
        "digest of the results",
        "jax 0.",
    ):
        assert text in report, text
    page = (exported / "T-Thm1" / "index.html").read_text("utf-8")
    assert "toy/T-Thm1: holds</h1>" in page
    runs = json.loads((exported / "T-Thm1" / "runs.json").read_text("utf-8"))
    assert runs["main"]["setting"]["width"] == 4
    assert runs["main"]["python"] == 'af.run("toy/flow", seeds=[0, 1])'
    assert runs["main"]["ends"]["outcome"] == ["finished", "finished"]


def test_the_numbers_are_those_that_were_judged(exported):
    with (exported / "T-Thm1/data/01.main.loss.csv").open(encoding="utf-8") as file:
        losses = [float(row["loss"]) for row in csv.DictReader(file) if row["loss"]]
    content = json.loads((exported / "T-Thm1" / "claim.json").read_text("utf-8"))
    (check,) = content["checks"]
    assert check["numbers"]["error"] == min(losses)
    assert check["verdict"] == content["row"]["verdict"] == "holds"


def test_it_can_be_compared_with_another_verdict(program, exported, tmp_path):
    theirs = exported / "T-Thm1/claim.json"
    verify = ("verify", "toy/T-Thm1", "--seeds", 2, "--json", "mine.json")
    assert program(*verify).exit_code == 0
    assert program("diff", theirs, "mine.json").exit_code == 0
    mine = json.loads((tmp_path / "mine.json").read_text("utf-8"))
    mine["claims"][0]["verdict"] = "fails"
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    assert program("diff", theirs, "mine.json").exit_code == 1


def test_checksums_cover_every_file(exported):
    lines = (exported / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {name: total for total, name in (line.split("  ", 1) for line in lines)}
    assert set(sums) == files(exported) - {"SHA256SUMS"}
    for name, total in sums.items():
        assert hashlib.sha256((exported / name).read_bytes()).hexdigest() == total


def test_what_is_there_is_left_and_what_is_not_whole_is_written(program, out, toy):
    export(program)
    marks = {p: p.stat().st_mtime_ns for p in out.glob("*/claim.json")}
    # Killed while it wrote the second folder.
    (out / "T-Thm2" / "claim.json").unlink()
    done = export(program)
    assert "toy/T-Thm2  holds" in done.stderr
    assert "toy/T-Thm1  holds" not in done.stderr
    first = out / "T-Thm1" / "claim.json"
    assert first.stat().st_mtime_ns == marks[first]
    assert (out / "T-Thm2" / "claim.json").is_file()
    assert len(toy.calls) == 2


def test_one_claim_after_another_and_one_index(program, out):
    export(program, "toy/T-Thm2")
    assert "# 1 claim of toy" in (out / "README.md").read_text("utf-8")
    export(program, "toy", "--only", "T-Thm1")
    assert "# 2 claims of toy" in (out / "README.md").read_text("utf-8")


def test_other_options_write_it_again(program, out):
    export(program, "toy/T-Thm1")
    export(program, "toy/T-Thm1", "--runs")
    (run,) = (out / "runs").glob("*.nc")
    report = (out / "T-Thm1" / "README.md").read_text("utf-8")
    assert f"../runs/{run.name}" in report
    run.unlink()
    export(program, "toy/T-Thm1", "--runs")
    assert run.is_file()


WITNESS = "print('lowest loss = 0.11')\n"


def with_witness(toy, folder, monkeypatch, text=WITNESS, **changes):
    failing = toys.toy_claim(at_most=0.001, expected="fails")

    def judge(evidence):
        finding = failing.judge(evidence)
        return replace(finding, numbers={"lowest": finding.checks[0].error})

    claim: Claim = replace(
        failing,
        judge=judge,
        witness=Witness("lowest.py", {"lowest loss": ("lowest",)}),
    )
    (folder / "lowest.py").write_text(text)
    monkeypatch.setattr(
        "attnflow.site.export.folder.witness_file", lambda *_: folder / "lowest.py"
    )
    monkeypatch.setattr(
        "attnflow.runs.witnesses.witness_file", lambda *_: folder / "lowest.py"
    )
    toys.install(toy, toys.toy_paper(claims=(claim,), **changes))


def test_a_witness_is_run_and_lies_beside_its_output(
    program, out, toy, tmp_path, monkeypatch
):
    with_witness(toy, tmp_path, monkeypatch)
    export(program)
    folder = out / "T-Thm1"
    assert (folder / "witness.py").read_text("utf-8") == WITNESS
    assert (folder / "witness.txt").read_text("utf-8") == "lowest loss = 0.11\n"
    report = (folder / "README.md").read_text("utf-8")
    assert "refuted as printed" in report
    assert "It agrees: lowest loss: 0.11" in report
    index = (out / "README.md").read_text("utf-8")
    assert "was run for 1 of these claims and agrees (of 1 that have one)" in index
    failing, _ = index.split("## What fails")[1].split("## Claims")
    assert "[T-Thm1](T-Thm1/README.md)" in failing
    assert "refuted as printed" in failing
    assert "attnflow verify toy --seeds 2 --witness --json mine.json" in index


def test_a_witness_that_says_otherwise_is_a_surprise(
    program, out, toy, tmp_path, monkeypatch
):
    with_witness(toy, tmp_path, monkeypatch, WITNESS.replace("0.11", "0.25"))
    export(program, code=1)
    assert "does NOT agree" in (out / "T-Thm1" / "README.md").read_text("utf-8")
    export(program, "toy", "--no-witness")
    assert "was not run" in (out / "T-Thm1" / "README.md").read_text("utf-8")


def test_notes_and_replies_stand_beside_the_verdict(program, out, toy):
    note = Note("T-N1", "Section 1", "grows", "falls", "T-Thm1", "typo")
    reply = Reply(("T-N1",), Status.DISPUTED, "2026-11-18", "It grows.", "a letter")
    toys.install(toy, toys.toy_paper(notes=(note,), replies=(reply,)))
    export(program)
    report = (out / "T-Thm1" / "README.md").read_text("utf-8")
    assert "| T-N1 | Section 1 | grows | falls | typo | disputed |" in report
    assert "It grows. (the authors, 2026-11-18, a letter)" in report
    assert "T-N1" not in (out / "T-Thm2" / "README.md").read_text("utf-8")


def test_what_cannot_be_checked_says_why(program, out, toy):
    def judge(evidence):
        raise MissingData("digits.gz is not here.")

    claim = replace(toys.toy_claim(), judge=judge)
    toys.install(toy, toys.toy_paper(claims=(claim,)))
    export(program)
    report = (out / "T-Thm1" / "README.md").read_text("utf-8")
    assert "toy/T-Thm1: unchecked" in report and "digits.gz is not here." in report
    toys.install(toy, toys.toy_paper(claims=(toys.toy_claim(),)))
    export(program)
    assert "toy/T-Thm1: holds" in (out / "T-Thm1" / "README.md").read_text("utf-8")


def test_a_folder_of_something_else_is_refused(program, tmp_path, out):
    out.mkdir()
    (out / "thesis.tex").write_text("")
    message = program.refused("export-claims", "toy", "--out", "given")
    assert "given is not empty, and holds no earlier export" in message
    (out / "thesis.tex").unlink()
    export(program)
    mark = out / "T-Thm1" / "claim.json"
    content = json.loads(mark.read_text("utf-8"))
    mark.write_text(json.dumps({**content, "paper": "other"}))
    message = program.refused("export-claims", "toy", "--out", "given")
    assert "holds claims of other" in message


def test_every_kind_has_a_rule_in_words():
    from attnflow.site.export.report import RULES

    assert set(RULES) == set(Kind)
    assert set(map(str, Verdict)) == {"holds", "fails", "inconclusive", "unchecked"}
