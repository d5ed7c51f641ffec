import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import xarray as xr

from attnflow.runs.store import Store, StoreError, default_root
from tests.toy import make_run


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


def names(store):
    return sorted(os.listdir(store.root)) if store.root.exists() else []


def test_round_trip_keeps_everything(store, run):
    store.write(run)
    again = store.read(run.attrs["id"])
    xr.testing.assert_identical(again, run)
    for name in run.variables:
        assert again[name].dtype == run[name].dtype, name
    assert again["time"].attrs == {"units": "seconds"}


def test_what_was_read_can_be_written_again(store, run, tmp_path):
    store.write(run)
    second = Store(tmp_path / "second")
    second.write(store.read(run.attrs["id"]))
    xr.testing.assert_identical(second.read(run.attrs["id"]), run)


def test_writing_changes_nothing_in_the_run(store, run):
    before = run.copy(deep=True)
    store.write(run)
    xr.testing.assert_identical(run, before)
    assert run["token"].dtype == before["token"].dtype


def test_a_new_run_is_written_without_a_look_at_others(store, run, monkeypatch):
    """A claims table writes hundreds: to list them for each took a minute."""
    monkeypatch.setattr(Store, "list", lambda store: pytest.fail("listed"))
    assert store.write(run).is_file()


def test_a_run_that_trains_nothing(store, run):
    computed = run[[]].assign(value=("seed", [1.0, 2.0]))
    assert "time" not in computed.dims
    store.write(computed)
    assert store.list()[0]["final"] == {"value": [1.0, 2.0]}
    assert store.list()[0]["outcome"] == "finished"


def test_has(store, run):
    assert not store.has(run.attrs["id"])
    store.write(run)
    assert store.has(run.attrs["id"])


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (RuntimeError("the writer broke"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), StoreError),
    ],
)
def test_a_failing_writer_leaves_nothing(store, monkeypatch, error, raised):
    def fail(descriptor):
        raise error

    monkeypatch.setattr("attnflow.schema.files.os.fsync", fail)
    with pytest.raises(raised) as caught:
        store.write(make_run(wall_seconds=60.0))
    assert names(store) == []
    if raised is StoreError:
        assert "No space left on device" in str(caught.value)
        assert "ATTNFLOW_STORE" in str(caught.value)


@pytest.mark.parametrize(("seconds", "waits"), [(9.9, 0), (10.0, 1)])
def test_a_run_that_took_long_waits_for_the_disk(store, monkeypatch, seconds, waits):
    waited = []
    monkeypatch.setattr("attnflow.schema.files.os.fsync", waited.append)
    run = make_run(wall_seconds=seconds)
    store.write(run)
    assert len(waited) == waits
    # What replaces a run that is there already is never at risk.
    store.replace_summary(run.attrs["id"], store.summary(run.attrs["id"]))
    assert len(waited) == waits + 1


def test_a_run_that_a_power_cut_cut_off_is_found_out(store):
    run = make_run()
    place = store.write(run)
    # Each time it is written anew, with the time of day, whose digits may be fewer.
    for end in (0, 50, -1):
        place.write_bytes(place.read_bytes()[:end])
        with pytest.raises(StoreError, match="damaged"):
            store.read(run.attrs["id"])
        store.write(run)
        xr.testing.assert_identical(store.read(run.attrs["id"]), run)


def test_unwritable_root_names_the_path_and_the_fix(tmp_path, run):
    # A file in the way stops even the superuser, who ignores permissions.
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "runs")
    with pytest.raises(StoreError) as caught:
        store.write(run)
    assert str(store.root) in str(caught.value)
    assert "ATTNFLOW_STORE" in str(caught.value)
    with pytest.raises(StoreError):
        store.check_writable()
    assert store.list() == []


def test_interrupted_runs_are_refused(store):
    with pytest.raises(ValueError, match="interrupted"):
        store.write(make_run(outcome="interrupted"))
    assert names(store) == []


def test_runs_outside_the_schema_are_refused(store, run):
    del run.attrs["form"]
    with pytest.raises(ValueError, match="form"):
        store.write(run)


@pytest.mark.parametrize("id", ["../elsewhere", "", ".hidden", "a/b"])
def test_addresses_cannot_leave_the_store(store, id):
    with pytest.raises(ValueError, match="is not the id of a run"):
        store.has(id)


