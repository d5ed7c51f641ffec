"""`attnflow store check`: what is kept is as written, or told and repaired."""

import os

import pytest

from attnflow.runs.store import Store
from tests.toy import make_run


@pytest.fixture
def kept(program, tmp_path, monkeypatch):
    """A store with the toy's run, and caches of its own."""
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert program("run", "toy/flow").exit_code == 0
    return Store(tmp_path / "store")


def harm(path, position=-1):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def only(store):
    (path,) = store.root.glob("*.run")
    return path


def test_all_is_well(program, kept):
    told = program.json("store", "check")
    states = {"sound": 1, "damaged": 0, "leftover": 0, "foreign": 0}
    assert told["kinds"]["run"] == states
    assert (told["findings"], told["unrepaired"]) == ([], 0)
    assert program("store", "check").stdout.startswith("All ")


def test_a_damaged_run_is_told_and_computed_anew(program, kept):
    path, before = only(kept), kept.read(only(kept).stem)
    harm(path)
    (finding,) = program.json("store", "check", code=1)["findings"]
    assert finding["path"] == str(path) and finding["state"] == "damaged"
    assert "is damaged" in finding["sentence"] and finding["done"] == ""
    assert path.exists(), "without --repair nothing is changed"
    told = program.json("store", "check", "--repair")
    assert told["findings"][0]["done"] == "computed anew"
    assert kept.read(path.stem).identical(before)
    assert program("store", "check").exit_code == 0


@pytest.mark.parametrize("what", ["head", "earlier code"])
def test_what_cannot_be_computed_anew_is_removed(program, kept, what):
    path = only(kept)
    if what == "earlier code":
        path.unlink()
        path = kept.write(make_run())
    harm(path, 200 if what == "head" else -1)
    told = program.json("store", "check", "--repair")["findings"]
    assert [finding["done"].partition(":")[0] for finding in told] == ["removed"]
    assert not path.exists()


def test_other_versions_and_other_files_are_left_alone(program, kept):
    newer = kept.root / "newer.run"
    newer.write_bytes(only(kept).read_bytes().replace(b"attnflow 1", b"attnflow 2", 1))
    (kept.root / "notes.txt").write_text("mine")
    (kept.root / "old" / "run.zarr").mkdir(parents=True)
    told = program.json("store", "check", "--repair")["findings"]
    assert {finding["state"] for finding in told} == {"foreign"}
    sentences = " ".join(finding["sentence"] for finding in told)
    for words in ("format 2 of another", "not a file of attnflow", "earlier attnflow"):
        assert words in sentences
    assert newer.exists() and (kept.root / "notes.txt").read_text() == "mine"
    assert (kept.root / "old" / "run.zarr").is_dir()


def test_leftovers_go_and_what_is_being_written_stays(program, kept):
    from attnflow.schema import files

    ours = files._temporary(kept.root / "x.run")
    dead = ours.with_name(ours.name.replace(f"-{os.getpid()}-", "-4194300-"))
    ours.touch()
    dead.touch()
    assert "1 leftovers can go" in program("store", "check").stdout
    assert dead.exists()
    assert "1 leftovers are removed" in program("store", "check", "--repair").stdout
    assert ours.exists() and not dead.exists()


def test_no_store_and_no_site(program, kept, tmp_path, monkeypatch):
    assert "no folder" in program.refused("store", "check", "--site", "nowhere")
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "none"))
    assert program("store", "check").exit_code == 0
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNFLOW_STORE", str(tmp_path / "file"))
    assert "is not a folder" in program.refused("store", "check")
