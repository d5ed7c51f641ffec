"""What a worker is asked for, and what it answers."""

import time
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol


class Job(Hashable, Protocol):
    """Something to do in a process of its own; it is sent there, and so plain data.

    Its text names what it is about, and `verb` says what is done to that: `judged`.
    """

    @property
    def verb(self) -> str:
        """What is done, as in: it could not be judged."""
        ...

    @property
    def usual_seconds(self) -> float:
        """How long it is guessed to take where nothing better is known."""
        ...

    def do(self) -> Any:
        """Do it, and say what came of it."""
        ...


@dataclass(frozen=True)
class Done:
    """What came of a job, how long it took, and its warnings."""

    made: Any
    seconds: float
    warnings: tuple[str, ...]


def work(job: Job) -> Done:
    """Do a job."""
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        made = job.do()
    # Nobody reads a worker's terminal: the driver says each of them once.
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    return Done(made, time.perf_counter() - begun, tuple(texts))
