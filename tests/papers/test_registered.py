"""Papers of other packages: found, checked, and never in the way of others."""

import signal

import pytest

from attnflow.papers import SLUGS, module_of, paper, papers
from attnflow.papers.base import BrokenPaper, BrokenPaperWarning
from attnflow.runs.code import code_digest
from attnflow.sweeps.sweep import plan_sweep
from tests.cli.conftest import Program

MODULE = """
from tests.toy import toy_paper
PAPER = toy_paper(slug={slug!r}, letter={letter!r}, claims=(), headline_claims=())
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Install a package by hand: a module and the metadata of its entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name, code=None, *, slug=None, letter="Needle", package=None):
        slug = slug or name
        text = MODULE.format(slug=slug, letter=letter) if code is None else code
        (tmp_path / f"{name}.py").write_text(text)
        metadata = tmp_path / f"{package or name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {package or name}\nVersion: 1.0\n")
        points = f"[attnflow.papers]\n{slug} = {name}:PAPER\n"
        (metadata / "entry_points.txt").write_text(points)
        return tmp_path / f"{name}.py"

    return install


def test_a_registered_paper_is_like_ours(site):
    site("needle_one", slug="needle-one")
    found = paper("needle-one")
    assert found.slug == "needle-one"
    assert list(papers()) == [*SLUGS, "needle-one"]
    assert module_of("needle-one") == "needle_one"
    assert module_of("mixture") == "attnflow.papers.mixture"
    assert "needle-one" in Program()("list").output


def test_its_code_belongs_to_the_address_of_its_runs(site):
    file = site("needle_two")
    before = code_digest("needle_two")
    assert before != code_digest("no_such_paper")
    file.write_text(file.read_text() + "\n# a comment\n")
    code_digest.cache_clear()
    assert code_digest("needle_two") == before
    file.write_text(file.read_text() + "\nVERSION = 2\n")
    code_digest.cache_clear()
    assert code_digest("needle_two") != before


def test_its_statistics_can_be_swept(site):
    statistic = "Statistic('fall', '…', 'needle_three:fall', ('loss',))"
    text = MODULE.format(slug="needle_three", letter="Needle").replace(
        ", claims=()", f", claims=(), recipes=(RECIPE,), statistics=({statistic},)"
    )
    imports = (
        "from attnflow.schema.declarations import Statistic\n"
        "from tests.sweeps.trivial import RECIPE"
    )
    fall = "def fall(run):\n    return run['loss'][:, -1]"
    file = site("needle_three", f"{imports}\n{text}\n{fall}")

    def code():
        sweep = plan_sweep("needle_three/trivial", {"a": [1, 2]}, measure="fall")
        return sweep.statistics[0].code

    before = code()
    file.write_text(file.read_text() + "\nVERSION = 2\n")
    code_digest.cache_clear()
    assert code() != before


@pytest.mark.parametrize(
    "name, code, why",
    [
        ("broken_one", "import no_such_module", "No module named 'no_such_module'"),
        ("broken_two", "raise SystemExit(3)", "SystemExit: 3"),
        ("broken_twelve", "\nCLAIMS == 1", "broken_twelve.py, line 2). Fix"),
        ("broken_nine", "raise GeneratorExit", "GeneratorExit"),
        ("broken_ten", "raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("broken_eleven", "raise BaseException('odd')", "BaseException: odd"),
        ("broken_three", "PAPER = 3", "is of type int, not an attnflow.Paper"),
        ("broken_four", "", "has no attribute 'PAPER'"),
        ("broken_five", MODULE.format(slug="x", letter="X1"), "calls itself 'x'"),
    ],
)
def test_a_broken_one_is_named_and_left_out(site, name, code, why):
    site(name, code)
    with pytest.warns(BrokenPaperWarning, match=name) as told:
        found = papers()
    assert why in str(told[0].message) and f"the package {name}" in str(told[0].message)
    assert set(found) == set(SLUGS)
    with pytest.raises(BrokenPaper, match=r"Fix|Let|Use"):
        paper(name)


def test_a_part_that_is_broken_is_named_and_left_out(site):
    text = MODULE.format(slug="partly", letter="Needle")
    text = text.replace("claims=()", "claims='partly_claims:CLAIMS'")
    file = site("partly", text)
    file.with_name("partly_claims.py").write_text("raise KeyboardInterrupt")
    assert paper("partly").slug == "partly", "nobody asked for its claims"
    with pytest.raises(BrokenPaper, match=r"partly_claims:CLAIMS.*Fix that package"):
        assert paper("partly").claims
    with pytest.warns(BrokenPaperWarning, match="KeyboardInterrupt"):
        done = Program()("list")
    assert done.exit_code == 0 and "mixture/figure1" in done.stdout


@pytest.mark.parametrize("swallowed", [False, True])
def test_an_interrupt_during_its_import_is_an_interrupt(site, swallowed):
    """The signal arrives while the module is imported, and nobody is blamed."""
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    if swallowed:
        code = f"try:\n    {code.replace(chr(10), chr(10) + '    ')}"
        code += "\nexcept KeyboardInterrupt:\n    raise SystemExit(1)\n"
    name = f"interrupted_{swallowed}".lower()
    site(name, code)
    # Processes of pytest-xdist ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            paper(name)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_single_letters_are_ours(site):
    site("lettered", letter="A")
    with pytest.raises(BrokenPaper, match="single letters are attnflow's"):
        paper("lettered")


def test_a_name_of_ours_stays_ours(site):
    site("other_mixture", slug="mixture")
    with pytest.warns(BrokenPaperWarning, match="attnflow has experiments of"):
        assert papers()["mixture"].letter == "B"
    assert module_of("mixture") == "attnflow.papers.mixture"


def test_a_name_that_two_packages_claim(site):
    site("first_of_two", slug="shared")
    site("second_of_two", slug="shared")
    with pytest.raises(BrokenPaper, match=r"2 times, by .* and .*rename"):
        paper("shared")


def test_a_name_that_nobody_has(site):
    site("needle_three")
    with pytest.raises(ValueError, match="Did you mean 'needle_three'"):
        paper("needle_tree")


def test_listing_goes_on_beside_a_broken_one(site, recwarn):
    site("broken_six", "1 / 0")
    done = Program()("list")
    assert done.exit_code == 0 and "mixture/figure1" in done.output
    (told,) = [w for w in recwarn if w.category is BrokenPaperWarning]
    assert "ZeroDivisionError: division by zero" in str(told.message)
