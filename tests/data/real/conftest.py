import hashlib

import pytest

from attnflow.data.real import CATALOGUE, DataFile, DataSet

CONTENT = b"twelve words\n" * 20_000


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """An empty directory of data sets."""
    path = tmp_path / "data"
    monkeypatch.setenv("ATTNFLOW_DATA", str(path))
    return path


@pytest.fixture
def small_set(directory, monkeypatch):
    """URL → a data set `small` of one file `a.txt` that is published there."""

    def publish(url):
        sha256 = hashlib.sha256(CONTENT).hexdigest()
        file = DataFile("a.txt", url, sha256, sha256, len(CONTENT))
        small = DataSet("small", "A small data set", "CC0", (file,))
        monkeypatch.setitem(CATALOGUE, "small", small)
        return small

    return publish
