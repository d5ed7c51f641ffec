"""Pools: answers to all tasks, whatever happens to workers."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from attnflow.runs import pool
from attnflow.runs.pool import Here, Pool, Trouble
from attnflow.runs.workers import Worker, cores
from tests.runs import tasks
from tests.runs.running import is_running


@pytest.fixture(scope="module", params=["pool", "here"])
def team(request):
    with closing(Pool(2) if request.param == "pool" else Here()) as pool:
        yield pool


def test_every_task_has_its_answer(team):
    waiting = [1, 2, 3, 4, 5]
    answers = dict(team.run(tasks.square, waiting))
    assert answers == {1: 1, 2: 4, 3: 9, 4: 16, 5: 25}
    assert waiting == []


def test_tasks_may_be_added_by_whoever_iterates(team):
    waiting, answers = [2], []
    for _, answer in team.run(tasks.square, waiting):
        answers.append(answer)
        if answer < 100:
            waiting.extend([answer, answer + 1])
    # Each answer below 100 asks for two more: 4; 16 and 25; four above 100.
    assert sorted(answers) == [4, 16, 25, 256, 289, 625, 676]


def test_an_error_is_told_with_its_place_and_others_go_on(team):
    answers = dict(team.run(tasks.square, [3, "three"]))
    assert answers[3] == 9
    assert isinstance(answers["three"], Trouble)
    assert answers["three"].text.startswith("TypeError: unsupported operand")
    assert "tasks.py" in answers["three"].details


def test_who_picks_decides(team):
    asked = []

    def last_first(waiting, last, others):
        asked.append((last, tuple(others)))
        return len(waiting) - 1

    order = [task for task, _ in team.run(tasks.square, [1, 2, 3], last_first)]
    assert order[0] in (2, 3)
    assert order[-1] in (1, 2)
    assert len(asked) == 3


def test_no_tasks(team):
    assert list(team.run(tasks.square, [])) == []


def test_workers_have_a_core_and_a_thread_each_and_stay():
    with closing(Pool(2, prepare=tasks.prepare)) as pool:
        first = [answer for _, answer in pool.run(tasks.who, list(range(6)))]
        again = [answer for _, answer in pool.run(tasks.who, list(range(6)))]
        assert {pid for pid, *_ in first} == {pid for pid, *_ in again}
    assert len({pid for pid, *_ in first}) == 2
    used = {core for _, own, *_ in first for core in own}
    assert all(len(own) == 1 for _, own, *_ in first)
    assert used == set(cores()[:2])
    assert {threads for _, _, threads, _ in first} == {"1"}
    assert all(prepared == ["yes"] for *_, prepared in first)
    assert not multiprocessing.active_children()


def test_a_task_that_lost_its_worker_is_tried_again(tmp_path):
    with closing(Pool(1)) as pool:
        answers = dict(pool.run(tasks.dies_once, [tmp_path / "died"]))
    assert list(answers.values()) == ["alive"]


def test_a_deadly_task_is_given_up_and_others_go_on():
    with closing(Pool(1, deaths=2)) as pool:
        answers = dict(pool.run(tasks.deadly, ["one", "deadly", "two"]))
    assert answers.pop("deadly") == Trouble(
        "2 worker processes died while they worked on it."
    )
    assert answers == {"one": "one", "two": "two"}


def test_who_stops_listening_ends_the_work():
    pool = Pool(1)
    running = pool.run(tasks.slowly, [0, 60])
    assert next(running) == (0, 0)
    running.close()
    assert not multiprocessing.active_children()


DRIVER = """
import sys
from pathlib import Path
from attnflow.runs.pool import Pool
from tests.runs import tasks
list(Pool(1).run(tasks.leaves_its_number, [Path(sys.argv[1])]))
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_driver_that_is_killed(tmp_path, end):
    program, number = tmp_path / "driver.py", tmp_path / "number"
    program.write_text(DRIVER)
    paths = os.pathsep.join(map(str, (*sys.path, Path(__file__).parents[2])))
    driver = subprocess.Popen(
        [sys.executable, program, number], env={**os.environ, "PYTHONPATH": paths}
    )
    deadline = time.monotonic() + 40
    while not number.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    driver.send_signal(end)
    driver.wait(timeout=20)
    worker = int(number.read_text())
    # Its task takes a minute.
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(worker)


def test_workers_that_cannot_start_are_not_started_for_ever(monkeypatch):
    monkeypatch.setattr(pool, "spawn", lambda core, prepare: _stillborn())
    with pytest.raises(RuntimeError, match="workers=0"):
        list(Pool(1).run(tasks.square, [1]))


def _stillborn():
    """A worker whose end of the pipe is closed before it said anything."""
    ours, theirs = multiprocessing.Pipe()
    theirs.close()
    dead = SimpleNamespace(exitcode=1, join=lambda: None, kill=lambda: None)
    return Worker(dead, ours, 0)


def test_no_workers_are_refused():
    with pytest.raises(ValueError, match=r"workers=0\. Give 1"):
        Pool(0)
