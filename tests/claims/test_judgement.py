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
    verify,
)
from attnflow.schema.plain_values import plain
from attnflow.schema.settings import UnknownName
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
        self.requests = {}

    def __call__(self, needs):
        self.requests = dict(needs)
        return self.evidence


def row(claim=None, **changes):
    claim_row = verify(claim or make_claim(), "toy", Gatherer(), 5)
    return replace(claim_row, **changes)


def test_a_row_has_the_designed_fields_first():
    content = row().as_json()
    assert list(content)[: len(DESIGNED)] == DESIGNED
    assert {"numbers", "what", "note", "correction"} < set(content)
    assert content["verdict"] == "holds"
    assert content["scope"] == "experiment"
    assert (content["held"], content["seeds"]) == (5, 5)
    assert content["interval"] == pytest.approx([0.478, 1.0], abs=1e-3)
    assert content["margin"] == pytest.approx(np.log(10), rel=1e-2)
    assert content["seconds"] > 0
    assert len(content["numbers"]["gap"]) == 5
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_seeds_go_to_the_runs_that_leave_them_open():
    gather = Gatherer()
    verify(make_claim(), "toy", gather, 7)
    assert gather.requests["main"].seeds == 7
    assert gather.requests["fixed"].seeds == 1
    verify(make_claim(), "toy", gather)
    assert gather.requests["main"].seeds is None


def test_a_correction_is_tried_where_the_statement_does_not_hold():
    claim_row = row(corrected_claim())
    assert claim_row.verdict is Verdict.HOLDS_CORRECTED
    assert claim_row.correction == "The time is log 10 over the rate."
    assert "as printed: time" in claim_row.note
    assert "corrected: time" in claim_row.note
    assert claim_row.margin > 0
    assert as_expected(claim_row)


def test_a_correction_is_not_tried_where_the_statement_holds():
    claim_row = row(corrected_claim(factor=1.0))
    assert claim_row.verdict is Verdict.HOLDS
    assert claim_row.correction == ""


def test_a_correction_that_does_not_hold_changes_nothing():
    claim = corrected_claim()
    wrong = replace(claim.correction, judge=claim.judge)
    claim_row = row(replace(claim, correction=wrong))
    assert claim_row.verdict is Verdict.FAILS
    assert claim_row.correction == ""
    assert not as_expected(claim_row)


def refuse(error):
    def gather(needs):
        raise error

    return gather


def test_missing_data_makes_a_claim_unchecked():
    gather = refuse(MissingData("WikiText-2 is not here: attnflow data fetch."))
    claim_row = verify(make_claim(), "toy", gather)
    assert claim_row.verdict is Verdict.UNCHECKED
    assert claim_row.note == "WikiText-2 is not here: attnflow data fetch."
    assert as_expected(claim_row)
    json.dumps(claim_row.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", ["torch", "torch.nn"])
def test_a_missing_package_makes_a_claim_unchecked(name):
    gather = refuse(ImportError("no module", name=name))
    claim_row = verify(make_claim(), "toy", gather)
    assert claim_row.verdict is Verdict.UNCHECKED
    assert claim_row.note == "torch is not installed: pip install 'attnflow[torch]'."


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
    claims = table()
    assert [r.id for r in claims.surprises] == ["T-Other"]
    assert claims.summary().startswith("3 claims: 1 hold, 1 inconclusive, 1 unchecked.")
    assert (
        "Verdicts that differ from the recorded ones (*): T-Other." in claims.summary()
    )
    assert "not a proof" in claims.summary()
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
    claims = table()
    assert len(claims) == 3
    assert claims["T-Order"].verdict is Verdict.HOLDS
    assert [r.id for r in claims] == ["T-Order", "T-Other", "T-None"]
    with pytest.raises(UnknownName, match="Did you mean 'T-Order'"):
        claims["T-Ordr"]
    assert claims.as_json()["version"] == 1
    assert len(claims.as_json()["claims"]) == 3


def test_rows_are_records():
    assert isinstance(row(), Row)
    assert row().origin == "paper"
