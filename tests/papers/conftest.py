"""Runs that the tests of a paper share, and protocols for each claim and exhibit."""

from functools import cache

import pytest

from attnflow.runner import Runner
from attnflow.store import Store
from tests.papers.protocol import ClaimProtocol, ExhibitProtocol


def pytest_generate_tests(metafunc):
    """A protocol's checks, for each exhibit or claim of the module's paper."""
    owner = metafunc.cls or object
    if issubclass(owner, ExhibitProtocol) and "exhibit" in metafunc.fixturenames:
        metafunc.parametrize("exhibit", owner.parameters(metafunc.module.PAPER))
    if issubclass(owner, ClaimProtocol) and "claim" in metafunc.fixturenames:
        judged = "judging" in metafunc.fixturenames
        metafunc.parametrize(
            "claim", owner.parameters(metafunc.module.PAPER, judged=judged)
        )


@pytest.fixture(scope="session")
def runner_of(tmp_path_factory, worker_id):
    """Name and options → a runner whose runs are made once by all workers."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    return cache(lambda name, **options: Runner(Store(root / name), **options))


@pytest.fixture(scope="module")
def runner(runner_of, request):
    """A runner with quick settings, for the paper of the module."""
    return runner_of(f"{request.module.PAPER.slug}-runs", quick=True)


@pytest.fixture(scope="module")
def evidence_of(runner, request):
    """Exhibit's id → its runs."""
    paper = request.module.PAPER
    return lambda id: runner.gather(paper, paper.exhibit(id).needs)


@pytest.fixture(scope="module")
def judging(runner_of, request):
    """A runner for claims; `SEEDS` of the module where seeds are left open."""
    name = f"{request.module.PAPER.slug}-claims"
    return runner_of(name, seeds=getattr(request.module, "SEEDS", None))
