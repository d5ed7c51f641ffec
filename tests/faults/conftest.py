import pytest

from tests.faults.cases import CASES
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


@pytest.fixture(scope="package")
def undisturbed(programs, tmp_path_factory):
    """By the name of a case: a folder in which it was carried out, to be copied."""
    made = {}

    def of(name):
        if name not in made:
            scratch = Scratch(tmp_path_factory.mktemp(name))
            done = programs(scratch, *CASES[name].args)
            assert done.code == 0, (name, done.stderr)
            made[name] = scratch
        return made[name]

    return of
