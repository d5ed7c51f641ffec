"""Trials on disk: what was tried, or tried again."""

import pytest

from attnflow.claims import Verdict
from attnflow.claims.trials import Trial
from attnflow.runs import trials as kept
from attnflow.runs.trials import Trials

TRIAL = Trial(
    {
        ("wide", "loss"): {"loss negated": Verdict.FAILS, "loss times 10": None},
        ("main", "loss"): {"loss negated": Verdict.HOLDS},
    },
    {"setting width times 10": Verdict.INCONCLUSIVE},
    {"untrained": Verdict.FAILS},
)


class Counted:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return TRIAL


@pytest.fixture
def compute():
    return Counted()


def test_a_trial_comes_back_as_it_was_and_in_its_order(tmp_path, compute):
    trials = Trials(tmp_path, "key")
    assert trials.recall("as printed", compute) == TRIAL
    again = trials.recall("as printed", compute)
    assert (again, compute.calls) == (TRIAL, 1)
    assert list(again.variables) == list(TRIAL.variables)
    assert again.inert == TRIAL.inert and again.failing == TRIAL.failing


def test_other_verdicts_statements_and_code_have_others(tmp_path, compute, monkeypatch):
    Trials(tmp_path, "key").recall("as printed", compute)
    Trials(tmp_path, "other").recall("as printed", compute)
    Trials(tmp_path, "key").recall("as corrected", compute)
    monkeypatch.setattr(kept, "code_digest", lambda *modules: "changed")
    Trials(tmp_path, "key").recall("as printed", compute)
    assert compute.calls == 4


def test_a_flipped_bit_is_no_trial(tmp_path, compute):
    trials = Trials(tmp_path, "key")
    trials.recall("as printed", compute)
    (path,) = (tmp_path / "trials").iterdir()
    whole = path.read_bytes()
    positions = range(0, len(whole), 7)
    for position in positions:
        harmed = bytearray(whole)
        harmed[position] ^= 1 << position % 8
        path.write_bytes(harmed)
        assert trials.recall("as printed", compute) == TRIAL
    assert compute.calls == 1 + len(positions)


def test_a_disk_that_cannot_be_written_costs_no_trial(tmp_path, compute):
    (tmp_path / "file").write_text("")
    trials = Trials(tmp_path / "file", "key")
    assert trials.recall("as printed", compute) == TRIAL
    assert trials.recall("as printed", compute) == TRIAL
    assert compute.calls == 2
