"""As a new user would: the wheel and the tutorial's paper in a clean environment."""

import json

import pytest

from attnflow.cli.scaffold import write_paper
from tests.cli.scaffold import tutorial
from tests.test_packaging import ROOT, call, install, make_environment
from tests.test_packaging import wheel as wheel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """A directory with the paper, and an environment where both are installed."""
    place = tmp_path_factory.mktemp("user")
    write_paper("needle", place)
    tutorial.apply(place / "needle")
    python = make_environment(place / "venv")
    install(python, wheel, f"{place / 'needle'}[test]", "-c", ROOT / "constraints.txt")
    return place


def attnflow(place, *arguments):
    return call(place / "venv" / "bin" / "attnflow", *arguments, cwd=place)


def test_it_is_listed_beside_ours(place):
    listed = json.loads(attnflow(place, "list", "--json", "-"))
    slugs = [paper["slug"] for paper in listed["papers"]]
    assert slugs[-1] == "needle" and "mixture" in slugs


def test_all_claims_hold(place):
    claims = json.loads(attnflow(place, "verify", "needle", "--json", "-"))["claims"]
    rows = {row["id"]: row["verdict"] for row in claims}
    assert rows == {f"Needle-{n}": "holds" for n in ("L1", "L2", "T1")}


def test_figure_and_page(place):
    content = json.loads(attnflow(place, "reproduce", "needle", "--json", "-"))
    (figure,) = content["exhibits"]
    # The paper of the tutorial prints neither numbers nor a description.
    assert figure["agrees"] is None
    assert figure["checks"] and all(figure["checks"].values())
    assert (place / "attnflow-output" / "needle" / "index.html").is_file()


def test_run_sweep_and_cite(place):
    run = json.loads(attnflow(place, "run", "needle/search", "--json", "-"))
    assert run["runs"][0]["final"]["loss"] < 0.1
    sweep = ("sweep", "needle/search", "length=16,32", "--measure", "Needle-L1")
    assert "holds" in attnflow(place, *sweep)
    assert "@misc{needle2026," in attnflow(place, "cite", "needle")


def test_its_own_tests_pass(place):
    python = place / "venv" / "bin" / "python"
    output = call(python, "-m", "pytest", "-q", "needle", cwd=place)
    assert "failed" not in output and "passed" in output
