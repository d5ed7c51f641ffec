"""What `help()` shows works as it is shown."""

import doctest
import importlib

import pytest

TEACHING = (
    "attnflow",
    "attnflow.papers",
    "attnflow.runner",
    "attnflow.run_view",
    "attnflow.ledger",
    "attnflow.sweeping",
    "attnflow.citation",
    "attnflow.claims.margins",
    "attnflow.observing.beginnings",
    "attnflow.observing.observe",
    "attnflow.mixing.build",
)
"""Modules whose examples are run: each shows one thing, at small sizes."""


@pytest.mark.parametrize("name", TEACHING)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 1 and found.failed == 0
