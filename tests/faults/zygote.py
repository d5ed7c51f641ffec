"""Programs as children of a process that has imported everything.

`Programs` starts that process; each call of it is `attnflow` in a child of its own,
with its own group of processes, folder and variables.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOBODY = 65534
"""An ordinary user, as whom programs run where the variable USER says `nobody`."""
SECONDS = 300
"""What a tiny command may take on a machine with other work; more is a hang."""


@dataclass(frozen=True)
class Done:
    """How a program ended.

    **Arguments:**

    - `code`: the exit code; the number of the signal, negative, where it was killed.
    - `count`: how many operations on files there were, as `hook.py` counts them.
    - `outside`: what it wrote to outside of its scratch folder.
    - `alone`: whether it left no process behind.
    - `memory`: the most that it had, in bytes.
    """

    code: int
    stdout: str
    stderr: str
    count: int
    outside: list
    alone: bool
    memory: int
    seconds: float

    @property
    def json(self):
        return json.loads(self.stdout)


@dataclass
class Scratch:
    """A folder for one trial: a store, caches, and the folder of the program."""

    root: Path
    variables: dict = field(default_factory=dict)

    def __post_init__(self):
        self.work.mkdir(parents=True, exist_ok=True)

    @property
    def work(self):
        return self.root / "work"

    @property
    def store(self):
        return self.root / "store"

    @property
    def cache(self):
        return self.root / "cache"

    @property
    def environment(self):
        return {
            "ATTNFLOW_STORE": str(self.store),
            "ATTNFLOW_DATA": str(self.root / "data"),
            "ATTNFLOW_CACHE": str(self.cache / "attnflow"),
            "XDG_CACHE_HOME": str(self.cache),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.work),
            **self.variables,
        }


class Programs:
    """`attnflow` in children of one process; call it with arguments."""

    def __init__(self):
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # The tests' own warnings are errors; programs have their users'.
            env={**os.environ, "PYTHONPATH": paths, "EQX_ON_ERROR": "off"},
        )

    def __call__(self, scratch, *args, how="", moment=None, limit=SECONDS):
        """The program with these arguments, harmed at a `moment` by `hook.py`."""
        words = [str(arg) for arg in args]
        return self._order(scratch, args=words, how=how, moment=moment, limit=limit)

    def evaluate(self, scratch, expression):
        """An expression in Python; the code is 2 where it is refused, 0 where not."""
        return self._order(scratch, expression=expression)

    def _order(self, scratch, **what):
        order = {
            "work": str(scratch.work),
            "root": str(scratch.root),
            "environment": scratch.environment,
            **what,
        }
        begun = time.monotonic()
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return Done(**answer, seconds=time.monotonic() - begun)

    def close(self):
        """Let that process end."""
        with self.process:
            pass


def serve():
    import warnings

    sys.argv = ["attnflow"]
    # JAX is not started yet, and has no threads that a child would miss.
    warnings.filterwarnings("ignore", message=".*os.fork.*")
    import dask.base as dask
    import h5netcdf
    import jax as jax
    import matplotlib.figure as figure
    import xarray as xr

    import attnflow.cli.app as app
    import attnflow.experiments as experiments
    import attnflow.runs.run_files as run_files
    import attnflow.site.check as site
    import attnflow.sweeps.check as sweeps
    from attnflow.papers import papers

    for paper in papers().values():
        for part in dataclasses.fields(paper):
            getattr(paper, part.name)
    del dask, figure, h5netcdf, xr, app, experiments, run_files, site, sweeps
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(carry_out(json.loads(line))) + "\n")
        answers.flush()


def carry_out(order):
    files = [Path(order["work"], name) for name in (".out", ".err", ".count")]
    child = os.fork()
    if child == 0:
        become(order, files)
    status, memory = wait(child, order.get("limit", SECONDS))
    try:
        os.killpg(child, 0)
        alone = False
    except ProcessLookupError:
        alone = True
    stdout, stderr, told = (read(file) for file in files)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "stdout": stdout,
        "stderr": stderr,
        **(json.loads(told) if told else {"count": 0, "outside": []}),
        "alone": alone,
        "memory": memory,
    }


def wait(child, limit):
    """How the child ended, and its memory; one that hangs is ended."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        process, status, used = os.wait4(child, os.WNOHANG)
        if process:
            return status, used.ru_maxrss * 1024
        time.sleep(0.005)
    os.killpg(child, signal.SIGABRT)
    _, status, used = os.wait4(child, 0)
    return status, used.ru_maxrss * 1024


def read(file):
    try:
        return file.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""
    finally:
        file.unlink(missing_ok=True)


def become(order, files):
    """The life of a child: the program, and nothing of its parent's."""
    code = 99
    try:
        os.setsid()
        os.environ.update(order["environment"])
        os.chdir(order["work"])
        if order["environment"].get("USER") == "nobody":
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        for number, file in enumerate(files[:2], start=1):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(file, flags, 0o666), number)
        import faulthandler

        from tests.faults.hook import Moments, watch

        faulthandler.enable()
        outside = watch(order["root"])
        moments = Moments(order.get("how", ""), order.get("moment"))
        moments.install()
        if "expression" in order:
            code = evaluated(order["expression"])
        else:
            code = ended(order["args"])
        sys.stdout.flush()
        sys.stderr.flush()
        with open(files[2], "w") as file:
            json.dump({"count": moments.count, "outside": outside}, file)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def ended(args):
    """The exit code of the program."""
    from attnflow.cli.app import main

    sys.argv = ["attnflow", *args]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def evaluated(expression):
    """0 where it has a value, 2 where it is refused with a sentence."""
    import math

    import numpy as np

    import attnflow as af
    from attnflow.schema.installation import MissingData

    names = {"af": af, "np": np, "nan": math.nan, "inf": math.inf}
    try:
        print(type(eval(expression, names)).__name__)
    except (ValueError, MissingData, MemoryError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        # Ours have a sentence; the operating system's have a number.
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    serve()
