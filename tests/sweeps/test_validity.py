"""Claims as statistics: verdicts over settings, and what cannot be a map."""

import pytest

import attnflow as af
from attnflow.sweeps.sweep import plan_sweep
from attnflow.sweeps.validity import ClaimStatistic
from tests.sweeps.trivial import RECIPE

CLAIM = "B-Sec3-order"


def test_verdicts_are_those_of_verify():
    """With the scope of each cell: the paper's own setting, and beyond it."""
    result = af.sweep(
        "mixture/figure1", omega=[0.1, 3.0], measure=CLAIM, seeds=2, executor="here"
    )
    table = af.paper("mixture").claims.verify(CLAIM, seeds=2, store=False, workers=0)
    (row,) = table.rows
    printed = result.sel(omega=0.1)
    assert printed[f"{CLAIM}_verdict"].item() == str(row.verdict)
    assert printed[f"{CLAIM}_margin"].item() == row.margin
    assert printed[f"{CLAIM}_held"].item() == row.held / row.seeds
    assert result[f"{CLAIM}_verdict"].dims == ("omega",)
    scopes = result[f"{CLAIM}_scope"].values.tolist()
    assert scopes == [str(row.scope), "beyond"] and row.scope != "beyond"


def test_claims_are_known_by_their_ids_and_their_code():
    sweep = plan_sweep("mixture/figure1", {"omega": "1,2"}, measure=CLAIM)
    (claim,) = sweep.statistics
    assert claim == ClaimStatistic("mixture", CLAIM)
    assert claim.outline.identity.startswith(f"mixture/{CLAIM} ")
    other = ClaimStatistic("mixture", "B-L5.4")
    assert claim.outline.identity.split()[1] != other.outline.identity.split()[1]


@pytest.mark.parametrize(
    ("overrides", "claim", "said"),
    [
        ({"T1": "1,2"}, CLAIM, "no setting 'T1'"),
        ({"omega": "0.1,1"}, "B-L5.4", "has no setting|none of the experiments"),
    ],
)
def test_keys_that_a_claim_does_not_have_are_refused(overrides, claim, said):
    with pytest.raises(ValueError, match=said):
        plan_sweep("mixture/figure1", overrides, measure=claim)


def test_keys_over_which_a_claim_goes_itself_are_refused():
    paper = af.paper("mixture")
    ladders = [
        claim.id
        for claim in paper.claims
        if len({r.overrides.get("omega") for r in claim.needs.values()}) > 2
        and all(r.experiment == "three-stage" for r in claim.needs.values())
    ]
    with pytest.raises(ValueError, match="values of omega itself"):
        plan_sweep("mixture/three-stage", {"omega": "0.1,1"}, measure=ladders[0])


def test_recipes_of_ones_own_have_no_claims():
    with pytest.raises(ValueError, match="selects no series"):
        plan_sweep(RECIPE, {"a": "1,2"}, measure=CLAIM)
    result = af.sweep(RECIPE, a=[1.0, 2.0], measure="sum", executor="here")
    assert result["sum"].values.tolist() == [[2.0], [4.0]]
