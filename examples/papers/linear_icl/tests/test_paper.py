"""What attnflow asks of its own papers, and the authors' trajectories."""

import os
from pathlib import Path

import pytest
from linear_icl import PAPER as PAPER

from attnflow.testing import ExhibitProtocol, OpenSeeds, TextProtocol, frozen

FOLDER = Path(os.environ.get("ATTNFLOW_DATA", "none"), "references")
FILES = sorted(FOLDER.glob("linear-attention*.npz"))


class TestClaims(OpenSeeds):
    """Judged as recorded, and able to come out otherwise."""


class TestExhibits(ExhibitProtocol):
    """Drawn, and sentences that are false where nothing moves."""

    changes = (frozen,)


class TestTexts(TextProtocol):
    """Every statement is in the inventory."""

    labels = ("Experiments",)


@pytest.mark.parametrize("path", FILES or [None])
def test_equals_the_authors_program(path: Path | None) -> None:
    """Step by step, all that the file has."""
    if path is None:
        pytest.skip("no reference trajectories beside the clone (ATTNFLOW_DATA)")
    from reference import compare

    assert max(compare(path).values()) < 1e-10
