"""Two processes on one store: every read is of one run, whole and right."""

import multiprocessing
import shutil

import numpy as np
import pytest

import attnflow as af
from attnflow.runs.store import Store

READS = 1000
SETTING = {"draws": 2}


def compute_again_and_again(root, seeds, stop, count):
    """Compute runs anew, as `--rerun` does, until told to stop."""
    while not stop.is_set():
        for seed in seeds:
            run(root, seed, rerun=True)
        with count.get_lock():
            count.value += 1


def run(root, seed, **options):
    return af.run(
        "mixture/concentration", store=Store(root), seeds=[seed], **SETTING, **options
    )


def read_while_written(root, writers, reads):
    """Read runs while processes replace them; how often these did."""
    truth = {seed: run(root, seed) for seed in range(2)}
    context = multiprocessing.get_context("spawn")
    stop, count = context.Event(), context.Value("i", 0)
    processes = [
        context.Process(target=compute_again_and_again, args=(root, s, stop, count))
        for s in writers
    ]
    for process in processes:
        process.start()
    try:
        while not count.value:
            assert all(process.is_alive() for process in processes)
            stop.wait(0.01)
        store, generations = Store(root), set()
        for number in range(reads):
            seed = number % 2
            id = truth[seed].attrs["id"]
            read = store.read(id)
            for name, values in truth[seed].variables.items():
                np.testing.assert_array_equal(read[name].values, values.values)
            generations.add(read.attrs["wall_seconds"])
            summary = store.summary(id)
            assert summary is not None and summary["seeds"] == [seed]
            assert len(store.list()) == 2
        return generations
    finally:
        stop.set()
        for process in processes:
            process.join()


@pytest.mark.slow
@pytest.mark.parametrize("writers", [[[0], [0]], [[0], [1]]], ids=["same", "different"])
def test_a_thousand_reads_beside_two_writers(tmp_path, writers):
    generations = read_while_written(tmp_path, writers, READS)
    assert len(generations) > 2, "nothing was replaced meanwhile"
    assert not list(tmp_path.glob(".tmp-*"))
    shutil.rmtree(tmp_path)
