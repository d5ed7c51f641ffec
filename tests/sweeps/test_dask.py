"""A real cluster of processes, whose workers are killed while it computes."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from attnflow.sweeps import (
    BatchStore,
    choose_executor,
    executors,
    make_batches,
    run_sweep,
    status_of,
)
from attnflow.sweeps.executors import Here
from tests.sweeps.trivial import Direct, make_sweep

distributed = pytest.importorskip("distributed")
CommClosedError = distributed.comm.CommClosedError
pytestmark = [
    # Sockets of connections whose other end was killed, and event loops that go with
    # them, are closed by whoever collects garbage next.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Killer(threading.Thread):
    """Kills processes that compute, by the numbers that cells leave in a log."""

    def __init__(self, log, times):
        super().__init__(daemon=True)
        self.log, self.times, self.killed = log, times, set()
        self.random = random.Random(3)

    def run(self):
        while len(self.killed) < self.times:
            time.sleep(self.random.uniform(0.05, 0.3))
            begun = {int(path.name.split("-")[2]) for path in self.log.iterdir()}
            living = sorted(begun - self.killed)
            if living:
                victim = self.random.choice(living)
                os.kill(victim, signal.SIGKILL)
                self.killed.add(victim)


def kill_and_compare(tmp_path, overrides, *, times, seconds):
    log = tmp_path / "log"
    log.mkdir()
    slow = Direct(log=str(log), seconds=seconds)
    sweep = make_sweep(overrides, statistics=(slow,), size=4)
    store = BatchStore(tmp_path / "killed")
    killer = Killer(log, times)
    killer.start()
    with closing(choose_executor("dask", workers=2)) as executor:
        result = run_sweep(sweep, executor, store=store)
    assert len(killer.killed) == times
    plain = make_sweep(overrides, size=4)
    quiet = run_sweep(plain, Here(), store=BatchStore(tmp_path / "quiet"))
    assert result.identical(quiet)
    assert np.isfinite(result["sum"]).all()
    assert status_of(make_batches(sweep), store).is_complete
    # Every cell was begun, and some of them more than once.
    assert len(list(log.iterdir())) > result["error"].size


def test_killed_workers_change_nothing(tmp_path):
    kill_and_compare(tmp_path, {"a": "0..1:20", "b": "1,2"}, times=1, seconds=0.02)


@pytest.mark.slow
def test_twenty_killed_workers_change_nothing(tmp_path):
    overrides = {"a": "0..1:50", "b": [*range(1, 11)]}
    kill_and_compare(tmp_path, overrides, times=20, seconds=0.05)


def test_a_cluster_that_runs_already_and_what_fails_there(tmp_path):
    trouble = Direct("raise", where=0.5)
    sweep = make_sweep({"a": "0..1:5"}, statistics=(trouble,), size=2)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        address = cluster.scheduler_address
        with closing(choose_executor("dask", scheduler=address)) as executor:
            result = run_sweep(sweep, executor, store=BatchStore(tmp_path))
    assert (result["error"] != "").values.tolist() == [False, False, True, False, False]
    assert np.isfinite(result["sum"].sel(a=1.0)).all()


def started(module, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    return subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "loss",
    [
        distributed.KilledWorker("task", None, 3),
        distributed.CancelledError("task"),
        CommClosedError("closed"),
        TimeoutError(),
    ],
)
def test_reports_that_are_lost_are_asked_for_again(loss):
    """Until the batch has been lost too often, or its own error is the answer."""
    failing = SimpleNamespace(result=raising(loss))
    batch = make_batches(make_sweep({"a": "1,2"}))[0]
    assert executors._report(failing, batch, 1) is None
    last = executors._report(failing, batch, executors.RESUBMISSIONS + 1)
    assert last is not None and "it was lost 200 times" in last.trouble
    wrong = SimpleNamespace(result=raising(KeyError("no such thing")))
    report = executors._report(wrong, batch, 1)
    assert report is not None and report.trouble.startswith("KeyError")


def raising(error):
    def result():
        raise error

    return result


@pytest.mark.slow
def test_a_scheduler_that_is_killed_and_comes_back(tmp_path):
    """It knows of nothing then; what was not done is submitted again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    store = BatchStore(tmp_path / "killed")
    here = ("--host", "127.0.0.1", "--port", port)
    living = [started("dask_scheduler", *here), started("dask_worker", address)]

    def restart():
        while len(store.known()) < 3:
            time.sleep(0.02)
        for process in living:
            process.kill()
            process.wait()
        living[:] = [started("dask_scheduler", *here), started("dask_worker", address)]

    sweep = make_sweep({"a": "0..1:40"}, statistics=(Direct(seconds=0.1),), size=2)
    thread = threading.Thread(target=restart, daemon=True)
    thread.start()
    try:
        with closing(choose_executor("dask", scheduler=address)) as executor:
            result = run_sweep(sweep, executor, store=store)
        assert not thread.is_alive()
    finally:
        for process in living:
            process.kill()
            process.wait()
    quiet = run_sweep(
        make_sweep({"a": "0..1:40"}, size=2), Here(), store=BatchStore(tmp_path)
    )
    assert result.identical(quiet)


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "PATIENCE", 0.5)
    executor = choose_executor("dask", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="No scheduler answers at tcp"):
        run_sweep(make_sweep({"a": "1,2"}), executor, store=BatchStore(tmp_path))


def test_nobody_else_is_let_in(tmp_path):
    sweep = make_sweep({"a": "0..1:4"}, size=2)
    with closing(choose_executor("dask", workers=1)) as executor:
        run_sweep(sweep, executor, store=BatchStore(tmp_path))
        cluster = executor._cluster
        address = cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        # Neither without encryption nor with a certificate of their own.
        strangers = distributed.Security.temporary()
        for target, security in (
            (address.replace("tls", "tcp"), None),
            (address, strangers),
        ):
            with pytest.raises((OSError, TimeoutError)):
                distributed.Client(target, security=security, timeout="1s")
        ports = executor._client.run(lambda dask_worker: dask_worker.http_server.port)
        for port in (cluster.scheduler.http_server.port, *ports.values()):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=1)
