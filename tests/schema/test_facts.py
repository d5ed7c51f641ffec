"""What objects say of themselves, in a terminal and in a notebook."""

import pytest
import xarray as xr

import attnflow as af
from attnflow.experiments import Computation
from attnflow.runs.ledger import PaperView
from attnflow.runs.view import RunView
from attnflow.schema.facts import Facts, html_table, text_table
from tests.toy import make_run, toy_paper

HOSTILE = "<script>alert(1)</script> & more"


def test_facts_are_aligned_and_wrapped():
    long = "word " * 40
    lines = Facts("Title", (("a", "one"), ("longer", long)), hint="this").text()
    title, first, *rest, hint = lines.splitlines()
    assert (title, first, hint) == ("Title", "  a       one", "Try this")
    assert all(len(line) <= 88 for line in rest) and len(rest) == 3
    assert all(line.startswith(" " * 10 + "word") for line in rest[1:])


def test_nothing_hostile_reaches_a_notebook():
    table = ((HOSTILE,), [(HOSTILE,)])
    shown = Facts(HOSTILE, ((HOSTILE, HOSTILE),), table, HOSTILE).html()
    assert "<script" not in shown and shown.count("&lt;script&gt;") == 6
    assert "<script" not in html_table(*table)


def test_tables_have_columns():
    assert text_table(("a", "bc"), [("100", "2")]).splitlines() == [
        "a    bc",
        "---  --",
        "100  2",
    ]


def test_a_paper_says_what_there_is():
    text = repr(toy_paper())
    assert text.startswith("toy: A toy paper\n")
    assert "2 (recorded: 2 holds)" in text
    assert text.endswith('Try af.run("toy/flow")')
    assert "<td style='text-align:left'>figure1</td>" in toy_paper()._repr_html_()


def test_claims_show_as_a_table_and_one_by_one():
    claims = PaperView(toy_paper()).claims
    assert repr(claims).splitlines()[0] == "2 claims of toy"
    assert "T-Thm2  Section 1  identity  holds     The loss falls." in repr(claims)
    assert "<td>T-Thm1</td>" in claims._repr_html_()
    text = repr(claims["T-Thm2"])
    assert "judged by   the lowest loss is at most 0.2" in text
    assert "2 of flow" in text and "kind        identity" in text


def test_experiments_say_what_they_train():
    recipe = af.paper("mixture").recipe("three-stage")
    text = " ".join(repr(recipe.experiment(recipe.setting)).split())
    assert "rule=flow learning_rate=0.1" in text
    assert (
        "2: attention (scores by gradient flow on conflicting samples) until "
        "score[+,c1,v1] rises to 1" in text
    )
    assert "401 times from 0.1 to 11000, log spaced" in text
    computed = Computation("toy", "Square", {"power": 2}, "toys:square")
    assert repr(computed).splitlines()[:2] == [
        "Computation toy/Square",
        "  setting   power=2",
    ]


def test_a_run_says_where_it_comes_from():
    text = repr(make_run().attnflow)
    assert text.startswith("Run of toy/flow (0123456789abcdef)\n  setting   width=4\n")
    assert "transport: the cheapest exact form" in text
    assert "loss        0.1, 0.41" in text
    assert make_run().attnflow.setting == {"width": 4}
    assert "<th>at the end</th>" in make_run().attnflow._repr_html_()


def test_other_datasets_are_no_runs():
    with pytest.raises(ValueError, match="is not a run of attnflow: it lacks"):
        repr(RunView(xr.Dataset()))
