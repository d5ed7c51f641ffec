"""Inventory and reader's notes: completeness, numbers and references."""

import math
import re

import pytest
from scipy.stats import binom

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.settings import Lattice, Train
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages.formulas import early, late
from attnflow.testing import TextProtocol
from attnflow.testing.protocols import named

NOTES = {note.id: note for note in PAPER.notes}
LABELS = {
    *("Definition 2.1", "Condition 3.1", "Theorem 3.2"),
    *(f"Figure {n}" for n in ("1a", "1b", "1c", "1d", "1e", "2a", "2b", "2c", "2d")),
    *(f"Figure {n}" for n in range(3, 20)),
    *(f"Table {n}" for n in range(1, 12)),
    *(f"Lemma 4.{n}" for n in range(1, 9)),
    *(f"Lemma C.{n}" for n in range(1, 15)),
    *(f"Lemma D.{n}" for n in range(1, 8)),
}
"""Every numbered figure, table and statement but those of Appendix E."""


class TestTexts(TextProtocol):
    labels = LABELS


def test_no_number_of_appendix_e_is_left_out():
    """Its statements are numbered through, whatever they are called."""
    names = [statement.id for statement in PAPER.statements]
    numbers = {match[1] for n in names if (match := re.search(r" E\.(\d+)$", n))}
    assert numbers == {str(n) for n in range(1, 43)}


def test_every_note_covers_something():
    assert named(PAPER, "covered_by") == set(NOTES)


def test_bounds_of_appendix_c_at_the_papers_sizes():
    """The sizes that notes C-N6a and C-N6b quote, at δ = 0.1."""
    neurons, samples, delta = 100, 20, 0.1
    pairs = -math.log1p(-(delta**2) / (4 * neurons**2 * samples**2))
    single = -math.log1p(-(delta**2) / (4 * neurons**2))
    values = (
        256 * math.log(12 * neurons * samples / delta) ** 2 / (math.pi * pairs) ** 2
    )
    norms = 32 * math.log(12 * neurons / delta) / (math.pi * pairs)
    support = samples**3 * (2 / (math.pi * single)) ** 1.5
    assert values == pytest.approx(1e22, rel=0.05)
    assert norms == pytest.approx(1.5e11, rel=0.05)
    assert support == pytest.approx(3.3e13, rel=0.05)
    assert "10^22" in NOTES["C-N6a"].ours
    assert "1.5 · 10^11 and 3.3 · 10^13" in NOTES["C-N6b"].ours


def test_tied_votes():
    """Of 20 fair signs, as C-N2c says."""
    assert binom.pmf(10, 20, 0.5) == pytest.approx(0.18, abs=0.005)
    assert binom.pmf(5, 10, 0.5) == pytest.approx(0.25, abs=0.005)
    assert "0.18" in NOTES["C-N2c"].ours
    assert "0.25" in NOTES["C-N2c"].ours


def test_the_small_constant_of_stage_four():
    """C-N6d: 9 √(2/π) x (3√2 n / x)^1.089 = 1 at x = 10^33 for n = 20."""
    power = 0.99 * 1.1
    log = math.log(9 * math.sqrt(2 / math.pi)) + power * math.log(3 * math.sqrt(2) * 20)
    assert log / (power - 1) / math.log(10) == pytest.approx(33, abs=0.5)
    assert power / (power - 1) == pytest.approx(12, abs=0.5)


def test_the_constant_that_the_upper_formula_swallows():
    """C-N10a: 1.01 log x exceeds log(4√(2/π) x) above 10^50 only."""
    constant = math.log(4 * math.sqrt(2 / math.pi))
    assert constant / 0.01 / math.log(10) == pytest.approx(50, abs=0.5)
    formulas = late(sizes(Lattice()))
    assert formulas["T4-"].time / formulas["T4-_hi"].time == pytest.approx(
        1.07, abs=0.005
    )


def test_the_order_of_formulas_at_the_papers_sizes():
    """C-N2b, with β_ξ and β_μ at 3.9 and 3 deviations, as ten seeds have them."""
    size = sizes(Train())
    early_times = early(size, noise=3.9 * 2 * size.sigma_0, signal=3 * size.sigma_0)
    times = early_times | late(size)
    order = ["T1", "T2_SGN", "T4-_hi", "T3", "T2"]
    assert [times[name].time for name in order] == sorted(
        times[name].time for name in order
    )
    for row in ("a", "b", "c", "d"):
        assert late(sizes(Train(row=row)))["T4-_lo"].time is None


def test_the_initial_scale_against_appendix_f1():
    """C-N4c: σ_p^−2 s^−3/2 m_v^½ in setting (a)."""
    size = sizes(Train())
    bound = size.sigma_p**-2 * size.support**-1.5 * size.value_neurons**0.5
    assert bound == pytest.approx(0.125, rel=1e-3)
    assert size.sigma_0 == pytest.approx(0.0022, rel=0.02)
