"""The program as its own process: light, quiet, and it stops when told to."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOY = [sys.executable, "-m", "tests.toy"]


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "ATTNFLOW_STORE": str(tmp_path / "store"),
    }


def test_help_is_light_and_quick():
    code = (
        "import sys\n"
        "from attnflow.cli import main\n"
        "sys.argv = ['attnflow', '--help']\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    heavy = {'jax', 'xarray', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "    print('heavy:', heavy or 'nothing')\n"
    )
    before = _processor_seconds()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    seconds = _processor_seconds() - before
    assert done.returncode == 0
    assert "heavy: nothing" in done.stdout
    assert "reproduce" in done.stdout
    assert seconds < 0.5


def _processor_seconds():
    """What child processes have used so far: other work on the machine is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_python_m_attnflow():
    done = subprocess.run(
        [sys.executable, "-m", "attnflow", "--version"], capture_output=True, text=True
    )
    assert done.stdout.startswith("attnflow ")


def test_only_json_on_stdout_and_progress_and_warnings_on_stderr(environment, tmp_path):
    """A warning is one line."""
    (tmp_path / "file").write_text("")
    store = {"ATTNFLOW_STORE": str(tmp_path / "file")}
    done = subprocess.run(
        [*TOY, "run", "toy/flow", "--json", "-"],
        env={**environment, **store, "TOY_SECONDS": "1.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["version"] == 2
    # How many of its three steps are shown depends on what else the machine does.
    assert "toy/flow: step" in done.stderr
    lines = [line for line in done.stderr.splitlines() if "%" not in line[:4]]
    assert len(lines) == 1 and lines[0].startswith("Warning: The run")


def test_a_reader_that_leaves_early(environment):
    done = subprocess.run(
        f"{' '.join(TOY)} list | head -n 1",
        shell=True,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "start",
    [
        pytest.param([], marks=pytest.mark.slow),
        ["sh", "-c", '"$@" & wait $!', "sh"],
    ],
)
def test_interrupt(environment, tmp_path, start):
    """Ctrl-C in a long run, also where a shell started it in the background."""
    program = subprocess.Popen(
        [*start, *TOY, "run", "toy/flow"],
        env={**environment, "TOY_SECONDS": "60"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    marker = tmp_path / "computing"
    deadline = time.monotonic() + 30
    while not marker.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marker.exists(), "the run never started"
    sent = time.monotonic()
    os.kill(int(marker.read_text()), signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert time.monotonic() - sent < 10
    assert program.returncode == 130
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    assert list((tmp_path / "store").glob("*")) == []


@pytest.mark.slow
def test_a_flow_is_compiled_once_for_all_sessions(environment, tmp_path):
    environment["ATTNFLOW_CACHE"] = str(tmp_path / "cache")
    run = [sys.executable, "-m", "attnflow", "run", "mixture/stage1", "T1=1"]
    kept = []
    for more in ([], ["omega=0.12"]):
        subprocess.run([*run, *more], env=environment, check=True, capture_output=True)
        kept.append({path.name for path in (tmp_path / "cache/compiled").iterdir()})
    assert any(n.startswith("flow_") and n.endswith(".program") for n in kept[0])
    assert kept[1] == kept[0]
