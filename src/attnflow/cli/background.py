"""Long computations beside the main thread, which alone hears of Ctrl-C."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

_abandoned = threading.Event()


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
