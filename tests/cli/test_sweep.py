"""`attnflow sweep`: what it prints, writes and refuses."""

import json

import pytest
import xarray as xr
from typer.testing import CliRunner

from attnflow.cli.app import app

# A Monte Carlo bound: a real experiment whose cells take milliseconds.
CELLS = ("mixture/concentration", "omega=0.1..0.3:3", "width=8,16", "draws=5")
ASKED = ("--measure", "bound", "--executor", "here", "--seeds", "2")


@pytest.fixture
def program():
    def call(*args):
        return CliRunner().invoke(app, [str(arg) for arg in args])

    return call


def sweeps_of(program, *args, code=0):
    done = program("sweep", *args, "--json", "-")
    assert done.exit_code == code, done.output
    content = json.loads(done.stdout)
    assert content["version"] == 2
    return content["sweeps"]


def refused(program, *args):
    done = program("sweep", *args)
    assert done.exit_code == 2, done.output
    assert done.stdout == "" and "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_a_sweep_its_status_and_its_file(program, tmp_path):
    (before,) = sweeps_of(program, *CELLS, *ASKED, "--status")
    assert before["status"]["pending"] == 6 and "values" not in before
    file = tmp_path / "map.nc"
    (sweep,) = sweeps_of(program, *CELLS, *ASKED, "--out", file)
    assert sweep["name"] == "mixture/concentration"
    assert [axis["dim"] for axis in sweep["axes"]] == ["omega", "width"]
    assert sweep["axes"][1]["values"] == [[8], [16]]
    assert sweep["seeds"] == [0, 1] and sweep["measures"] == ["bound"]
    assert sweep["status"]["done"] == 6 and sweep["id"] == before["id"]
    values = sweep["values"]["bound"]
    assert (len(values), len(values[0]), len(values[0][0])) == (3, 2, 2)
    with xr.open_dataset(file, engine="h5netcdf") as stored:
        assert stored["bound"].values.tolist() == values
        assert (stored["error"] == "").all()
    (after,) = sweeps_of(program, *CELLS, *ASKED, "--status")
    assert after["status"]["done"] == 6
    (listed,) = sweeps_of(program, "--status")
    assert (listed["batches"], listed["batches_done"]) == (1, 1)
    shown = program("sweep", *CELLS, *ASKED).stdout
    assert "6 of 6 cells of mixture/concentration are done." in shown
    assert shown.splitlines()[0].split() == ["omega", "width", "bound"]


def test_failed_cells_are_told_and_are_no_success(program):
    cells = ("mixture/concentration", "width=8,2147483647", "draws=5")
    done = program("sweep", *cells, *ASKED)
    assert done.exit_code == 1
    assert "1 have no result (1 failed); --retry computes them" in done.stdout
    (again,) = sweeps_of(program, *cells, *ASKED, "--retry", code=1)
    assert again["status"]["outcomes"] == {"failed": 1}
    assert again["values"]["outcome"][1] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "No experiment is named"),
        (("mixture/figur1", "omega=1,2"), "Did you mean 'figure1'"),
        (("mixture/figure1", "omga=1,2"), "Did you mean 'omega'"),
        (("mixture/figure1", "omega"), "neither a setting nor a range"),
        (("mixture/figure1", "omega=1..2"), "the number of values"),
        (("mixture/figure1", "omega=1,2", "--zip", "omega,K"), "no swept key 'K'"),
        (("mixture/figure1", "omega=1,2", "--measure", "los"), "Did you mean 'loss'"),
        (("mixture/figure1", "omega=1,2", "--executor", "dsk"), "Did you mean 'dask'"),
        (("mixture/figure1", "omega=1,2", "--limit", "-1"), "positive number"),
        (("mixture/figure1", "omega=1,2", "--out", "no/such.nc"), "no directory"),
        (("mixture/figure1", "omega=1,2", "--batch", "0"), "--batch"),
        (("mixture/figure1", "omega=1,2", "--refine", "0.1"), "over two"),
    ],
)
def test_mistakes_are_explained(program, args, said):
    # An option, since without any word the program shows its help.
    assert said in refused(program, *args, "--seeds", "1")


def test_refinement_from_the_command_line(program):
    cells = ("mixture/concentration", "delta=0.05..0.5:9", "omega=0.1..0.9:9")
    options = ("--refine", "0.5", "--coarse", "4", "width=8", "draws=3")
    (sweep,) = sweeps_of(program, *cells, *ASKED, *options)
    assert sweep["cells_full"] == 81
    assert sweep["cells_computed"] == sweep["status"]["cells"] < 81
    shape = len(sweep["values"]["inside"]), len(sweep["values"]["inside"][0])
    assert shape == (9, 9)
    law = sweep["boundary"]
    low, high = law["exponent_interval"]
    assert low <= law["exponent"] <= high and law["power"] == 2.0
    text = program("sweep", *cells, *ASKED, *options, "--power", "3").stdout
    assert f"{sweep['cells_computed']} of the 81 cells of the grid" in text
    assert "Along it omega goes as delta^" in text
    assert "delta·omega^3 is" in text