def test_the_first_stays_unless_replaced(store):
    store.write(make_run(wall_seconds=1.0))
    store.write(make_run(wall_seconds=2.0))
    assert store.list()[0]["seconds"] == 1.0
    store.write(make_run(wall_seconds=2.0), replace=True)
    assert store.list()[0]["seconds"] == 2.0
    assert names(store) == ["0123456789abcdef.run"]


def test_a_damaged_run_is_replaced(store, run):
    path = store.write(run)
    flip(path, path.stat().st_size - 1)
    store.write(run)
    xr.testing.assert_identical(store.read(run.attrs["id"]), run)


def flip(path, position, bit=0):
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << bit
    path.write_bytes(content)


def test_many_writers_of_one_run(store, run):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.write(run), range(4)))
    assert names(store) == [f"{run.attrs['id']}.run"]
    xr.testing.assert_identical(store.read(run.attrs["id"]), run)


def test_list_is_newest_first_and_passes_over_strangers(store, monkeypatch):
    clock = iter([10.0, 30.0, 20.0])
    monkeypatch.setattr("attnflow.runs.store.time.time", lambda: next(clock))
    for id in ("aa", "bb", "cc"):
        store.write(make_run(id))
    (store.root / "stray.txt").write_text("not a run")
    (store.root / "broken.run").write_text("{half")
    (store.root / "folder.run").mkdir()
    flip(store.path("cc"), 100)
    (store.root / "other.run").write_bytes(store.path("aa").read_bytes())
    assert [summary["id"] for summary in store.list()] == ["bb", "aa"]


def test_summary_fields(store, run):
    stages = [{"name": "one", "formula": 1.0, "detected": 2.0, "note": ""}]
    store.write(run, stages=stages)
    summary = store.list()[0]
    assert summary["setting"] == {"width": 4}
    assert summary["stages"] == stages
    assert summary["final"] == {"loss": pytest.approx([0.1, 0.41])}
    assert summary["drift"] == 2e-12
    assert summary["seeds"] == [0, 1]


def test_summary_of_one_seed_has_numbers(store):
    store.write(make_run(seeds=(0,)))
    assert store.list()[0]["final"] == {"loss": pytest.approx(0.1)}


def test_the_worst_outcome_counts(store, run):
    run["outcome"].values[:] = ["diverged", "finished"]
    store.write(run)
    assert store.list()[0]["outcome"] == "diverged"


def test_remove(store, run):
    store.write(run)
    store.remove(run.attrs["id"])
    assert names(store) == []
    with pytest.raises(ValueError, match="no stored run"):
        store.remove(run.attrs["id"])


def test_reading_an_absent_run_suggests(store, run):
    store.write(run)
    with pytest.raises(ValueError, match="Did you mean '0123456789abcdef'"):
        store.read("0123456789abcdee")


def test_reading_a_damaged_run_says_so(store, run):
    path = store.write(run)
    flip(path, path.stat().st_size - 1)
    with pytest.raises(StoreError, match=r"damaged: \w+ is damaged. Remove"):
        store.read(run.attrs["id"])


def test_a_summary_is_replaced_and_the_arrays_stay(store, run):
    store.write(run)
    id = run.attrs["id"]
    store.replace_summary(id, {**store.summary(id), "form": "other"})
    assert store.summary(id)["form"] == "other"
    xr.testing.assert_identical(store.read(id), run)


def test_a_folder_of_an_earlier_version_is_refused_and_replaced(store, run):
    old = store.root / run.attrs["id"]
    (old / "run.zarr").mkdir(parents=True)
    with pytest.raises(ValueError, match="by an earlier attnflow"):
        store.read(run.attrs["id"])
    assert store.list() == []
    store.write(run)
    assert names(store) == [f"{run.attrs['id']}.run"]


def test_find_by_the_start_of_an_address(store):
    for id in ("abc1", "abd2"):
        store.write(make_run(id))
    assert store.find("abc") == "abc1"
    with pytest.raises(ValueError, match="could be"):
        store.find("ab")
    with pytest.raises(ValueError, match="Did you mean 'abd2'"):
        store.find("abd3")
    with pytest.raises(ValueError, match="no stored run"):
        store.find("")


def test_default_root(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "mine"))
    assert Store().root == tmp_path / "mine"
    monkeypatch.delenv("ATTNFLOW_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_root() == tmp_path / "cache" / "attnflow" / "runs"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_root() == tmp_path / ".cache" / "attnflow" / "runs"


def test_the_store_needs_no_jax():
    code = "import sys, attnflow.runs.store; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
