"""Files on this machine: accepted by checksum, and refused with a remedy."""

import gzip
import hashlib

import pytest

from attnflow.data.real import (
    CATALOGUE,
    DataFile,
    DataSet,
    data_directory,
    place_of,
    read,
    state_of,
)
from attnflow.schema.installation import MissingData
from tests.data.real.conftest import CONTENT

URL = "https://example.org/a.txt"


@pytest.fixture
def packed_set(directory, monkeypatch):
    """A data set of one packed file."""
    published = gzip.compress(CONTENT, 9, mtime=0)
    digests = [hashlib.sha256(raw).hexdigest() for raw in (published, CONTENT)]
    file = DataFile("a.gz", URL, *digests, len(published))
    small = DataSet("packed", "A packed one", "CC0", (file,))
    monkeypatch.setitem(CATALOGUE, "packed", small)
    return small


def put(owner, raw):
    path = place_of(owner, owner.files[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def test_the_directory_is_the_users_cache_unless_told(monkeypatch, tmp_path):
    monkeypatch.delenv("ATTNFLOW_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_directory() == tmp_path / "attnflow" / "data"
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path / "own"))
    assert data_directory() == tmp_path / "own"


def test_a_missing_file_says_which_checksum_goes_where(small_set):
    owner = small_set(URL)
    (file,) = owner.files
    assert state_of(owner, file) == "missing"
    with pytest.raises(MissingData) as refused:
        read("small", "a.txt")
    for said in (file.sha256, str(place_of(owner, file)), URL, "data fetch small"):
        assert said in str(refused.value)


@pytest.mark.parametrize("raw", [CONTENT[:-1], CONTENT + b"x", b""])
def test_a_wrong_or_truncated_file_is_refused(small_set, raw):
    owner = small_set(URL)
    put(owner, raw)
    assert state_of(owner, owner.files[0]) == "damaged"
    with pytest.raises(MissingData, match=hashlib.sha256(raw).hexdigest()):
        read("small", "a.txt")


def test_the_right_file_is_read(small_set):
    put(small_set(URL), CONTENT)
    assert read("small", "a.txt") == CONTENT


def test_what_is_packed_anew_is_as_good(packed_set):
    put(packed_set, gzip.compress(CONTENT, 1, mtime=7))
    assert state_of(packed_set, packed_set.files[0]) == "present"
    assert read("packed", "a.gz") == CONTENT


@pytest.mark.parametrize("cut", [0, 5, 60, -4])
def test_a_packed_file_that_is_cut_off_is_refused(packed_set, cut):
    put(packed_set, gzip.compress(CONTENT)[:cut])
    assert state_of(packed_set, packed_set.files[0]) == "damaged"
    with pytest.raises(MissingData, match="data fetch packed"):
        read("packed", "a.gz")


def test_names_are_suggested():
    with pytest.raises(ValueError, match="mnist"):
        read("mnits", "a.txt")
    with pytest.raises(ValueError, match=r"valid\.txt"):
        read("wikitext-2", "vald.txt")
