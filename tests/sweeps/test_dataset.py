"""Resume, retry, status, trouble with the disk: nothing is lost, nothing half there."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.runs.store import StoreError, StoreWarning
from attnflow.sweeps import (
    BatchStore,
    choose_executor,
    make_batches,
    run_sweep,
    status_in,
    status_of,
)
from attnflow.sweeps.batch_store import BEGUN, MERCY
from attnflow.sweeps.executors import Here
from attnflow.sweeps.worker import DEATHS, work
from tests.sweeps.trivial import Direct, make_sweep

HERE = choose_executor("here")
GRID = {"a": "0..1:5", "b": "1,2"}


@pytest.fixture
def store(tmp_path):
    return BatchStore(tmp_path / "store")


@pytest.fixture
def log(tmp_path):
    directory = tmp_path / "log"
    directory.mkdir()
    return directory


class Stopping:
    """An executor that is interrupted after some batches."""

    def __init__(self, after):
        self.after = after

    def run(self, job, batches, *, retry=False):
        yield from Here().run(job, batches[: self.after], retry=retry)
        raise KeyboardInterrupt


def test_a_sweep_goes_on_where_it_was(store, log):
    sweep = make_sweep(GRID, statistics=(Direct(log=str(log)),), size=3)
    assert len(make_batches(sweep)) == 4
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, Stopping(after=2), store=store)
    assert len(list(log.iterdir())) == 5
    result = run_sweep(sweep, HERE, store=store)
    assert len(list(log.iterdir())) == 10
    again = run_sweep(sweep, HERE, store=store)
    assert len(list(log.iterdir())) == 10
    assert again.identical(result)
    expected = np.sin(result["a"]) * result["b"] + result["seed"]
    xr.testing.assert_allclose(result["sum"].reset_coords(drop=True), expected)
    assert result["sign"].dims == ("a", "b")


def test_who_interrupts_often_has_not_killed_any_cell(store, tmp_path):
    """However often: by its journal a batch would have taken workers with it."""
    waits = tmp_path / "waits"
    trouble = Direct("interrupt", where=0.5, until=str(waits))
    sweep = make_sweep(GRID, statistics=(trouble,))
    for _ in range(12):
        with pytest.raises(KeyboardInterrupt):
            run_sweep(sweep, HERE, store=store)
    waits.touch()
    assert status_in(run_sweep(sweep, HERE, store=store)).is_complete
    assert not list((store.root / "journal").iterdir())


def test_zipped_keys_share_a_dim(store):
    sweep = make_sweep(
        {"a": "1,2,3", "b": "4,5,6", "width": "7,8"}, zipped=[("a", "b")]
    )
    result = run_sweep(sweep, HERE, store=store)
    assert result["sum"].dims == ("a", "width", "seed")
    assert result["b"].dims == ("a",)
    np.testing.assert_array_equal(result["b"], [4, 5, 6])
    np.testing.assert_allclose(
        result["sum"].sel(width=8, seed=0), np.sin([1, 2, 3]) * [4, 5, 6]
    )


def test_status_tells_what_is_done_and_what_is_not(store):
    sweep = make_sweep(GRID, statistics=(Direct("raise", where=0.5),), size=4)
    batches = make_batches(sweep)
    before = status_of(batches, store)
    assert (before.done, before.pending, before.is_complete) == (0, 10, False)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, Stopping(after=1), store=store)
    half = status_of(batches, store)
    assert half.pending == 10 - len(batches[0])
    result = run_sweep(sweep, HERE, store=store)
    after = status_of(batches, store)
    assert status_in(result) == after
    assert (after.done, after.failed, after.pending) == (8, 2, 0)
    assert after.outcomes == {"failed": 2}
    assert after.errors == {"ValueError: this cell was told to raise": 2}
    (listed,) = store.sweeps()
    assert listed["cells"] == 10 and listed["batches"] == [b.key for b in batches]


def test_retry_computes_failed_cells_and_no_others(store, log, tmp_path):
    cured = tmp_path / "cured"
    trouble = Direct("raise", where=0.5, until=str(cured), log=str(log))
    sweep = make_sweep(GRID, statistics=(trouble,), size=4)
    first = run_sweep(sweep, HERE, store=store)
    assert len(list(log.iterdir())) == 10
    cured.touch()
    assert run_sweep(sweep, HERE, store=store).identical(first)
    assert len(list(log.iterdir())) == 10
    second = run_sweep(sweep, HERE, store=store, retry=True)
    assert len(list(log.iterdir())) == 12
    assert status_of(make_batches(sweep), store).is_complete
    healthy = replace(sweep, statistics=(Direct(),))
    other = run_sweep(healthy, HERE, store=BatchStore(tmp_path / "other"))
    assert second.identical(other)


def test_progress_tells_how_long_the_rest_may_take(store):
    reports = []
    sweep = make_sweep(GRID, statistics=(Direct("raise", where=0.0),), size=2)
    run_sweep(sweep, HERE, store=store, progress=lambda *now: reports.append(now))
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] == 1
    assert reports[1][1].startswith("2 of 10 cells, 1 failed, about ")
    assert reports[-1][1] == "10 of 10 cells, 2 failed"


def full_disk(*_):
    raise StoreError(f"it could not be written: {os.strerror(errno.ENOSPC)}.")


def test_a_full_disk_costs_no_result(store, monkeypatch, tmp_path):
    """What cannot be stored is in the Dataset still, and computed again afterwards."""
    sweep = make_sweep(GRID, size=5)
    expected = run_sweep(sweep, HERE, store=BatchStore(tmp_path / "other"))
    write = BatchStore.write
    monkeypatch.setattr(BatchStore, "write", full_disk)
    with pytest.warns(StoreWarning, match="2 batches are not stored.*No space left"):
        result = run_sweep(sweep, HERE, store=store)
    assert result.identical(expected)
    assert status_of(make_batches(sweep), store).pending == 10
    monkeypatch.setattr(BatchStore, "write", write)
    assert run_sweep(sweep, HERE, store=store).identical(expected)
    assert status_of(make_batches(sweep), store).is_complete


def test_a_real_file_that_cannot_be_written_is_a_store_error(store, monkeypatch):
    def fails(self, *args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("attnflow.schema.files.Path.replace", fails)
    with pytest.raises(StoreError, match="No space left on device"):
        store.write("key", xr.Dataset())
    assert not list((store.root / "batches").iterdir())


def test_what_a_dead_writer_left_is_swept_up(store):
    sweep = make_sweep({"a": "1,2"})
    run_sweep(sweep, HERE, store=store)
    # No process has this number: Linux gives none above 2^22.
    name = f".tmp-{os.uname().nodename.replace('-', '_')}-4194305-0123abcd-x.npz"
    leftover = store.root / "batches" / name
    leftover.touch()
    run_sweep(sweep, HERE, store=store)
    assert not leftover.exists()


@pytest.mark.parametrize("harm", [b"nothing", b""])
def test_a_damaged_batch_is_reported_and_computed_anew(store, harm):
    sweep = make_sweep({"a": "1,2", "b": "1,2"}, size=2)
    whole = run_sweep(sweep, HERE, store=store)
    path = next((store.root / "batches").iterdir())
    path.write_bytes(harm)
    assert status_of(make_batches(sweep), store).pending == 2
    with pytest.warns(StoreWarning, match=r"cannot be read.*computed anew"):
        result = run_sweep(sweep, HERE, store=store)
    assert result.identical(whole)
    assert run_sweep(sweep, HERE, store=store).identical(whole)
    path.write_bytes(b"nothing")
    assert run_sweep(sweep, HERE, store=store, retry=True).identical(whole)


def test_a_damaged_part_of_a_batch_is_computed_anew(store):
    """Cells that are computed one by one are stored apart until all are there."""
    sweep = make_sweep({"a": "1,2"})
    (batch,) = make_batches(sweep)
    whole = run_sweep(sweep, HERE, store=store)
    store.remove(batch.key)
    for _ in range(DEATHS):
        store.note(batch.key, BEGUN)
        store.note(batch.key, "died")
    part = batch.part(0).key
    store.path(part).write_bytes(b"nothing")
    assert run_sweep(sweep, HERE, store=store).identical(whole)
    assert not store.has(part)


def test_files_are_as_many_as_batches(store):
    sweep = make_sweep({"a": "0..1:100", "b": "1,2"}, size=50)
    run_sweep(sweep, HERE, store=store)
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert len(files) == 4 + 1


def test_another_workers_batch_is_not_computed_twice(store, log):
    from attnflow.sweeps.job import Job

    sweep = make_sweep({"a": "1,2"}, statistics=(Direct(log=str(log)),))
    job, (batch,) = Job(sweep, str(store.root.parent)), make_batches(sweep)
    assert work(job, batch).cells == work(job, batch).cells == 2
    assert len(list(log.iterdir())) == 2


def test_drivers_that_were_killed_blame_no_cell(store):
    class Killed:
        """Dies with its worker: nobody forgives what that began."""

        def run(self, job, batches, *, retry=False):
            for batch in batches:
                store.note(batch.key, BEGUN)
            raise SystemExit

    sweep = make_sweep({"a": "1,2"}, size=1)
    for _ in range(2 * DEATHS):
        with pytest.raises(SystemExit):
            run_sweep(sweep, Killed(), store=store)
    result = run_sweep(sweep, HERE, store=store)
    assert np.isfinite(result["sum"]).all()


def test_a_cell_that_ends_its_driver_is_given_up_at_last(store):
    sweep = make_sweep({"a": "1,2"}, size=1)
    for batch in make_batches(sweep):
        for _ in range(MERCY + DEATHS):
            store.note(batch.key, BEGUN)
            store.forgive([batch.key])
    assert (run_sweep(sweep, HERE, store=store)["outcome"] == "killed").all()


def test_deaths_that_a_driver_saw_still_count(store):
    sweep = make_sweep({"a": "1,2"}, size=1)
    for batch in make_batches(sweep):
        for _ in range(DEATHS + 1):
            store.note(batch.key, BEGUN)
    outcome = run_sweep(sweep, HERE, store=store)["outcome"]
    assert (outcome == "killed").all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": 1.0}, "cannot be kept in this process"),
        ({"limit": -1.0}, "a positive number of seconds"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(store, options, said):
    with pytest.raises(ValueError, match=said):
        run_sweep(make_sweep({"a": "1,2"}), HERE, store=store, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "dsk"}, "Did you mean 'dask'"),
        ({"name": "local", "workers": 0}, "workers=0"),
        ({"name": "local", "scheduler": "tcp://x"}, "belongs to executor='dask'"),
        ({"name": "dask", "workers": 0}, "workers=0"),
        ({"name": "dask", "workers": 2, "scheduler": "tcp://x"}, "which has its own"),
    ],
)
def test_executors_that_cannot_be_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        choose_executor(**options)
