from dataclasses import replace

from attnflow.schema.declarations import Exhibit, SweepRequest
from tests import toy as toys


def test_json(program):
    listing = program.json("list")
    assert listing["version"] == 2
    assert listing["papers"] == [{"slug": "toy", "title": "A toy paper"}]
    assert listing["experiments"] == [{"paper": "toy", "id": "flow"}]
    assert listing["exhibits"] == [{"paper": "toy", "id": "figure1", "kind": "figure"}]
    assert listing["claims"][0] == {
        "paper": "toy",
        "id": "T-Thm1",
        "place": "Section 1",
        "kind": "identity",
        "statement": "The loss falls.",
        "origin": "paper",
        "expected": "holds",
        "uses": [],
    }


def test_claims_list_what_their_statements_rest_on(program, toy):
    inventory = {
        "lemma": [{"id": "Lemma 1"}],
        "theorem": [{"id": "Theorem 1", "uses": ["Lemma 1"], "claims": ["T-Thm1"]}],
    }
    toys.install(toy, toys.toy_paper(inventory=inventory))
    first, second = program.json("list")["claims"]
    assert (first["uses"], second["uses"]) == (["Lemma 1"], [])


def test_maps_are_listed_as_such(program, toy):
    (plain,) = toys.toy_paper().exhibits
    swept = {"map": SweepRequest("flow", {"width": "2,4"}, ("loss",))}
    one = Exhibit(**{**vars(plain), "id": "map", "needs": {}, "sweeps": swept})
    toys.install(toy, toys.toy_paper(maps=(one,)))
    kinds = {e["id"]: e["kind"] for e in program.json("list")["exhibits"]}
    assert kinds == {"figure1": "figure", "map": "map"}


def test_people_see_every_kind(program):
    shown = program("list", "--all").stdout
    for text in ("A toy paper", "toy/flow", "toy/figure1", "T-Thm1", "The loss falls."):
        assert text in shown


def test_without_a_paper_there_is_a_line_for_each_and_what_to_type(program):
    shown = program("list").stdout
    for text in ("A toy paper", "T-…", "attnflow list toy", "toy/T-Thm1 --explain"):
        assert text in shown
    assert "The loss falls." not in shown
    assert len(shown.splitlines()) < 10


def test_help_has_every_command_under_a_heading(program):
    shown = program("--help").stdout
    for text in ("Papers", "Results", "export-claims", "data", "attnflow demo"):
        assert text in shown
    assert "─ Commands" not in shown


def test_one_paper(program):
    assert program.json("list", "toy")["papers"][0]["slug"] == "toy"
    assert "width=4 learning_rate=0.1" in program("list", "toy").stdout


def test_an_experiment_lists_what_differs_from_an_earlier_one(program, toy):
    (flow,) = toys.toy_paper().recipes
    wide = replace(flow, id="wide", setting=replace(flow.setting, width=8))
    again = replace(flow, id="again")
    toys.install(toy, toys.toy_paper(recipes=(flow, wide, again)))
    shown = [
        line.split(maxsplit=1) for line in program("list", "toy").stdout.split("\n")
    ]
    assert ["wide", "as flow: width=8"] in shown
    assert ["again", "as flow"] in shown


def test_a_misspelt_paper_is_refused(program):
    assert "Did you mean 'toy'" in program.refused("list", "tay")


def test_an_experiment_has_the_table_of_its_settings(program):
    (experiment,) = program.json("list", "toy/flow")["experiments"]
    assert experiment["settings"][0] == {
        "name": "width",
        "takes": "an integer from -2^63 to 2^63 - 1 or 'infinite'",
        "unit": "",
        "kind": "shape",
        "default": "4",
    }
    shown = program("list", "toy/flow").stdout
    assert "Settings of the toy experiment." in shown
    assert "learning_rate  0.1" in shown
    assert "Did you mean 'flow'" in program.refused("list", "toy/flaw")
