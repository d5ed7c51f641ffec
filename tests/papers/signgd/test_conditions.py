import math
from dataclasses import asdict
from functools import partial

import pytest

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.conditions import CONDITION_3_1, DISJOINT
from attnflow.papers.signgd.deep_settings import Stacked
from attnflow.papers.signgd.settings import Lattice, Train
from tests.papers import told

# n = m_k⁴, d = s² n⁴ and log d = 78.3 < m_k; n³/d^¼ = 10^15.5; σ_p s √m_k = 4e17.
MET = {
    "embed": 10**34,
    "samples": 10**8,
    "support": 10,
    "sigma_p": 4e15,
    "sigma_0": 2e-19,
    "key_neurons": 100,
    "value_neurons": 100,
    "learning_rate": 1e-34,
}

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


def test_sizes_that_meet_all_exist():
    assert unmet(Train(**MET)) == set()


def test_setting_a():
    conditions = items(Train())
    assert unmet(Train()) == {"(1) d", "(1) s", "(2)", "(3) σ_0", "(4)", "C.1"}
    # √2000/20² = 0.1118, and s = 80.
    assert conditions["(1) s"].most == pytest.approx(1.118, rel=1e-3)
    # 20³/2000^¼ = 8000/6.687.
    assert conditions["(2)"].least == pytest.approx(1196.3, rel=1e-4)
    # σ_p s √m_k = (2/√80) · 80 · 10.
    assert conditions["(3) σ_0"].most == pytest.approx(0.1 / (20 * math.sqrt(80)))
    assert conditions["(4)"].least == 1e8
    # 190 pairs of samples, 80² coordinates of each, 1999 places.
    assert conditions["C.1"].value == pytest.approx(190 * 6400 / 1999)


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({"sigma_p": 3e15}, "(2)"),
        ({"sigma_0": 3e-19}, "(3) σ_0"),
        ({"value_neurons": 78}, "(3) m_v"),
        ({"learning_rate": 2e-34}, "(5)"),
        ({"length": 4}, "L"),
        ({"heads": 2}, "heads"),
        ({"orthogonal": False}, "2.1"),
        ({"head": "learnable"}, "head"),
    ],
)
def test_each_can_fail(changes, item):
    assert unmet(Train(**{**MET, **changes})) == {item}


def test_disjoint_supports_share_nothing():
    assert items(Train(supports="disjoint"))["C.1"].value == 0


def test_the_lattice_in_the_dimension_that_item_1_asks_for():
    """σ_p √s = 0.025 n², m_k = 0.55 log d."""
    conditions = items(Lattice())
    assert unmet(Lattice()) == {
        *("(2)", "(3) m_k", "(3) m_v", "(4)", "(5)"),
        "constant η",
    }
    ratio = conditions["(2)"].value / conditions["(2)"].least
    assert ratio == pytest.approx(2 / 81)
    assert conditions["(3) m_k"].value / conditions["(3) m_k"].least == pytest.approx(
        0.55, abs=0.005
    )


def test_the_theorems_speak_of_signgd_alone():
    for setting in (Train(rule="adam"), Train(rule="gd"), Stacked()):
        assert PAPER.conditions(asdict(setting)) == []


def test_every_item_that_lemmas_assume_is_computed():
    """In all runs on which they are judged."""
    for setting in (Train(), Train(supports="disjoint"), Lattice()):
        assert {*CONDITION_3_1, *DISJOINT} == set(items(setting))
