from attnflow.papers.mixture import PAPER
from attnflow.testing import TextProtocol
from attnflow.testing.protocols import named

LABELS = (
    *(f"Figure {n}" for n in ("1a", "1b", "1c", "2", "3", "4", "5", "6", "7")),
    *("Definition 2.1", "Algorithm 1", "Condition 1", "Theorem 4.1", "Definition 5.1"),
    *(f"Lemma 5.{n}" for n in (2, 3, 4, 5)),
    *("Observation 1", "Lemma 6.1"),
    *("Lemma C.1", "Lemma C.2", "Corollary C.3", "Lemma C.4", "Corollary C.5"),
    *("Lemma D.1", "Lemma D.2", "Corollary D.3", "Lemma D.4", "Lemma D.5"),
    *("Corollary D.6", "Corollary D.7", "Theorem D.8"),
    *(f"Lemma E.{n}" for n in (1, 2, 3, 4, 5, 6)),
    *("Theorem E.7", "Lemma F.1", "Lemma F.2", "Theorem F.3"),
    *("Lemma G.1", "Lemma H.1", "Lemma H.2"),
)
"""Every numbered figure and statement of the paper, in its order."""


class TestTexts(TextProtocol):
    labels = LABELS


def test_every_exhibit_covers_something():
    assert named(PAPER, "exhibits") == {exhibit.id for exhibit in PAPER.exhibits}
