"""What `help()` shows works as it is shown."""

import doctest
import importlib
from pathlib import Path

import pytest

import attnflow

pytestmark = pytest.mark.cpus

TEACHING = (
    "attnflow",
    "attnflow.runs.runner",
    "attnflow.runs.view",
    "attnflow.runs.ledger",
    "attnflow.sweeps.sweep",
    "attnflow.papers.citation",
    "attnflow.claims.checks",
    "attnflow.runs.checkpoints.inputs",
    "attnflow.runs.checkpoints.observe",
    "attnflow.experiments.mixing.build",
)
"""Modules whose examples are run: each shows one thing, at small sizes."""

SOURCE = Path(attnflow.__file__).parent


def test_every_module_with_examples_is_listed():
    modules = {
        ".".join(("attnflow", *path.relative_to(SOURCE).with_suffix("").parts))
        for path in SOURCE.rglob("*.py")
        if ">>> " in path.read_text("utf-8")
    }
    assert {module.removesuffix(".__init__") for module in modules} == set(TEACHING)


@pytest.mark.parametrize("name", TEACHING)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 1 and found.failed == 0
