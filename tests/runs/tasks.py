"""Work that spawned processes can import."""

import os
import signal
import time

PREPARED = []


def prepare():
    PREPARED.append("yes")


def square(task):
    return task**2


def slowly(task):
    time.sleep(task)
    return task


def who(task):
    """The process, its cores, its threads, and whether it was prepared."""
    time.sleep(0.05)
    found = os.sched_getaffinity(0), os.environ["OMP_NUM_THREADS"], list(PREPARED)
    return os.getpid(), *found


def leaves_its_number(path):
    """Write which process this is into a file, and go on for long."""
    path.with_suffix(".new").write_text(str(os.getpid()))
    path.with_suffix(".new").rename(path)
    time.sleep(60)


def deadly(task):
    if task == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def dies_once(path):
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"
