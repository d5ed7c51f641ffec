"""Notes and inventory of `scansnap`, and numbers in the notes."""

import re

import numpy as np
import pytest

from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.testing import TextProtocol
from attnflow.testing.protocols import named

NOTES = {note.id: note for note in PAPER.notes}
LABELS = {
    "Table 1",
    *(f"Figure {n}" for n in range(1, 13)),
    *(f"Lemma {n}" for n in range(1, 19)),
    *(f"Theorem {n}" for n in range(1, 6)),
    *(f"Remark {n}" for n in range(1, 5)),
    *("Corollary 1", "Corollary 2", "Assumption 1", "Assumption 2"),
}


class TestTexts(TextProtocol):
    labels = LABELS


def test_everything_covers_something():
    assert named(PAPER, "exhibits") == {exhibit.id for exhibit in PAPER.exhibits}
    assert named(PAPER, "covered_by") == set(NOTES)
    for entry in PAPER.statements:
        assert entry.about and "yet" not in entry.about


def test_every_item_of_our_reading_is_noted():
    numbers = {int(re.findall(r"\d+", id)[0]) for id in NOTES}
    assert numbers == set(range(1, 24))


def test_the_scale_before_equation_132():
    """E-N11a, with C₀ of Figure 9."""
    decoder = Decoder(10, 1000, value_rate=1.0, score_rate=1e-4)
    scale = 4.85**2 / 10
    exact = float(decoder.drive_integral(1e6, scale))
    late = np.log(2 * 10 * (999 / 1000) ** 2 / 1e4 * np.log(1e8) ** 2 / scale) / 4
    assert exact == pytest.approx(0.063, abs=5e-4)
    assert late == pytest.approx(-0.31, abs=0.005)


def test_the_late_speed():
    """E-N17a: the printed ratio at t₀ grows with M, Lemma 9's does not."""
    printed, lemma = [], []
    for vocabulary in (34, 1e3, 1e5):
        decoder = Decoder(10, vocabulary, value_rate=1.0, score_rate=1.0)
        late = decoder.snap / decoder.clock
        speed = float(decoder.speed(decoder.snap)) * late
        printed.append(speed / np.log(late))
        lemma.append(speed / np.log(vocabulary * late))
    assert printed == pytest.approx([3.5, 5.6, 7.9], abs=0.05)
    assert max(lemma) < 2


def test_the_sizes_of_assumption_2():
    """E-N13a: λ of equal correlations are ρ(K − 1) and −ρ, with K − 1 of the latter."""
    K = 10
    assert 36 * K**2 == 3600
    assert 36 * K**2 * (K - 1) ** 2 == 291600
    weights = np.linspace(0.1, 1, 10)
    largest = 10 / (10 + (weights**2).sum())
    assert largest == pytest.approx(0.72, abs=0.005)
