from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.experiments import syn_layout
from attnflow.papers.scansnap.geometry import alike_eigenvalues, geometry
from attnflow.papers.scansnap.settings import Decomposition, Flows, Given, Scalar, Steps
from tests.papers import told

# ρ = 1/(1 + 9): the eigenvalues of E are 0.2 and −0.1; 6/√M = 6e-4.
MET = {
    "classes": 3,
    "vocabulary": 10**8,
    "distinct": (3.0,),
    "value_rate": 0.5,
    "score_rate": 0.05,
}

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


def test_sizes_that_meet_all():
    conditions = items(Flows(**MET))
    assert unmet(Flows(**MET)) == set()
    assert (conditions["2 λ_1"].value, conditions["2 λ_i"].value) == pytest.approx(
        (0.2, 0.1)
    )
    assert conditions["2 λ_i"].least == pytest.approx(6e-4)


def test_figure_3():
    """Σ w² = 3.85, so that ρ = 1/4.85; K = 10 and M = 1000."""
    conditions = items(PAPER.recipe("figure3").setting)
    assert {name for name in conditions if not conditions[name].met} == {
        "1(c)",
        "2 λ_1",
        "η_Y < 1",
    }
    assert conditions["2 λ_1"].value == pytest.approx(9 / 4.85)
    assert conditions["2 λ_1"].most == pytest.approx(0.1)
    assert conditions["1(c)"].value == 2


@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({"score_rate": 0.1}, {"1(c)"}),
        ({"value_rate": 1.0}, {"η_Y < 1"}),
        ({"distinct": (2.0,)}, {"2 λ_1"}),  # 2/5 > 1/3
        ({"vocabulary": 3000}, {"2 λ_i"}),  # 6/√3000 = 0.1095
        ({"until": 89.0}, {"t"}),
        ({"own_queries": True}, {"queries"}),
        ({"common": 2, "distinct": (5.0,)}, {"common"}),
    ],
)
def test_each_can_fail(changes, failing):
    assert unmet(Flows(**{**MET, **changes})) == failing


def test_steps_have_a_length_momentum_and_a_start():
    conditions = items(Steps(start="uniform"))
    assert conditions["1(b)"].value == 128
    assert conditions["momentum"].value == 0.9
    assert (
        conditions["Y(0)"].value == conditions["Z(0)"].value == pytest.approx(34**-0.5)
    )
    assert conditions["t"].value == 128 * 100
    assert conditions["2 λ_1"].value == pytest.approx(10 / 13.85)
    long = items(Steps(length=None, optimiser="descent", value_start=0.0))
    assert long["1(b)"].met and long["momentum"].met and long["Y(0)"].met
    assert long["t"].value == 100


def test_the_size_of_a_vocabulary_is_that_of_the_experiment():
    setting = Steps(queries=3, classes_per_query=2, common_per_query=4)
    layout = geometry(asdict(setting))
    assert layout is not None
    assert layout.vocabulary == syn_layout(setting).size
    assert (layout.classes, layout.common) == (6, 10 + 3 * 4)


@pytest.mark.parametrize("groups", [(1, 4), (4, 1), (3, 2), (1, 1)])
def test_eigenvalues_of_alike_classes(groups):
    """Beside those of the whole matrix: 2 tokens for all, 3 by query, own ones."""
    queries, per_query = groups
    K = queries * per_query
    distinct = (0.5, 1.5)
    features = np.zeros((K, 2 + 3 * queries + 2 * K))
    features[:, :2] = 1.0
    for n in range(K):
        m = n // per_query
        features[n, 2 + 3 * m : 5 + 3 * m] = 1.0
        features[n, 2 + 3 * queries + 2 * n :][:2] = distinct
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    whole = np.linalg.eigvalsh(features @ features.T - np.eye(K))
    eigenvalues = alike_eigenvalues(groups, shared=(2, 3), distinct=2.5)
    np.testing.assert_allclose(sorted(eigenvalues), _distinct(whole), atol=1e-14)


def _distinct(values):
    return sorted(set(np.round(values, 12)))


def test_classes_one_by_one():
    """f = (1, 1, 0)/√2 and (1, 0, 9)/√82, which share one token of three."""
    layout = geometry(asdict(Given()))
    assert layout is not None
    assert layout.extremes == pytest.approx((164**-0.5, 164**-0.5))
    assert (layout.common, layout.queries) == (1, 1)


def test_what_the_theorems_do_not_speak_of_has_none():
    for setting in (Steps(optimiser="adam"), Scalar(), Decomposition()):
        assert PAPER.conditions(asdict(setting)) == []
