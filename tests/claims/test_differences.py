"""Two claims tables: which claims differ and how, of either version."""

import json

import pytest

from attnflow.claims import Scope, Verdict
from attnflow.claims.differences import Difference, compare, kind_of, read_table
from tests.claims.test_judgement import row
from tests.claims.toy import corrected_claim

OLD = {
    "id": "T-Order",
    "paper": "toy",
    "place": "Section 1",
    "statement": "Consistent samples are learned first.",
    "origin": "paper",
    "scope": "experiment",
    "verdict": "holds",
    "expected": "holds",
    "held": 5,
    "seeds": 5,
    "interval": [0.5, 1.0],
    "margin": 2.3,
    "seconds": 0.1,
    "correction": "",
}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, None),
        ({"verdict": Verdict.FAILS}, Difference.OPPOSITE),
        ({"verdict": Verdict.INCONCLUSIVE}, Difference.UNDECIDED),
        ({"scope": Scope.BEYOND}, Difference.SCOPE),
        ({"held": 4}, Difference.HELD),
        ({"margin": 5.0}, Difference.MARGIN),
    ],
)
def test_how_rows_differ(changes, kind):
    assert kind_of(row(), row(**changes)) is kind


def test_a_correction_differs_by_its_own_verdict():
    before = row(corrected_claim())
    after = row(corrected_claim(), corrected=None)
    assert kind_of(before, after) is Difference.CORRECTED
    assert kind_of(before, before) is None


def test_the_gravest_differences_come_first():
    old = [row(id="T-A"), row(id="T-B"), row(id="T-C")]
    new = [row(id="T-A", margin=9.0), row(id="T-B", verdict=Verdict.FAILS)]
    kinds = [change.kind for change in compare(old, new)]
    assert kinds == [Difference.OPPOSITE, Difference.GONE, Difference.MARGIN]


def test_tables_of_version_1_are_read(tmp_path):
    corrected = {
        **OLD,
        "id": "T-Time",
        "verdict": "holds-corrected",
        "expected": "holds-corrected",
        "correction": "The time is log 10 over the rate.",
    }
    file = tmp_path / "old.json"
    file.write_text(json.dumps({"version": 1, "claims": [OLD, corrected]}))
    order, time = read_table(file)
    assert kind_of(order, row(margin=2.3, interval=None)) is None
    assert time.verdict is Verdict.INCONCLUSIVE
    assert time.corrected.verdict is Verdict.HOLDS
    # Version 1 did not say whether the printed statement failed.
    after = row(corrected_claim())
    assert kind_of(time, after) is Difference.UNDECIDED
