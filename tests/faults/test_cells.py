"""Twenty thousand tiny cells: memory, files and time."""

import time

import pytest


@pytest.mark.slow
def test_twenty_thousand_cells(programs, scratch):
    """Cells of an experiment, 500 in a batch, in one process."""
    args = (
        *("sweep", "mixture/concentration", "omega=0.01..1:200", "delta=0.01..0.5:100"),
        *("draws=2", "--measure", "bound", "--batch", "500"),
        *("--executor", "here", "--json", "cells.json"),
    )
    begun = time.monotonic()
    done = programs(scratch, *args, limit=1200)
    seconds = time.monotonic() - begun
    assert done.code == 0, done.stderr
    files = [path for path in scratch.store.rglob("*") if path.is_file()]
    print(f"{seconds:.0f} s, {done.memory / 2**20:.0f} MB, {len(files)} files")
    assert len(files) == 40 + 1
    assert done.memory < 2**30
