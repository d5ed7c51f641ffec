import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import (
    ClaimsTable,
    Corrected,
    Correction,
    CorrectionKind,
    Finding,
    Kind,
    MissingData,
    Row,
    Scope,
    Seeds,
    Verdict,
    as_expected,
    recorded_words,
    verify,
)
from attnflow.claims.table import corrected_words
from attnflow.schema.settings import UnknownName, plain
from tests.claims.toy import corrected_claim, make_claim, make_evidence, make_paper

DESIGNED = [
    "id",
    "paper",
    "place",
    "kind",
    "statement",
    "origin",
    "scope",
    "slack",
    "verdict",
    "expected",
    "corrected",
    "held",
    "seeds",
    "interval",
    "margin",
    "witness",
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
    claim_row = verify(claim or make_claim(), make_paper(), Gatherer(), 5)
    return replace(claim_row, **changes)


def test_a_row_has_the_designed_fields_first():
    content = row().as_json()
    assert list(content)[: len(DESIGNED)] == DESIGNED
    assert {"numbers", "what", "note", "missed", "unread"} < set(content)
    assert content["slack"] is content["corrected"] is content["witness"] is None
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
    verify(make_claim(), make_paper(), gather, 7)
    assert gather.requests["main"].seeds == 7
    assert gather.requests["fixed"].seeds == 1
    verify(make_claim(), make_paper(), gather)
    assert gather.requests["main"].seeds is None


def test_a_statement_and_its_correction_are_two_verdicts():
    claim_row = row(corrected_claim())
    assert claim_row.verdict is Verdict.FAILS
    assert claim_row.corrected == Corrected(
        CorrectionKind.CONSTANT,
        "The time is log 10 over the rate.",
        Verdict.HOLDS,
        Verdict.HOLDS,
        claim_row.corrected.margin,
        claim_row.corrected.note,
    )
    assert claim_row.words == "fails as printed; holds with another constant"
    ours = replace(claim_row, origin="ours")
    assert ours.words == ours.recorded == "fails as stated; holds with another constant"
    assert claim_row.words == claim_row.recorded == recorded_words(corrected_claim())
    assert claim_row.margin < 0 < claim_row.corrected.margin
    assert as_expected(claim_row)


def test_a_correction_is_judged_where_the_statement_holds_too():
    claim_row = row(corrected_claim(factor=1.0))
    assert claim_row.verdict is claim_row.corrected.verdict is Verdict.HOLDS
    assert not as_expected(claim_row)


def test_a_correction_that_does_not_hold_is_a_surprise():
    claim = corrected_claim()
    wrong = replace(claim.correction, judge=claim.judge)
    claim_row = row(replace(claim, correction=wrong))
    assert claim_row.verdict is claim_row.corrected.verdict is Verdict.FAILS
    assert claim_row.words == "fails as printed; fails with another constant"
    assert not as_expected(claim_row)


@pytest.mark.parametrize(
    ("kind", "verdict", "words"),
    [
        ("typo", "holds", "holds with a misprint mended"),
        ("condition", "fails", "fails under a stronger condition"),
        ("weaker", "inconclusive", "is inconclusive in a weaker form"),
        ("opposite", "holds", "the contrary holds"),
    ],
)
def test_a_verdict_on_a_correction_says_what_it_changes(kind, verdict, words):
    assert corrected_words(CorrectionKind(kind), Verdict(verdict)) == words


def test_a_correction_may_be_of_another_kind():
    """What is claimed of all runs may be true as an observation in most of them."""

    def judge(evidence):
        return Finding((Seeds((1.0,) * 9 + (-1.0,), "order"),))

    weaker = Correction(
        CorrectionKind.WEAKER, "In most.", judge, claim_kind=Kind.OBSERVATION
    )
    claim = make_claim(judge=judge, kind=Kind.UNIVERSAL, correction=weaker)
    claim_row = row(claim)
    assert claim_row.verdict is Verdict.FAILS
    assert claim_row.corrected.verdict is Verdict.HOLDS


def refuse(error):
    def gather(needs):
        raise error

    return gather


def test_missing_data_makes_a_claim_unchecked():
    gather = refuse(MissingData("WikiText-2 is not here: attnflow data fetch."))
    claim_row = verify(make_claim(), make_paper(), gather)
    assert claim_row.verdict is Verdict.UNCHECKED
    assert claim_row.note == "WikiText-2 is not here: attnflow data fetch."
    assert as_expected(claim_row)
    json.dumps(claim_row.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", ["torch", "torch.nn"])
def test_a_missing_package_makes_a_claim_unchecked(name):
    gather = refuse(ImportError("no module", name=name))
    claim_row = verify(make_claim(), make_paper(), gather)
    assert claim_row.verdict is Verdict.UNCHECKED
    assert claim_row.note == "torch is not installed: pip install 'attnflow[torch]'."


@pytest.mark.parametrize(
    "error", [ImportError("a bug", name="attnflow.x"), KeyError("loss"), ImportError()]
)
def test_other_errors_are_raised(error):
    with pytest.raises(type(error)):
        verify(make_claim(), make_paper(), refuse(error))


@pytest.mark.parametrize(
    ("verdict", "scope", "kind", "reading"),
    [
        (Verdict.FAILS, Scope.THEOREM, Kind.UNIVERSAL, "refuted as printed"),
        (Verdict.FAILS, Scope.EXPERIMENT, Kind.OBSERVATION, "not reproduced"),
        (Verdict.HOLDS, Scope.EXPERIMENT, Kind.OBSERVATION, "reproduced"),
        (
            Verdict.FAILS,
            Scope.EXPERIMENT,
            Kind.UNIVERSAL,
            "does not hold in the paper's own experiment",
        ),
        (Verdict.FAILS, Scope.BEYOND, Kind.OBSERVATION, "does not extend here"),
        (Verdict.INCONCLUSIVE, Scope.THEOREM, Kind.UNIVERSAL, "inconclusive"),
        (Verdict.INCONCLUSIVE, Scope.EXPERIMENT, Kind.OBSERVATION, "inconclusive"),
    ],
)
def test_the_scope_says_what_a_verdict_means(verdict, scope, kind, reading):
    judged = row(verdict=verdict, scope=scope, kind=kind, origin="paper")
    assert judged.reading == reading
    assert judged.scope_and_origin == str(scope)


@pytest.mark.parametrize(
    ("verdict", "scope", "reading"),
    [
        (Verdict.FAILS, Scope.THEOREM, "refuted as we state it"),
        (Verdict.HOLDS, Scope.THEOREM, "holds under the conditions that we state"),
        (Verdict.HOLDS, Scope.EXPERIMENT, "holds in the paper's own experiment"),
    ],
)
def test_a_statement_of_ours_is_not_read_as_printed(verdict, scope, reading):
    ours = row(verdict=verdict, scope=scope, kind=Kind.OBSERVATION, origin="ours")
    assert ours.reading == reading
    assert ours.scope_and_origin == f"{scope}, ours"


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
    assert claims.summary().startswith(
        "3 claims: 1 holds, 1 inconclusive, 1 unchecked."
    )
    assert (
        "Verdicts that differ from the recorded ones (*): T-Other." in claims.summary()
    )
    assert "not a proof" in claims.summary()
    assert ClaimsTable(()).summary().startswith("0 claims: none checked.")


def test_the_table_prints_aligned():
    lines = repr(table()).splitlines()
    assert lines[0].split() == [
        "claim",
        "kind",
        "scope",
        "verdict",
        "corrected",
        "expected",
        "held",
        "interval",
        "margin",
        "seconds",
    ]
    assert lines[3].split()[3:5] == ["inconclusive", "*"]
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
    assert claims.as_json()["version"] == 2
    assert len(claims.as_json()["claims"]) == 3


def test_rows_come_back_from_json():
    for before in (row(), row(corrected_claim())):
        text = json.dumps(before.as_json(), allow_nan=False)
        after = Row.from_json(json.loads(text))
        assert replace(after, numbers={}) == replace(before, numbers={})
    with pytest.raises(ValueError, match="not a row of a claims table"):
        Row.from_json({"kind": "identity"})
