"""Runs that the tests of `cooccurrence` share, small and computed once."""

import pytest

from attnflow.papers.cooccurrence import PAPER
from attnflow.runner import Runner
from attnflow.store import Store


@pytest.fixture(scope="session")
def runner(tmp_path_factory, worker_id):
    """A runner with the quick settings; workers share its store."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    return Runner(Store(root / "cooccurrence-runs"), quick=True)


@pytest.fixture(scope="session")
def evidence_of(runner):
    """Exhibit id → its evidence, made once."""
    made = {}

    def gather(id):
        if id not in made:
            made[id] = runner.gather(PAPER, PAPER.exhibit(id).needs)
        return made[id]

    return gather
