"""How a command ends: exit codes, error messages and Ctrl-C, for every command."""

import errno
import functools
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer

P = ParamSpec("P")
T = TypeVar("T")

OTHERWISE = 1
"""A verdict or a number differs from the recorded one."""
WRONG_USAGE = 2
FAULT = 70
"""A fault of attnflow: the number that sysexits.h gives to software errors."""
INTERRUPTED = 130

_abandoned = threading.Event()


def guarded(command: Callable[P, int]) -> Callable[P, NoReturn]:
    """A `command` that returns its exit code, as one that ends the program.

    Wrong names and values give their message on stderr and no traceback; set
    `ATTNFLOW_DEBUG=1` to see it.
    """

    @functools.wraps(command)
    def guarded_command(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        raise typer.Exit(_exit_code(functools.partial(command, *args, **kwargs)))

    return guarded_command


def complain(message: str) -> None:
    """Say something on stderr."""
    print(message, file=sys.stderr, flush=True)


def _exit_code(command: Callable[[], int]) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        complain("Interrupted: what was complete is stored, and nothing else.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if _is_usage(error):
            # The operating system says only what is wrong, not what to do.
            is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
            advice = ". Make room, or write to another disk." if is_full else ""
            complain(f"attnflow: {error}{advice}")
            if os.environ.get("ATTNFLOW_DEBUG"):
                traceback.print_exc()
            return WRONG_USAGE
        traceback.print_exc()
        complain("attnflow: this is a fault of attnflow; please report the above.")
        return FAULT


def _is_usage(error: Exception) -> bool:
    """Whether an error is about what the user gave: a value, a path or a data set."""
    from attnflow.schema.installation import MissingData

    if isinstance(error, OSError):
        from attnflow.runs.store import StoreError

        # Without a number it is no answer of the operating system.
        return isinstance(error, StoreError) or error.errno is not None
    return isinstance(error, ValueError | MissingData)


def in_background(work: Callable[[], T]) -> T:
    """The result of `work`, done in a thread so that an interrupt is heard at once.

    A compiled loop is one call, and Python hears of an interrupt only between calls
    of its main thread. What is interrupted goes on until the program ends; see
    `leave`.
    """
    result: Future[T] = Future()
    thread = threading.Thread(target=_fulfil, args=(result, work), daemon=True)
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        if thread.is_alive():
            _abandoned.set()
        raise


def leave(code: Any) -> NoReturn:
    """End the program, without waiting for work that was abandoned."""
    if _abandoned.is_set():
        # Python's own way out would wait for the compiled loop.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)
    sys.exit(code)


def _fulfil(result: Future, work: Callable[[], Any]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:
        result.set_exception(error)
