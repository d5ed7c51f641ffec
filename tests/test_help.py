"""What `help()` shows works as it is shown."""

import doctest
import importlib

import pytest

pytestmark = pytest.mark.cpus

TEACHING = (
    "attnflow",
    "attnflow.papers",
    "attnflow.runs.runner",
    "attnflow.runs.view",
    "attnflow.runs.ledger",
    "attnflow.sweeps.sweep",
    "attnflow.papers.citation",
    "attnflow.claims.base",
    "attnflow.runs.checkpoints.inputs",
    "attnflow.runs.checkpoints.observe",
    "attnflow.experiments.mixing.build",
)
"""Modules whose examples are run: each shows one thing, at small sizes."""


@pytest.mark.parametrize("name", TEACHING)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 1 and found.failed == 0
