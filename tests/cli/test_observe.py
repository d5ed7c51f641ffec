"""`attnflow observe` on a real paper: files in, a run out, and its verdict."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

import attnflow as af
from attnflow.cli.app import app

TARGET = "mixture/figure1"
SETTING = ("steps=20", "records=3", "width=8")


def call(*args, code=0):
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def weights():
    return af.initial_weights(TARGET, width=8)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_series_become_a_run_that_is_judged(weights):
    stacked = {name: np.stack([w] * 3) for name, w in weights.items()}
    np.savez("series.npz", time=[0.0, 10.0, 20.0], **stacked)
    np.savez("other.npz", time=[0.0, 10.0, 20.0], **stacked)
    args = ("observe", TARGET, "series.npz", "other.npz", *SETTING, "-o", "mine.nc")
    (run,) = json.loads(call(*args, "--json", "-").stdout)["runs"]
    assert (run["form"], run["seeds"]) == ("observed", [0, 1])
    args = ("verify", "mixture/B-Sec3-order", "--run", "mine.nc", "--json", "-")
    done = call(*args, code=1)
    (row,) = json.loads(done.stdout)["claims"]
    # Weights that never move learn nothing in any order.
    assert (row["verdict"], row["scope"], row["held"]) == ("fails", "beyond", 0)


def test_files_at_times_with_a_map_of_names(weights):
    theirs = {"key.weight": "W_K", "query.weight": "W_Q"}
    state = {name: weights[ours] for name, ours in theirs.items()}
    plus, minus = weights["w"]
    for step in (0, 20):
        save_file({**state, "plus": plus, "minus": minus}, f"{step}.safetensors")
    names = [f"--name={ours}={name}" for name, ours in theirs.items()]
    args = ("observe", TARGET, "0.safetensors", "20.safetensors", "--at", "0,20")
    done = call(*args, *names, "--name", "w=plus+minus", *SETTING, "-o", "mine.nc")
    assert "lacks    1 of the 3 times" in done.stdout
    assert af.read_run_file("mine.nc")["time"].values.tolist() == [0.0, 20.0]
    done = call(*args, *names, *SETTING, "-o", "mine.nc", code=2)
    assert "The checkpoint has no 'w' (2, 4)." in done.stderr
    assert "key.weight (2, 8, 4), minus (4,)" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["width=8"], "There are no files"),
        (["absent.npz"], "There is no file absent.npz"),
        (["a.npz", "--at", "0", "--seeds", "1"], "give one of the two"),
        (["a.npz", "--seeds", "one"], "--seeds 'one' is not a list"),
        (["a.npz", "-o", "absent/mine.nc"], "there is no directory absent"),
    ],
)
def test_wrong_usage(args, message):
    assert message in call("observe", TARGET, "-o", "mine.nc", *args, code=2).stderr
