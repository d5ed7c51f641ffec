"""`runs`, `export` and `cite`."""

import pytest

from attnflow.runs.run_files import read_run_file


def test_runs_lists_what_run_stored(program):
    summary = program.json("run", "toy/flow")["runs"][0]
    program.json("run", "toy/flow", "width=8")
    listed = program.json("runs")["runs"]
    assert [run["setting"]["width"] for run in listed] == [8, 4]
    assert {name: listed[1][name] for name in summary} == summary
    assert "width=8" in program("runs").stdout


def test_runs_of_a_paper(program):
    program("run", "toy/flow")
    assert len(program.json("runs", "--paper", "toy")["runs"]) == 1
    assert "Did you mean 'toy'" in program.refused("runs", "--paper", "tay")


def test_no_runs(program):
    assert program.json("runs") == {"version": 2, "runs": []}
    assert program("runs").stdout.startswith("0 runs in")


def test_export(program, tmp_path):
    id = program.json("run", "toy/flow")["runs"][0]["id"]
    answer = program.json("export", id[:6], "--out", "run.nc")
    assert answer == {"version": 2, "run": id, "file": "run.nc"}
    assert read_run_file(tmp_path / "run.nc").attrs["id"] == id


def test_the_old_spelling_still_works_and_says_so(program, tmp_path):
    id = program.json("run", "toy/flow")["runs"][0]["id"]
    done = program("export", id, "--netcdf", "run.nc")
    assert done.exit_code == 0 and (tmp_path / "run.nc").is_file()
    assert "--netcdf is deprecated and goes in 0.3: write --out FILE." in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["export", "nothing", "--out", "run.nc"], "no stored run 'nothing'"),
        (["export", "nothing"], "--out"),
        (["cite", "tay"], "Did you mean 'toy'"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_wrong_usage(program, args, message):
    assert message in program.refused(*args)


def test_export_into_nowhere(program):
    id = program.json("run", "toy/flow")["runs"][0]["id"]
    message = program.refused("export", id, "--out", "absent/run.nc")
    assert "there is no directory absent" in message


def test_cite(program):
    shown = program("cite", "toy").stdout
    assert shown.startswith("@article{toy2024")
    assert "@software{attnflow" in shown
    assert program.json("cite", "toy")["bibtex"] == shown.rstrip("\n")
