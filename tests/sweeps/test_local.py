"""Spawned workers: killed, deadly, late and interrupted, with the same Dataset."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from attnflow.sweeps import BatchStore, make_batches, run_sweep, status_of
from attnflow.sweeps.executors import Here, Local
from tests.runs.running import is_running
from tests.sweeps.trivial import Direct, make_sweep

GRID = {"a": "0..1:11", "b": "1,2"}


def undisturbed(sweep, directory):
    return run_sweep(sweep, Here(), store=BatchStore(directory))


class Killer(threading.Thread):
    """Kills a random worker whenever another batch is done, some times."""

    def __init__(self, store, times):
        super().__init__(daemon=True)
        self.store, self.times, self.killed = store, times, []

    def run(self):
        seen = 0
        while len(self.killed) < self.times:
            time.sleep(0.01)
            children = multiprocessing.active_children()
            done = len(self.store.known())
            if done > seen and children:
                seen = done
                victim = children[done % len(children)]
                os.kill(victim.pid, signal.SIGKILL)
                self.killed.append(victim.pid)


def test_killed_workers_change_nothing(tmp_path):
    sweep = make_sweep(GRID, statistics=(Direct(seconds=0.02),), size=3)
    store = BatchStore(tmp_path / "killed")
    killer = Killer(store, times=1)
    killer.start()
    with closing(Local(2)) as executor:
        result = run_sweep(sweep, executor, store=store)
        assert len(killer.killed) == 1
        # Workers wait for more batches, and are not started again for them.
        workers = {child.pid for child in multiprocessing.active_children()}
        assert len(workers) == 2
        run_sweep(make_sweep({"a": "2,3,4"}, size=1), executor, store=store)
        assert workers == {c.pid for c in multiprocessing.active_children()}
    assert not multiprocessing.active_children()
    assert result.identical(undisturbed(sweep, tmp_path / "quiet"))
    assert not list((store.root / "journal").iterdir())


def test_late_cells_fail_alone(tmp_path):
    """A cell that takes too long; the others of its batch have results."""
    sweep = make_sweep({"a": "0,1"}, statistics=(Direct("sleep", where=1.0),))
    store = BatchStore(tmp_path / "late")
    # On a busy machine a cell that costs nothing may wait a second for its turn.
    result = run_sweep(sweep, Local(1), store=store, limit=3.0)
    assert result["outcome"].sel(a=1.0).values.tolist() == ["out-of-time"] * 2
    assert result["error"].sel(a=1.0).item() == "It takes more than 3.0 seconds."
    quiet = undisturbed(make_sweep({"a": "0,1"}), tmp_path / "quiet")
    assert result.sel(a=[0.0]).identical(quiet.sel(a=[0.0]))
    assert status_of(make_batches(sweep), store).outcomes == {"out-of-time": 1}
    files = [p for p in store.root.rglob("*") if p.is_file()]
    assert len(files) == 2


@pytest.mark.slow
def test_cells_that_kill_their_workers_are_found(tmp_path):
    sweep = make_sweep({"a": "0..1:3"}, statistics=(Direct("die", where=0.5),))
    result = run_sweep(sweep, Local(2), store=BatchStore(tmp_path / "deadly"))
    assert result["outcome"].sel(a=0.5).values.tolist() == ["killed"] * 2
    quiet = undisturbed(make_sweep({"a": "0..1:3"}), tmp_path / "quiet")
    assert result.sel(a=[0.0, 1.0]).identical(quiet.sel(a=[0.0, 1.0]))


PROGRAM = """
import os, signal, sys
from attnflow.sweeps import BatchStore, run_sweep
from attnflow.sweeps.executors import Local
from tests.sweeps.trivial import Direct, make_sweep
if __name__ == "__main__":
    # A shell tells its jobs in the background, such as these tests, to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    measure = Direct(seconds=0.05, log=sys.argv[2])
    sweep = make_sweep({"a": "0..1:100"}, statistics=(measure,), size=2)
    run_sweep(sweep, Local(1), store=BatchStore(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_driver_that_ends_leaves_what_is_done(tmp_path, end):
    """By Ctrl-C or by SIGKILL; its workers do not outlive it for long."""
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(PROGRAM)
    log.mkdir()
    root = Path(__file__).parents[2]
    paths = [str(root / "src"), str(root)]
    process = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path / "store"), str(log)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stderr=subprocess.DEVNULL,
    )
    store = BatchStore(tmp_path / "store")
    deadline = time.monotonic() + 60
    while len(store.known()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(end)
    process.wait(timeout=30)
    worker = int(next(log.iterdir()).name.split("-")[2])
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(worker)
    done = store.known()
    assert 2 <= len(done) < 50
    for key in done:
        assert store.read(key).attrs["failed_cells"] == 0
