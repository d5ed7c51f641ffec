import json
from pathlib import Path

import numpy as np
import pytest

from attnflow.runs.pool import Here
from attnflow.schema.declarations import Exhibit, Request, SweepRequest
from attnflow.schema.installation import MissingData
from tests import toy as toys
from tests.figures.swept.synthetic import swept as swept_by_hand

FIELDS = {"paper", "id", "files", "values", "printed", "agrees", "seconds"}


def test_json_files_and_page(program, tmp_path):
    (exhibit,) = program.json("reproduce")["exhibits"]
    assert set(exhibit) >= FIELDS
    assert exhibit["values"] == {"loss": pytest.approx(0.1)}
    assert exhibit["printed"] == {"loss": 0.1}
    assert exhibit["agrees"] is True
    place = Path("attnflow-output/toy")
    assert {Path(f).suffix for f in exhibit["files"]} >= {".svg", ".png", ".json"}
    assert all(Path(f).parent == place and Path(f).is_file() for f in exhibit["files"])
    assert "A toy paper" in (tmp_path / place / "index.html").read_text("utf-8")


def test_people_see_agreement_and_the_page(program):
    shown = program("reproduce", "toy/figure1").stdout
    assert "agrees" in shown
    assert "attnflow-output/toy/index.html" in shown


def test_quick_asks_for_the_smaller_run(program, toy, tmp_path):
    assert program("reproduce", "toy", "--quick", "--out", "mine").exit_code == 0
    assert (tmp_path / "mine" / "index.html").is_file()
    setting = json.loads((tmp_path / "mine" / "figure1.json").read_text())
    assert setting["runs"]
    assert "--quick" in (tmp_path / "mine" / "index.html").read_text("utf-8")


def test_maps_are_made_when_they_are_asked_for(program, toy, monkeypatch):
    (plain,) = toys.toy_paper().exhibits
    swept = {"map": SweepRequest("flow", {"width": "2,4"}, ("loss",))}
    one = Exhibit(**{**vars(plain), "id": "map", "sweeps": swept})
    toys.install(toy, toys.toy_paper(maps=(one,)))
    cells = swept_by_hand({"loss": np.full((2, 1), 0.1)}, {"width": [2, 4]}, seeds=1)
    monkeypatch.setattr("attnflow.site.reproduce.gather_sweep", lambda *_: cells)
    names = [exhibit["id"] for exhibit in program.json("reproduce", "toy")["exhibits"]]
    assert names == ["figure1"]
    assert "reproduce toy/map" in Path("attnflow-output/toy/index.html").read_text()
    (alone,) = program.json("reproduce", "toy/map")["exhibits"]
    assert alone["id"] == "map" and alone["agrees"] is True
    whole = program.json("reproduce", "toy", "--maps")["exhibits"]
    assert [exhibit["id"] for exhibit in whole] == ["figure1", "map"]


def test_disagreement_is_exit_code_1(program, toy):
    exhibit = toys.toy_paper().exhibits[0]
    other = Exhibit(**{**vars(exhibit), "printed": {"loss": 0.7}})
    toys.install(toy, toys.toy_paper(exhibits=(other,)))
    (exhibit,) = program.json("reproduce", code=1)["exhibits"]
    assert exhibit["agrees"] is False
    assert "DIFFERS" in program("reproduce").stdout


def test_an_interrupted_run_draws_nothing(program, toy, tmp_path):
    exhibit = toys.toy_paper().exhibits[0]
    needs = {"main": Request("flow", {"ends": "interrupted"})}
    other = Exhibit(**{**vars(exhibit), "needs": needs})
    toys.install(toy, toys.toy_paper(exhibits=(other,)))
    assert program("reproduce").exit_code == 130
    assert list((tmp_path / "attnflow-output" / "toy").iterdir()) == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("tay", "Did you mean 'toy'"),
        ("toy/figure2", "Did you mean 'figure1'"),
        ("toy/", "ends in a slash"),
    ],
)
def test_wrong_names(program, target, message):
    assert message in program.refused("reproduce", target)


def test_a_file_in_the_way(program, tmp_path):
    (tmp_path / "file").write_text("")
    for target in ((), ("toy",)):
        said = program.refused("reproduce", *target, "--out", "file")
        assert "a file is in its way. Give another one with --out" in " ".join(
            said.split()
        )


def several(toy):
    """A toy paper of two figures, so that they are shared out."""
    one = toys.toy_paper().exhibits[0]
    two = Exhibit(**{**vars(one), "id": "figure2", "title": "Losses again"})
    toys.install(toy, toys.toy_paper(exhibits=(one, two)))


