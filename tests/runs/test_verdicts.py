"""Rows on disk: what was written, or nothing."""

from dataclasses import replace

import pytest

from attnflow.claims import Verdict
from attnflow.runs.verify import Verdicts
from tests.claims.test_judgement import row


@pytest.fixture
def verdicts(tmp_path):
    return Verdicts(tmp_path)


@pytest.mark.parametrize("interval", [None, (0.25, 1.0)])
def test_a_row_comes_back_as_it_was(verdicts, interval):
    before = row(interval=interval, more=4, chance=0.125)
    verdicts.write("key", before)
    assert verdicts.read("key") == before
    assert verdicts.read("other") is None


def test_what_was_missing_may_come(verdicts):
    verdicts.write("key", replace(row(), verdict=Verdict.UNCHECKED))
    assert verdicts.read("key") is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"verdict": "maybe"}'])
def test_a_file_that_is_damaged_is_no_verdict(verdicts, text):
    verdicts.write("key", row())
    (path,) = verdicts.root.glob("key.verdict")
    path.write_text(text)
    assert verdicts.read("key") is None


def test_a_flipped_bit_is_no_verdict(verdicts):
    verdicts.write("key", row())
    (path,) = verdicts.root.glob("key.verdict")
    whole = path.read_bytes()
    for position in range(0, len(whole), 3):
        harmed = bytearray(whole)
        harmed[position] ^= 1 << position % 8
        path.write_bytes(harmed)
        assert verdicts.read("key") is None, position


def test_a_disk_that_cannot_be_written_costs_no_verdict(tmp_path):
    (tmp_path / "file").write_text("")
    Verdicts(tmp_path / "file").write("key", row())
    assert Verdicts(tmp_path / "file").read("key") is None
