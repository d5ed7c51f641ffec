"""`doctor` and `bench`."""

import sys
import types
from dataclasses import dataclass

import pytest

from attnflow import cli
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
    cases = [Case("toy", "one"), Case("other", "two")]
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
    assert "other/two" in done.stdout
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
    assert "other/two" in done.stdout


def test_bench_without_torch(program, benchmarks, monkeypatch):
    monkeypatch.setattr("attnflow.cli.machine.find_spec", lambda name: None)
    done = program("bench")
    assert done.exit_code == 0
    assert "attnflow[torch]" in done.stderr