def test_runs_are_made_once_for_several_figures(program, toy):
    several(toy)
    exhibits = program.json("reproduce")["exhibits"]
    assert [exhibit["id"] for exhibit in exhibits] == ["figure1", "figure2"]
    assert len(toy.calls) == 1


def test_what_did_not_change_is_not_made_again(program, toy, tmp_path, monkeypatch):
    several(toy)
    first = program.json("reproduce")["exhibits"]
    picture = tmp_path / "attnflow-output" / "toy" / "figure2.svg"
    before = picture.stat().st_mtime_ns
    assert program.json("reproduce")["exhibits"] == first
    assert picture.stat().st_mtime_ns == before
    picture.unlink()
    program.json("reproduce")
    assert picture.is_file()
    monkeypatch.setattr("attnflow.site.reproduce.code_digest", lambda *_: "other code")
    program.json("reproduce")
    assert picture.stat().st_mtime_ns > before


def test_smaller_runs_never_take_the_place_of_the_papers_own(program, tmp_path):
    program("reproduce")
    program("reproduce", "--quick")
    output = tmp_path / "attnflow-output"
    folders = [output / "toy", output / "quick" / "toy"]
    records = [json.loads((place / "figure1.json").read_text()) for place in folders]
    assert [record["quick"] for record in records] == [False, True]
    assert [r["runs"][0]["setting"]["width"] for r in records] == [4, 2]


def test_a_drawing_that_fails_is_named(program, toy):
    one = toys.toy_paper().exhibits[0]
    two = Exhibit(**{**vars(one), "id": "figure2", "draw": lambda evidence: 1 / 0})
    toys.install(toy, toys.toy_paper(exhibits=(one, two)))
    done = program("reproduce")
    assert done.exit_code == 70
    assert "toy/figure2 could not be drawn. ZeroDivisionError" in done.stderr


def test_the_site_shows_what_was_judged(program, tmp_path):
    program("reproduce")
    page = tmp_path / "attnflow-output" / "toy" / "index.html"
    assert "These claims were not judged for this page" in page.read_text("utf-8")
    program("verify", "--seeds", "3")
    program("reproduce")
    assert "not judged for this page" not in page.read_text("utf-8")
    assert "1 of 1" in page.read_text("utf-8")
    index = (tmp_path / "attnflow-output" / "index.html").read_text("utf-8")
    assert 'href="toy/index.html"' in index


def test_of_several_what_lacks_its_data_set_is_left_out(program, toy, tmp_path):
    def missing(evidence):
        raise MissingData("there is no such data set here.", "put it to /tmp.")

    one = toys.toy_paper().exhibits[0]
    two = Exhibit(**{**vars(one), "id": "figure2", "draw": missing})
    toys.install(toy, toys.toy_paper(exhibits=(one, two)))
    with pytest.warns(UserWarning, match="toy/figure2 is left out: there is no such"):
        exhibits = program.json("reproduce")["exhibits"]
    assert [exhibit["id"] for exhibit in exhibits] == ["figure1"]
    page = (tmp_path / "attnflow-output" / "toy" / "index.html").read_text("utf-8")
    assert "there is no such data set here." in page
    assert "put it to" not in page
    assert "no such data set" in program.refused("reproduce", "toy/figure2")


def test_runs_of_one_figure_are_shared_out(program, toy, monkeypatch):
    shared = []
    one = toys.toy_paper().exhibits[0]
    more = Request("flow", {"ends": "diverged"})
    several = Exhibit(**{**vars(one), "needs": {**one.needs, "more": more}})
    toys.install(toy, toys.toy_paper(exhibits=(several,)))

    def pool(workers, deaths):
        shared.append(workers)
        return Here()

    monkeypatch.setattr("attnflow.runs.verify.Pool", pool)
    assert program("reproduce", "toy/figure1").exit_code == 0
    assert shared == [None]


def test_alone_it_must_have_its_data_set_however_many_runs_it_needs(program, toy):
    def missing(evidence):
        raise MissingData("there is no such data set here.", "put it to /tmp.")

    one = toys.toy_paper().exhibits[0]
    needs = {**one.needs, "more": Request("flow", {"ends": "diverged"})}
    other = Exhibit(**{**vars(one), "needs": needs, "draw": missing})
    toys.install(toy, toys.toy_paper(exhibits=(other,)))
    assert "no such data set" in program.refused("reproduce", "toy/figure1")
