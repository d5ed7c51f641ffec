from attnflow.schema.declarations import Exhibit
from tests import toy as toys


def test_demo_shows_stages_claims_and_files(program, tmp_path):
    done = program("demo")
    assert done.exit_code == 0, done.output
    for text in ("A toy paper", "Stages of toy/flow", "T-Thm1", "figure1.svg"):
        assert text in done.stdout
    # The toy names one claim for its headline.
    assert "T-Thm2" not in done.stdout
    page = tmp_path / "attnflow-output" / "toy" / "index.html"
    assert f"Open {page.relative_to(tmp_path)}" in done.stdout
    assert "T-Thm1" in page.read_text("utf-8")


def test_json(program):
    content = program.json("demo", "--out", "mine")
    assert [e["id"] for e in content["exhibits"]] == ["figure1"]
    assert [c["id"] for c in content["claims"]] == ["T-Thm1"]


def test_one_run_serves_everything(program, toy):
    program("demo")
    assert len(toy.calls) == 1


def test_disagreement_is_exit_code_1(program, toy):
    exhibit = toys.toy_paper().exhibits[0]
    other = Exhibit(**{**vars(exhibit), "printed": {"loss": 0.7}})
    toys.install(toy, toys.toy_paper(exhibits=(other,)))
    assert program("demo").exit_code == 1
