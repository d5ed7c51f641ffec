import pytest

from tests.faults.zygote import Programs, Scratch


@pytest.fixture(scope="package")
def programs():
    """`attnflow` in children of one process."""
    server = Programs()
    yield server
    server.close()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A store, caches and a folder for the programs of a module."""
    return Scratch(tmp_path_factory.mktemp("scratch"))
