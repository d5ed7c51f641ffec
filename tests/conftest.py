import functools
import gc
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

# Fixtures and protocols, as authors of other papers get them.
pytest_plugins = ["attnflow.testing"]

# Tracing makes objects by the million, most of which go by themselves: to look for
# cycles among them as often as Python does takes 5% of the whole run.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish():
    """What is imported by now stays: nobody need look through it again."""
    gc.freeze()


# The ordinary run tries the same few examples each time, so that its answer is of the
# code alone; `make verify` goes on to others, and to more of them.
# How long an example takes depends on what else the machine does.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile("same")


# Data sets may lie beside the clone, where the machine's owner has put them.
BESIDE = Path(__file__).parents[2] / "shared" / "data"
if BESIDE.is_dir():
    os.environ.setdefault("ATTNFLOW_DATA", str(BESIDE))


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """Tests that compile without a run must not fill up the process either."""
    yield
    import sys

    if "jax" in sys.modules:
        from attnflow.training.programs import make_room

        make_room()


HELD_TO_OTHERS = ("models", "observables", "oracle")
"""Folders whose runs are held to other programs, at any learning rate."""


@pytest.fixture(autouse=True, scope="module")
def any_rate(request):
    """Runs without the threshold of their learning rate: one program less for each.

    A fifth of the time of a short descent; `tests/experiments/test_limits.py` has them.
    """
    if request.path.relative_to(Path(__file__).parent).parts[0] in HELD_TO_OTHERS:
        with pytest.MonkeyPatch.context() as patch:
            module = importlib.import_module("attnflow.experiments.run")
            patch.setattr(module, "rate_limit", lambda *_: "left out by the tests")
            yield
    else:
        yield


@pytest.fixture
def thresholds(monkeypatch):
    """Thresholds of learning rates, also where `any_rate` leaves them out."""
    module = importlib.import_module("attnflow.experiments.run")
    limits = importlib.import_module("attnflow.experiments.limits")
    monkeypatch.setattr(module, "rate_limit", limits.rate_limit)


@functools.cache
def _has_data(directory):
    from attnflow.data.real import CATALOGUE, state_of

    files = [(one, file) for one in CATALOGUE.values() for file in one.files]
    return all(state_of(*each) == "present" for each in files)


@pytest.fixture
def data_at_hand():
    """Data sets are on this machine; without them the test is skipped."""
    if not _has_data(os.environ.get("ATTNFLOW_DATA")):
        pytest.skip("MNIST and WikiText-2 are not here: attnflow data fetch")


@pytest.fixture
def precise():
    """Double precision, and no promotion that was not asked for."""
    import attnflow

    with attnflow.precise():
        yield


@pytest.fixture
def toy(monkeypatch):
    """The toy paper and experiment in the place of the real ones."""
    import sys

    from attnflow.papers import base as papers
    from tests import toy

    module = toy.ToyModule()
    monkeypatch.setattr(papers, "SLUGS", papers.SLUGS)
    monkeypatch.setitem(sys.modules, "attnflow.experiments", None)
    monkeypatch.setitem(sys.modules, "attnflow.papers.toy", None)
    monkeypatch.setitem(sys.modules, toy.DOCUMENT, None)
    toy.install(module)
    return module
