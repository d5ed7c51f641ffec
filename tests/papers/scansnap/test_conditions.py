from dataclasses import asdict
from functools import partial

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.computations import Couplings
from attnflow.papers.scansnap.conditions import MOMENTUM
from attnflow.papers.scansnap.experiments import syn_layout
from attnflow.papers.scansnap.geometry import geometry
from attnflow.papers.scansnap.settings import (
    Decomposition,
    EntropyGrid,
    Flows,
    Given,
    Scalar,
    Steps,
)
from attnflow.schema.settings import canonical_json
from attnflow.training.rules import rule_named
from tests.papers import told

# ρ = 1/(1 + 9): the eigenvalues of E are 0.2 and −0.1; 6/√M = 6e-4.
MET = {
    "system": "Q",
    "classes": 3,
    "vocabulary": 10**8,
    "distinct": (3.0,),
    "value_rate": 0.5,
    "score_rate": 0.05,
}

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


def test_sizes_that_meet_all():
    conditions = items(Flows(**MET))
    # No run of the tables is the scalar model.
    assert unmet(Flows(**MET)) == {"Eq. 13"}
    assert (conditions["2 λ_1"].value, conditions["2 λ_i"].value) == pytest.approx(
        (0.2, 0.1)
    )
    assert conditions["2 λ_i"].least == pytest.approx(6e-4)


def test_figure_3():
    """Σ w² = 3.85, so that ρ = 1/4.85; K = 10 and M = 1000."""
    conditions = items(PAPER.recipe("figure3").setting)
    assert {name for name in conditions if not conditions[name].met} == {
        *("1(c)", "2 λ_1", "|λ_1| < 1", "η_Y < 1"),
        *("Eq. 10", "Eq. 13", "f²"),
    }
    assert conditions["2 λ_1"].value == pytest.approx(9 / 4.85)
    assert conditions["2 λ_1"].most == pytest.approx(0.1)
    assert conditions["1(c)"].value == 2


@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({"score_rate": 0.1}, {"1(c)"}),
        ({"value_rate": 1.0}, {"η_Y < 1"}),
        ({"distinct": (2.0,)}, {"2 λ_1", "f²"}),  # 2/5 > 1/3
        ({"distinct": (3.0, 3.0)}, {"dominant"}),
        ({"system": "J"}, {"Eq. 10"}),
        ({"vocabulary": 3000}, {"2 λ_i"}),  # 6/√3000 = 0.1095
        ({"until": 89.0}, {"t"}),
        ({"own_queries": True}, {"queries"}),
        ({"common": 2, "distinct": (5.0,)}, {"common"}),
    ],
)
def test_each_can_fail(changes, failing):
    assert unmet(Flows(**{**MET, **changes})) == {"Eq. 13", *failing}


def test_steps_have_a_length_momentum_and_a_start():
    conditions = items(Steps(start="uniform"))
    assert conditions["1(b)"].value == 128
    assert conditions["momentum"].value == 0.9
    assert (
        conditions["Y(0)"].value == conditions["Z(0)"].value == pytest.approx(34**-0.5)
    )
    assert conditions["t"].value == 128 * 100
    assert conditions["2 λ_1"].value == pytest.approx(10 / 13.85)
    long = items(Steps(length=None, rule="gd", value_start=0.0))
    assert long["1(b)"].met and long["momentum"].met and long["Y(0)"].met
    assert long["t"].value == 100


@pytest.mark.parametrize("rule", ["momentum", "nesterov"])
def test_a_momentum_that_is_not_set_is_the_rules_own(rule):
    assert items(Flows(rule=rule))["momentum"].value == MOMENTUM
    assert rule_named(rule, learning_rate=0.1).momentum == MOMENTUM


def test_the_size_of_a_vocabulary_is_that_of_the_experiment():
    setting = Steps(queries=3, classes_per_query=2, common_per_query=4)
    layout = geometry(asdict(setting))
    assert layout is not None
    assert layout.vocabulary == syn_layout(setting).size
    assert (layout.classes, layout.common) == (6, 10 + 3 * 4)


def test_classes_one_by_one():
    """f = (1, 1, 0)/√2 and (1, 0, 9)/√82, which share one token of three."""
    layout = geometry(asdict(Given()))
    assert layout is not None
    assert layout.extremes == pytest.approx((164**-0.5, 164**-0.5))
    assert (layout.common, layout.queries) == (1, 1)


def test_facts_of_classes():
    layout = geometry(asdict(Flows(common=2, distinct=(1.0, 3.0))))
    assert layout is not None
    assert layout.is_alike and layout.is_shared
    assert layout.runner_up == pytest.approx(1 / 3)
    assert layout.common_square == pytest.approx(1 / 12)
    uneven = geometry(asdict(Given()))
    assert uneven is not None
    assert not uneven.is_alike and not uneven.is_shared


def test_eigenvalues_of_a_run_replace_the_initial_ones():
    """One record of two classes with f · f' = 0.4, and one of 0.7."""
    pairs = [[[1.0, rho], [rho, 1.0]] for rho in (0.4, 0.7)]
    run = xr.Dataset(
        {"gram": (("seed", "time", "class", "other_class"), [pairs])},
        attrs={"setting": canonical_json(asdict(Given()))},
    )
    conditions = {item.name: item for item in PAPER.items(run)}
    assert conditions["2 λ_1"].value == pytest.approx(0.7)
    assert conditions["2 λ_i"].value == pytest.approx(0.4)
    unknown = run.where(run["time"] == 0)
    assert {item.name: item.met for item in PAPER.items(unknown)}["2 λ_1"] is None


def test_common_tokens_that_fall():
    scores = np.array([0.0, -1.0, -1.5]).reshape(1, 3, 1, 1)
    run = xr.Dataset(
        {"score": (("seed", "time", "query", "token"), scores)},
        {"token": ["common0"]},
        {"setting": canonical_json(asdict(Flows()))},
    )
    met = [
        item.met
        for r in (run, -run)
        for item in PAPER.items(r.assign_attrs(run.attrs))
        if item.name == "CT"
    ]
    assert met == [True, False]


def test_the_set_up_that_is_farthest_from_assumption_2():
    conditions = items(Couplings())
    assert conditions["2 λ_1"].value == pytest.approx(2.9)
    assert not conditions["2 M"].met
    one = Couplings(classes=(3,), vocabularies=(10000,), correlations=(0.1,))
    assert not {"2 M", "2 λ_1", "2 λ_i"} & unmet(one)


def test_the_scalar_model_is_theorem_4s_condition():
    assert items(Scalar())["Eq. 13"].met
    assert not items(Flows())["Eq. 13"].met


def test_what_the_theorems_do_not_speak_of_has_none():
    for setting in (EntropyGrid(), Decomposition()):
        assert PAPER.conditions(asdict(setting)) == []


def test_rules_that_divide_by_gradients_are_not_descent():
    assert "momentum" in unmet(Steps(rule="adam"))
