"""Every code block of the documentation runs, and prints what is shown."""

import shlex

import pytest
import typer.main
from typer.testing import CliRunner

from attnflow.cli.app import app
from attnflow.papers.base import paper
from attnflow.runs.pool import Here
from attnflow.runs.runner import find_experiment
from tests.docs.blocks import (
    Block,
    blocks_of,
    commands_of,
    difference,
    pages,
    run_page,
    same,
)

# Pages whose blocks are run by tests of their own, which know what they are parts of.
ELSEWHERE = {
    "docs/parts.md": "tests/test_parts_page.py",
    "docs/your-own-paper.md": "tests/cli/scaffold",
}
SHELL = ("bash", "console", "")
PAGES = [page for page in pages() if page not in ELSEWHERE]


def _cases():
    for page in PAGES:
        blocks = [b for b in blocks_of(page) if b.language == "python" and b.runs]
        if blocks:
            is_slow = any(block.slow for block in blocks)
            yield pytest.param(page, marks=[pytest.mark.slow] if is_slow else [])


def _commands(*, slow):
    for page in PAGES:
        for block in blocks_of(page):
            if block.language in SHELL and block.runs and block.slow == slow:
                for command, output in commands_of(block):
                    if not _is_sketch(command):
                        yield page, command, output


def _is_sketch(command):
    """Whether a command has words to be filled in: PAPER, FILE, KEY=VALUE, `…`."""
    return "…" in command or any(
        word.strip("[]").split("=")[0].split("/")[0].isupper()
        for word in command.split()[1:]
        if not word.startswith("-")
    )


@pytest.fixture
def folder(tmp_path, monkeypatch, store_of_its_own):
    """A directory of its own, a matplotlib that opens no window, and no processes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("attnflow.runs.verify.Pool", lambda *_, **__: Here())
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
@pytest.mark.parametrize("page", list(_cases()))
def test_python_blocks_print_what_is_shown(page, folder):
    if any("import torch" in block.text for block in blocks_of(page)):
        pytest.importorskip("torch")
    for block, printed in run_page(page):
        if block.output is not None:
            assert difference(printed, block.output) is None, block.text


@pytest.mark.parametrize(
    ("page", "command", "output"),
    [case for case in _commands(slow=False) if case[2].strip()],
)
def test_commands_print_what_is_shown(page, command, output, folder):
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    assert difference(done.output, output) is None


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "output"), list(_commands(slow=True)))
def test_slow_commands_succeed(page, command, output, folder):
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("page", "command"),
    sorted({case[:2] for slow in (False, True) for case in _commands(slow=slow)}),
)
def test_every_command_is_one(page, command):
    """It parses, and names a paper, an experiment or a claim that there is."""
    name, *arguments = shlex.split(command)[1:]
    group = typer.main.get_command(app)
    known = group.commands  # pyright: ignore[reportAttributeAccessIssue]
    assert name in known, command
    options = {o for p in known[name].params for o in (*p.opts, *p.secondary_opts)}
    for inner in getattr(known[name], "commands", {}).values():
        options |= {o for p in inner.params for o in p.opts}
    for word in arguments:
        if word.startswith("--"):
            assert word.partition("=")[0] in options | {"--help"}, command
    target = next((word for word in arguments if "/" in word), "")
    slug, _, id = target.partition("/")
    if name in ("run", "sweep", "observe") and target:
        owner, experiment = find_experiment(target)
        settings = dict(w.split("=") for w in arguments[1:] if "=" in w and w[0] != "-")
        for key, value in settings.items():
            fields = owner.recipe(experiment).setting.__dataclass_fields__
            assert key in fields, command
            if name == "run":
                owner.recipe(experiment).with_overrides({key: value})
    elif name == "verify" and target and not target.startswith("/"):
        paper(slug).claim(id)
    elif name == "reproduce" and target:
        paper(slug).exhibit(id)


def test_blocks_that_do_not_run_say_why():
    for page in pages():
        for block in blocks_of(page):
            assert block.mark in ("", "slow") or block.mark.startswith("not run: "), (
                page
            )


@pytest.mark.parametrize(
    ("printed", "shown", "alike"),
    [
        ("loss 0.1234", "loss 0.1235", True),
        ("loss 0.1234", "loss 0.1238", False),
        ("loss 1.1e-04", "loss 1.2e-04", True),
        ("loss 0.3", "loss 0", False),
        ("step 1004", "step 1000", True),
        ("8 claims", "9 claims", False),
        ("a b c d", "a\n...\nd", True),
        ("a b c d", "a\n...\nc", False),
        ("a b", "a", False),
    ],
)
def test_the_comparison_can_fail(printed, shown, alike):
    assert (difference(printed, shown) is None) == alike


def test_a_command_with_a_continuation_is_one_command():
    block = Block("bash", "attnflow run a \\\n  b=1\nls\n", "")
    assert commands_of(block) == [("attnflow run a    b=1", "")]
    assert same("x=1.00,", "x=1.01,")
