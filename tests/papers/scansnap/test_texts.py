"""The notes and the inventory of `scansnap`, and numbers that notes tell."""

import re

import numpy as np
import pytest

from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.report.inventory import inventory_rows

ENTRIES = [
    (kind, entry) for kind, entries in PAPER.inventory.items() for entry in entries
]
NOTES = {note.id: note for note in PAPER.notes}
LABELS = {
    "Table 1",
    *(f"Figure {n}" for n in range(1, 13)),
    *(f"Lemma {n}" for n in range(1, 19)),
    *(f"Theorem {n}" for n in range(1, 6)),
    *(f"Remark {n}" for n in range(1, 5)),
    *("Corollary 1", "Corollary 2", "Assumption 1", "Assumption 2"),
}


def test_nothing_numbered_is_left_out():
    names = [entry["id"] for _, entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert set(names) >= LABELS
    for kind, entry in ENTRIES:
        if entry["id"] in LABELS:
            assert entry["id"].lower().startswith(kind)
        assert entry["about"]
    assert len(inventory_rows(PAPER)) == len(ENTRIES)


def test_entries_are_covered_by_what_exists():
    named = [id for _, entry in ENTRIES for id in entry.get("claims", [])]
    assert set(named) == {claim.id for claim in PAPER.claim_list}
    figures = [id for _, entry in ENTRIES for id in entry.get("exhibits", [])]
    assert set(figures) == {exhibit.id for exhibit in PAPER.exhibits}
    assert not [entry["id"] for _, entry in ENTRIES if "yet" in entry["about"]]


def test_notes_are_fair():
    assert len(NOTES) == len(PAPER.notes)
    for note in PAPER.notes:
        assert re.fullmatch(r"E-N\d+[a-z]", note.id)
        assert note.shown_by == "text" or re.fullmatch(r"E-[\w-]+", note.shown_by)
        assert note.status == "suspected" and note.source == "extracted text"
        assert note.place and note.printed and note.ours
    covering = {i for _, entry in ENTRIES for i in entry.get("covered_by", [])}
    assert covering == set(NOTES)
    numbers = {int(re.findall(r"\d+", id)[0]) for id in NOTES}
    assert numbers == set(range(1, 19))


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


def test_the_paper_is_told():
    assert "extracted" in PAPER.version_read
    assert "scansnap2023" in PAPER.bibtex
    assert PAPER.letter == "E"
