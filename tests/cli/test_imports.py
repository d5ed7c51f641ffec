"""Which libraries a command imports: none that it does not use."""

import json
import os
import subprocess
import sys

import pytest

from attnflow.papers import SLUGS, paper
from attnflow.schema.settings import address, as_record

DRAWING = {"matplotlib"}
TRAINING = {"jax", "equinox", "diffrax", "optax"}
ARRAYS = {"xarray", "pandas", "dask", "scipy", "jaxtyping"}
HEAVY = DRAWING | TRAINING | ARRAYS

PROGRAM = """
import json, sys
from attnflow.cli import main
ends = []
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    names = [name for name, module in sys.modules.items() if module]
    ends.append([code, sorted(name for name in names if "." not in name)])
print(json.dumps(ends), file=sys.stderr)
"""
READING = {
    "--help": 0,
    "run --help": 0,
    "list": 0,
    "list mixture": 0,
    "runs": 0,
    "cite vit": 0,
    "run mixture/figure1 widht=3": 2,
    "run mixture/figure2": 2,
    "verify mixture/B-nothing": 2,
}
"""Commands that only read declarations, and their exit codes."""

SMALL = ("run", "mixture/figure1", "steps=3", "records=2")


@pytest.fixture(scope="module")
def modules_of(tmp_path_factory):
    """What some commands import, one after the other in a process of their own."""
    place = tmp_path_factory.mktemp("imports")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "ATTNFLOW_STORE": str(place / "runs"),
        "XDG_CACHE_HOME": str(place / "cache"),
    }

    def modules(*commands):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(commands)],
            env=environment,
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        ends = json.loads(done.stderr.splitlines()[-1])
        return [(code, set(names)) for code, names in ends], done.stdout

    return modules


def test_what_only_reads_declarations_imports_no_library(modules_of):
    ends, _ = modules_of(*(line.split() for line in READING))
    for (line, wanted), (code, names) in zip(READING.items(), ends, strict=True):
        assert code == wanted, line
        assert not HEAVY & names, line


@pytest.fixture(scope="module")
def fresh(modules_of):
    """The modules that a run imports, and what it prints."""
    ((code, names),), shown = modules_of(SMALL)
    assert code == 0
    return names, shown


def test_a_descent_imports_no_solver_of_flows_and_draws_nothing(fresh):
    names, _ = fresh
    assert "jax" in names
    assert not {"diffrax", "optimistix", "lineax", *DRAWING} & names
    # Both are installed here: xarray would import the one to ask whether an array is of
    # its kind, and stores were once written by the other.
    assert not {"dask", "zarr"} & names


def test_a_stored_run_is_shown_without_arrays(fresh, modules_of):
    ((_, names),), shown = modules_of(SMALL)
    assert not HEAVY & names
    assert shown == fresh[1]


def test_a_stored_run_is_exported_without_jax(fresh, modules_of):
    id = fresh[1].split()[1]
    ((code, names),), _ = modules_of(("export", id, "--out", "run.nc"))
    assert code == 0 and "xarray" in names
    assert not (TRAINING | DRAWING) & names


@pytest.mark.parametrize("slug", SLUGS)
def test_experiments_of_a_paper_have_one_address_by_setting_and_by_content(slug):
    """A function that builds depends on its setting alone: no run changes places."""
    by_setting, by_content = {}, {}
    for recipe in paper(slug).recipes:
        named = {"build": recipe.build, "setting": as_record(recipe.setting)}
        built = recipe.experiment(recipe.setting)
        by_setting.setdefault(address(named, seeds=(0,)), set()).add(recipe.id)
        by_content.setdefault(address(built.canonical(), seeds=(0,)), set()).add(
            recipe.id
        )
        assert built.canonical() == recipe.experiment(recipe.setting).canonical()
    assert list(by_setting.values()) == list(by_content.values())
