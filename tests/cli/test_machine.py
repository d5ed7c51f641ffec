"""`doctor` and `bench`."""

import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from attnflow import cli
from attnflow.cli import machine
from attnflow.cli.machine import VARIABLES
from attnflow.runs.workers import ENVIRONMENT
from attnflow.schema.installation import MissingData


def test_doctor(program, store_of_its_own):
    facts = program.json("doctor")
    assert facts["store"] == {
        "path": str(store_of_its_own),
        "writable": True,
        "trouble": "",
        "runs": 0,
    }
    assert facts["x64"] is True
    assert facts["packages"]["jax"]
    assert "h5netcdf" in facts["packages"]
    assert "pytest" not in facts["packages"]
    assert facts["cores"] >= 1
    assert "writable" in program("doctor").stdout


@pytest.mark.parametrize(
    ("variable", "directory", "inside"),
    [
        ("ATTNFLOW_STORE", "store", ""),
        ("ATTNFLOW_DATA", "data", ""),
        ("ATTNFLOW_CACHE", "compiled", "compiled"),
        ("XDG_CACHE_HOME", "cache", ""),
    ],
)
def test_doctor_shows_each_directory_where_its_variable_puts_it(
    program, tmp_path, monkeypatch, variable, directory, inside
):
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    facts = program.json("doctor")
    place = str(tmp_path / "elsewhere" / inside).rstrip("/")
    assert facts["variables"][variable] == str(tmp_path / "elsewhere")
    assert facts["directories"][directory]["path"] == place
    assert place in program("doctor").stdout


def test_doctor_shows_what_follows_from_the_users_cache(program, tmp_path, monkeypatch):
    for name in ("ATTNFLOW_STORE", "ATTNFLOW_DATA", "ATTNFLOW_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    facts = program.json("doctor")
    paths = {name: entry["path"] for name, entry in facts["directories"].items()}
    home = tmp_path / "attnflow"
    assert paths["store"] == str(home / "runs")
    assert paths["data"] == str(home / "data")
    assert paths["compiled"] == str(home / "compiled")
    assert facts["data"] == {"mnist": "missing", "wikitext-2": "missing"}


@pytest.mark.parametrize("variable", VARIABLES)
def test_doctor_shows_every_variable(variable, monkeypatch, tmp_path):
    monkeypatch.setenv(variable, "some-value")
    assert machine.variables()[variable] == "some-value"
    monkeypatch.delenv(variable)
    assert machine.variables()[variable] is None


def test_every_variable_that_the_code_reads_is_listed():
    """By name: `os.environ.get("X")`, or a constant that is one."""
    source = Path(machine.__file__).parents[1]
    texts = [path.read_text("utf-8") for path in source.rglob("*.py")]
    names = {name for text in texts for name in re.findall(r"ATTNFLOW_[A-Z]+", text)}
    names |= {
        name
        for text in texts
        for name in re.findall(r"environ(?:\.get|\.setdefault)?[\[(]\"(\w+)\"", text)
    }
    threads = set(ENVIRONMENT)
    # pytest's own, in the fixtures that other packages use.
    assert names | threads <= {*VARIABLES, "PYTEST_XDIST_WORKER"}
    assert {"XDG_CACHE_HOME", "ATTNFLOW_CACHE"} <= names


def test_doctor_says_what_is_in_the_way(program, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path / "file" / "data"))
    entry = program.json("doctor")["directories"]["data"]
    assert entry["trouble"] == f"CANNOT BE USED: {tmp_path / 'file'} is not a directory"
    assert "CANNOT BE USED" in program("doctor").stdout


@pytest.mark.parametrize("is_compiled", [True, False])
def test_doctor_says_whether_modules_are_compiled(
    program, tmp_path, monkeypatch, is_compiled
):
    compiled, source = tmp_path / "jax.pyc", tmp_path / "jax" / "__init__.py"
    if is_compiled:
        compiled.write_text("")
    spec = types.SimpleNamespace(cached=str(compiled), origin=str(source))
    monkeypatch.setattr(machine, "find_spec", lambda name: spec)
    assert program.json("doctor")["modules"]["compiled"] is is_compiled
    shown = program("doctor").stdout
    assert ("NOT COMPILED" in shown) is not is_compiled
    assert is_compiled or f"compileall -q {tmp_path}" in shown


def test_doctor_and_an_unwritable_store(program, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "file" / "runs"))
    facts = program.json("doctor")
    assert facts["store"]["writable"] is False
    assert "Set ATTNFLOW_STORE" in program("doctor").stdout


@dataclass(frozen=True)
class Case:
    paper: str
    id: str


@pytest.fixture
def benchmarks(monkeypatch):
    cases = [Case("toy", "one"), Case("mix", "two")]
    names = ("size", "ours", "weights", "torch", "ratio", "spread", "agreement")
    names = (*names, "first", "lean", "lean_ratio", "memory")

    def run_case(case, progress):
        progress(0.5, "half")
        return {"paper": case.paper, "id": case.id, **dict.fromkeys(names, 1.0)}

    module = types.ModuleType("attnflow.cli.benchmarks")
    module.__dict__.update(cases=lambda: cases, run_case=run_case)
    monkeypatch.setitem(sys.modules, "attnflow.cli.benchmarks", module)
    # Where the real one was imported before, its package has it.
    monkeypatch.setattr(cli, "benchmarks", module, raising=False)


def test_bench(program, benchmarks):
    assert [c["id"] for c in program.json("bench")["cases"]] == ["one", "two"]
    assert [c["id"] for c in program.json("bench", "toy")["cases"]] == ["one"]
    assert [c["id"] for c in program.json("bench", "mix")["cases"]] == ["two"]
    assert "toy/one" in program("bench").stdout
    assert "Did you mean 'toy'" in program.refused("bench", "tay")


def test_a_case_that_fails_does_not_lose_the_others(program, benchmarks, monkeypatch):
    whole = sys.modules["attnflow.cli.benchmarks"].run_case

    def run_case(case, progress):
        if case.id == "one":
            raise RuntimeError("The benchmark toy/one failed: no message.")
        return whole(case, progress)

    monkeypatch.setattr(sys.modules["attnflow.cli.benchmarks"], "run_case", run_case)
    done = program("bench")
    assert done.exit_code == 1
    assert "mix/two" in done.stdout
    assert "toy/one failed" in done.stderr


def test_a_case_without_its_data_is_left_out(program, benchmarks, monkeypatch):
    whole = sys.modules["attnflow.cli.benchmarks"].run_case

    def run_case(case, progress):
        if case.id == "one":
            raise MissingData("MNIST is not here: attnflow data get mnist.")
        return whole(case, progress)

    monkeypatch.setattr(sys.modules["attnflow.cli.benchmarks"], "run_case", run_case)
    done = program("bench")
    assert done.exit_code == 0
    assert "toy/one is left out: MNIST is not here" in done.stderr
    assert "mix/two" in done.stdout


def test_bench_without_torch(program, benchmarks, monkeypatch):
    monkeypatch.setattr("attnflow.cli.machine.find_spec", lambda name: None)
    done = program("bench")
    assert done.exit_code == 0
    assert "attnflow[torch]" in done.stderr
