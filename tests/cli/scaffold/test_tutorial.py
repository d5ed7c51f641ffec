"""The tutorial's paper inside this process: from nothing to a claims table."""

import sys

import pytest

import attnflow as af
from attnflow.cli.scaffold import write_paper
from attnflow.runs.store import Store
from attnflow.testing import check_claim, frozen
from tests.cli.conftest import Program
from tests.cli.scaffold import tutorial

MODULE = "needle"


@pytest.fixture(scope="module")
def needle(tmp_path_factory):
    """The paper, registered, and a runner that all tests share."""
    root = tmp_path_factory.mktemp("tutorial")
    write_paper("needle", root)
    tutorial.apply(root / "needle")
    tutorial.register(root / "needle", "needle", MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "needle" / "src"))
        yield af.paper("needle"), af.Runner(Store(root / "runs"), seeds=2)
    for name in [n for n in sys.modules if n.partition(".")[0] == MODULE]:
        del sys.modules[name]


def test_under_160_lines():
    lines = [line for _, _, text in tutorial.blocks() for line in text.splitlines()]
    assert len([line for line in lines if line.strip()]) < 160


def test_it_is_listed(needle):
    listed = Program().json("list", "needle")
    assert [claim["id"] for claim in listed["claims"]] == [
        "Needle-L1",
        "Needle-L2",
        "Needle-T1",
    ]
    assert listed["exhibits"] == [
        {"paper": "needle", "id": "figure1", "kind": "figure"}
    ]


@pytest.mark.parametrize("id", ["Needle-L1", "Needle-T1"])
def test_claims_hold_and_can_fail(id, needle):
    paper, runner = needle
    check_claim(paper.claim(id), runner.gather(paper, paper.claim(id).needs))


@pytest.mark.slow
def test_values_come_first(needle):
    """A program of its own, for two seeds."""
    paper, runner = needle
    claim = paper.claim("Needle-L2")
    check_claim(claim, runner.gather(paper, claim.needs))


def test_the_figure_shows_one_clock(needle):
    paper, runner = needle
    (exhibit,) = paper.exhibits
    runs = runner.gather(paper, exhibit.needs)
    display = exhibit.display(runs)
    assert display.checks() == {"all lengths share one clock": True}
    still = exhibit.display({name: frozen(run) for name, run in runs.items()})
    assert not any(still.checks().values())
    assert display.values()["L = 16384"] == pytest.approx(5.36, abs=0.01)
    (ax,) = display.draw().axes
    assert len(ax.lines) == 5


def test_the_page_prints_what_the_claims_say(needle):
    paper, _ = needle
    page = tutorial.PAGE.read_text("utf-8")
    for claim in paper.claims:
        (row,) = [x for x in page.splitlines() if x.startswith(f"{claim.id} ")]
        assert claim.place in row and row.endswith(claim.statement)
        assert f"{claim.expected}    the same" in row


def test_it_has_an_explorer_without_a_line_of_its_own(needle):
    explorer = af.explore("needle")
    (experiment, *_) = explorer.document["experiments"]
    assert {knob["kind"] for knob in experiment["knobs"]} >= {"number", "choice"}
    assert experiment["panels"] and experiment["observables"]
    assert explorer.html.startswith("<!")
