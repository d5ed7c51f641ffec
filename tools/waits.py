"""Time what a user waits for: whole commands from start to end, beside `import jax`.

    python tools/waits.py [TIMES]

Each command runs in TIMES fresh processes (5), and the median is printed, with that of
`python -c "import jax"` among them, since machines differ. Stores and caches are those
of temporary directories: an empty cache has no compiled program, a warm one has those
of the same experiment with other numbers.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAM = (sys.executable, "-m", "attnflow")
JAX = (sys.executable, "-c", "import jax")
FIGURE = ("run", "mixture/figure1")


def commands(turn: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is timed, and the command; one without a name leaves what the next finds."""
    numbers = (f"width={300 + turn}", f"omega=0.{20 + turn}")
    yield "import jax", JAX
    yield "run mixture/figure1, empty cache", (*PROGRAM, *FIGURE)
    yield "other width and omega, warm", (*PROGRAM, *FIGURE, *numbers)
    yield "the same, stored", (*PROGRAM, *FIGURE, *numbers)
    flow = (*PROGRAM, "run", "mixture/flow")
    yield "", flow
    yield "run mixture/flow, warm", (*flow, numbers[1])
    yield "list mixture", (*PROGRAM, "list", "mixture")
    yield "a mistyped setting", (*PROGRAM, *FIGURE, "widht=9")


def main(times: int = 5) -> None:
    """Print the table."""
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for turn in range(times):
            places = {
                "ATTNFLOW_STORE": str(Path(directory, f"store {turn}")),
                "ATTNFLOW_CACHE": str(Path(directory, f"cache {turn}")),
            }
            for name, command in commands(turn):
                begun = time.perf_counter()
                subprocess.run(
                    command,
                    env={**os.environ, **places},
                    capture_output=True,
                    check=False,
                )
                seconds.setdefault(name, []).append(time.perf_counter() - begun)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, each in seconds.items():
        if name:
            low, high = min(each), max(each)
            print(f"{name:34} {statistics.median(each):5.2f} s  ({low:.2f}–{high:.2f})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
