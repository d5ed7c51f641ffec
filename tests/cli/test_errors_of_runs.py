"""What the program says of real runs: rates that are too large, checked flows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from attnflow.cli.app import app

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_rate_that_is_too_large_is_one_line_on_stderr(tmp_path):
    """As other warnings are, for which `test_process` has a cheaper program."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "attnflow", "run", "mixture/figure1"),
            *("learning_rate=50", "steps=20", "--json", "-"),
        ],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "ATTNFLOW_STORE": str(tmp_path / "store"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert 0 < run["rate_threshold"] < 50
    lines = [line for line in done.stderr.splitlines() if "Warning" in line]
    (line,) = lines
    assert line.startswith("Warning: The learning rate 50 lies beyond ")
    assert f"{run['rate_threshold']:.4g}" in line
    assert "rates.py" not in done.stderr and "warn(" not in done.stderr


def test_a_checked_flow(tmp_path):
    done = CliRunner().invoke(
        app,
        [
            *("run", "mixture/figure1", "rule=flow", "steps=2", "rtol=1e-6"),
            *("--check", "--json", str(tmp_path / "run.json")),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "change at a tenth of the tolerance" in done.stdout
    assert "does not bound the error" in done.stdout
    (run,) = json.loads((tmp_path / "run.json").read_text())["runs"]
    assert 0 < run["refinement"] < 1e-3


def test_steps_need_no_check():
    done = CliRunner().invoke(app, ["run", "mixture/figure1", "--check"])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "whose steps are exact: nothing is to be refined" in done.stderr
