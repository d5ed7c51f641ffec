"""Runs that the tests of a paper share, and a test for each claim and exhibit."""

import os
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.testing.protocols import (
    AbstractClaimProtocol,
    ExhibitProtocol,
    TextProtocol,
    gather,
)

MARKS = ("slow: takes long", "paper: judges a claim of a paper")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that keeps runs between sessions."""
    parser.addoption(
        "--runs",
        metavar="DIR",
        help="--runs=DIR (with =): a store of runs, such as that of `attnflow verify`, "
        "which tests of claims and exhibits read and add to; without it they begin "
        "with an empty one",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks of the protocols known."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A protocol's checks, for each exhibit, claim or entry of the module's paper."""
    owner, names = metafunc.cls or object, metafunc.fixturenames
    paper: Any = getattr(metafunc.module, "PAPER", None)
    if issubclass(owner, ExhibitProtocol) and "exhibit" in names:
        shown = "evidence_of" in names
        metafunc.parametrize("exhibit", owner.parameters(paper, shown=shown))
    if issubclass(owner, AbstractClaimProtocol) and "claim" in names:
        judged = "judging" in names
        metafunc.parametrize("claim", owner.parameters(paper, judged=judged))
    if issubclass(owner, TextProtocol) and "entry" in names:
        metafunc.parametrize("entry", owner.parameters(paper))


@pytest.fixture(autouse=True)
def store_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """No test reads or writes the user's own store."""
    # pytest's numbered directories look through all there are, for every test.
    folder = tmp_path_factory.getbasetemp() / "stores" / uuid.uuid4().hex
    folder.mkdir(parents=True)
    monkeypatch.setenv("ATTNFLOW_STORE", str(folder / "runs"))
    return folder / "runs"


@pytest.fixture(scope="session")
def runner_of(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[..., Runner]:
    """Name and options → a runner whose runs are computed once by all workers."""
    # Plugins of a folder below the first one come too late to add an option.
    if kept := pytestconfig.getoption("--runs", None):
        # An address has the digest of the code, so that what is read is what is tested.
        store = Store(kept)
        return cache(lambda name, **options: Runner(store, **options))
    base = tmp_path_factory.getbasetemp()
    # Workers of pytest-xdist have a directory each, in one that they share.
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return cache(lambda name, **options: Runner(Store(root / name), **options))


@pytest.fixture(scope="module")
def paper(request: pytest.FixtureRequest) -> Paper:
    """The paper of the module."""
    return request.module.PAPER


@pytest.fixture(scope="module")
def runner(runner_of: Callable[..., Runner], request: pytest.FixtureRequest) -> Runner:
    """A runner with quick settings, for the paper of the module."""
    return runner_of(f"{request.module.PAPER.slug}-runs", quick=True)


@pytest.fixture(scope="module")
def evidence_of(
    runner: Runner, request: pytest.FixtureRequest
) -> Callable[[str], dict[str, xr.Dataset]]:
    """Exhibit's id → its runs; skipped where they need a data set that is not here."""
    paper = request.module.PAPER
    return lambda id: gather(runner, paper, paper.exhibit(id).needs)


@pytest.fixture(scope="module")
def judging(runner_of: Callable[..., Runner], request: pytest.FixtureRequest) -> Runner:
    """A runner for claims; `SEEDS` of the module where seeds are left open."""
    name = f"{request.module.PAPER.slug}-claims"
    return runner_of(name, seeds=getattr(request.module, "SEEDS", None))
