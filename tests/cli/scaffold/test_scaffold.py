"""What `new-paper` writes, and what it refuses."""

import subprocess
import sys
import tomllib

import pytest

from attnflow.cli.scaffold import names_of, write_paper
from attnflow.papers import paper
from tests.cli.conftest import Program
from tests.cli.scaffold.tutorial import register


def test_names():
    names = names_of("needle-in-hay-stacks")
    assert names.package == "needle_in_hay_stacks"
    assert names.letter == "NeedleInHayS"
    assert names.title == "Needle in hay stacks"


@pytest.mark.parametrize(
    "name, why",
    [
        ("mixture", "attnflow has experiments 'mixture/…' already.*'mixture-2'"),
        ("mix", "attnflow has experiments 'mix/…' already.*'mix-2'"),
        ("My_Paper", "as in 'my-paper'"),
        ("n", "two or more lower-case letters"),
        ("2nd", "as in 'nd'"),
        ("", "as in 'needle'"),
        ("class", "a word of Python.*'class-paper'"),
        ("numpy", "installed already.*'numpy-paper'"),
    ],
)
def test_names_that_cannot_be(name, why, tmp_path):
    with pytest.raises(ValueError, match=why):
        write_paper(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "straw").mkdir()
    with pytest.raises(ValueError, match=r"straw exists already.*--into"):
        write_paper("straw", tmp_path)
    with pytest.raises(ValueError, match=r"no directory .*nowhere"):
        write_paper("straw", tmp_path / "nowhere")


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()]
)
def test_what_could_not_be_finished_is_not_left(tmp_path, monkeypatch, error):
    def full(place, text):
        if place.name == "paper.bib":
            raise error
        place.write_text(text)

    monkeypatch.setattr("attnflow.cli.scaffold.package.write_text", full)
    with pytest.raises(type(error)):
        write_paper("straw", tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_command_says_what_comes_next(tmp_path):
    program = Program()
    answer = program.json("new-paper", "straw", "--into", tmp_path)
    assert str(tmp_path / "straw" / "pyproject.toml") in answer["files"]
    again = program.refused("new-paper", "straw", "--into", tmp_path)
    assert "exists already" in again
    done = program("new-paper", "hay", "--into", tmp_path)
    assert "attnflow verify hay" in done.stdout


@pytest.fixture
def straw(tmp_path, monkeypatch):
    write_paper("straw-man", tmp_path)
    home = tmp_path / "straw-man"
    register(home, "straw-man", "straw_man")
    monkeypatch.syspath_prepend(str(home / "src"))
    yield home
    for name in [n for n in sys.modules if n.partition(".")[0] == "straw_man"]:
        del sys.modules[name]


def test_the_package_is_a_paper(straw):
    loaded = paper("straw-man")
    assert [claim.id for claim in loaded.claims] == ["StrawMan-Prop1"]
    assert loaded.bibtex.startswith("@misc{straw-man2026,")
    declared = tomllib.loads((straw / "pyproject.toml").read_text())
    points = declared["project"]["entry-points"]["attnflow.papers"]
    assert points == {"straw-man": "straw_man:PAPER"}


def test_the_package_is_clean(straw):
    """By the rules that a stranger's linter is likely to have."""
    ruff = [sys.executable, "-m", "ruff"]
    rules = ["--isolated", "--select", "E,F,I,UP,B,D1"]
    for command in (["check", *rules], ["format", "--isolated", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "."], cwd=straw, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_package_passes_its_own_tests(straw):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist"],
        cwd=straw,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
