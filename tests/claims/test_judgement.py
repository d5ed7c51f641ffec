import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import (
    ClaimsTable,
    Exact,
    Finding,
    MissingData,
    Row,
    Scope,
    Verdict,
    as_expected,
    plain,
    verify,
)
from attnflow.schema.names import UnknownName
from tests.claims.toy import corrected_claim, make_claim, make_evidence

DESIGNED = [
    "id",
    "paper",
    "place",
    "statement",
    "origin",
    "scope",
    "verdict",
    "expected",
    "held",
    "seeds",
    "interval",
    "margin",
    "seconds",
]


class Gatherer:
    """Gives the toy evidence and remembers what was asked for."""

    def __init__(self, seeds=5):
        self.evidence = make_evidence(seeds)
        self.asked = {}

    def __call__(self, needs):
        self.asked = dict(needs)
        return self.evidence


def row(claim=None, **changes):
    found = verify(claim or make_claim(), "toy", Gatherer(), 5)
    return replace(found, **changes)


def test_a_row_has_the_designed_fields_first():
    found = row().as_json()
    assert list(found)[: len(DESIGNED)] == DESIGNED
    assert {"numbers", "what", "note", "correction"} < set(found)
    assert found["verdict"] == "holds"
    assert found["scope"] == "experiment"
    assert (found["held"], found["seeds"]) == (5, 5)
    assert found["interval"] == pytest.approx([0.478, 1.0], abs=1e-3)
    assert found["margin"] == pytest.approx(np.log(10), rel=1e-2)
    assert found["seconds"] > 0
    assert len(found["numbers"]["gap"]) == 5
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_seeds_go_to_the_runs_that_leave_them_open():
    gather = Gatherer()
    verify(make_claim(), "toy", gather, 7)
    assert gather.asked["main"].seeds == 7
    assert gather.asked["fixed"].seeds == 1
    verify(make_claim(), "toy", gather)
    assert gather.asked["main"].seeds is None


def test_a_correction_is_tried_where_the_statement_does_not_hold():
    found = row(corrected_claim())
    assert found.verdict is Verdict.HOLDS_CORRECTED
    assert found.correction == "The time is log 10 over the rate."
    assert "as printed: time" in found.note
    assert "corrected: time" in found.note
    assert found.margin > 0
    assert as_expected(found)


def test_a_correction_is_not_tried_where_the_statement_holds():
    found = row(corrected_claim(factor=1.0))
    assert found.verdict is Verdict.HOLDS
    assert found.correction == ""


def test_a_correction_that_does_not_hold_changes_nothing():
    claim = corrected_claim()
    wrong = replace(claim.correction, judge=claim.judge)
    found = row(replace(claim, correction=wrong))
    assert found.verdict is Verdict.FAILS
    assert found.correction == ""
    assert not as_expected(found)


def refuse(error):
    def gather(needs):
        raise error

    return gather


def test_missing_data_makes_a_claim_unchecked():
    gather = refuse(MissingData("WikiText-2 is not here: attnflow data fetch."))
    found = verify(make_claim(), "toy", gather)
    assert found.verdict is Verdict.UNCHECKED
    assert found.note == "WikiText-2 is not here: attnflow data fetch."
    assert as_expected(found)
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", ["torch", "torch.nn"])
def test_a_missing_package_makes_a_claim_unchecked(name):
    gather = refuse(ImportError("no module", name=name))
    found = verify(make_claim(), "toy", gather)
    assert found.verdict is Verdict.UNCHECKED
    assert found.note == "torch is not installed: pip install 'attnflow[torch]'."


@pytest.mark.parametrize(
    "error", [ImportError("a bug", name="attnflow.x"), KeyError("loss"), ImportError()]
)
def test_other_errors_are_raised(error):
    with pytest.raises(type(error)):
        verify(make_claim(), "toy", refuse(error))


def test_another_scope_for_other_settings():
    def judge(evidence):
        return Finding((Exact(1.0, 0.1, "loss"),))

    claim = make_claim(judge=judge)
    assert "paper's sizes" in verify(claim, "toy", Gatherer()).note
    beyond = verify(claim, "toy", Gatherer(), scope=Scope.BEYOND)
    assert beyond.scope is Scope.BEYOND
    assert "beyond" in beyond.note


def test_plain_values():
    value = {
        1: np.float64(2.0),
        "array": np.array([1.0, np.nan]),
        "labelled": xr.DataArray([True, False]),
        "nested": (np.int64(3), [float("inf")], None, np.bool_(True)),
        "verdict": Verdict.HOLDS,
        "other": Scope,
    }
    assert plain(value) == {
        "1": 2.0,
        "array": [1.0, None],
        "labelled": [True, False],
        "nested": [3, [None], None, True],
        "verdict": "holds",
        "other": str(Scope),
    }


# The table


def table():
    return ClaimsTable(
        (
            row(),
            row(id="T-Other", verdict=Verdict.INCONCLUSIVE, margin=-2.0),
            row(id="T-None", verdict=Verdict.UNCHECKED, interval=None, held=0, seeds=0),
        )
    )


def test_surprises_and_summary():
    found = table()
    assert [r.id for r in found.surprises] == ["T-Other"]
    assert found.summary().startswith("3 claims: 1 hold, 1 inconclusive, 1 unchecked.")
    assert "Otherwise than recorded (*): T-Other." in found.summary()
    assert "not a proof" in found.summary()
    assert ClaimsTable(()).summary().startswith("0 claims: none checked.")


def test_the_table_prints_aligned():
    lines = repr(table()).splitlines()
    assert lines[0].split() == [
        "claim",
        "scope",
        "verdict",
        "expected",
        "held",
        "interval",
        "margin",
        "seconds",
    ]
    assert lines[3].split()[2:4] == ["inconclusive", "*"]
    assert "not a proof" in lines[-1]
    at = lines[0].index("verdict")
    assert [line[at:].split()[0] for line in lines[2:5]] == [
        "holds",
        "inconclusive",
        "unchecked",
    ]
    assert "–" in lines[4]


def test_html_is_escaped():
    odd = ClaimsTable((row(statement="a < b & c."),))
    assert "a &lt; b &amp; c." in odd._repr_html_()
    assert "not a proof" in odd._repr_html_()


def test_a_table_is_read_by_id():
    found = table()
    assert len(found) == 3
    assert found["T-Order"].verdict is Verdict.HOLDS
    assert [r.id for r in found] == ["T-Order", "T-Other", "T-None"]
    with pytest.raises(UnknownName, match="Did you mean 'T-Order'"):
        found["T-Ordr"]
    assert found.as_json()["version"] == 1
    assert len(found.as_json()["claims"]) == 3


def test_rows_are_records():
    assert isinstance(row(), Row)
    assert row().origin == "paper"
