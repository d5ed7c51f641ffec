"""What every paper must pass: subclass with a name that begins with `Test`.

The module of the subclass has the paper as `PAPER`. Fixtures are those of `conftest.py`
beside this file.
"""

import importlib
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from attnflow.claims import Claim, Verdict
from attnflow.figures import themed
from attnflow.paper import Exhibit, Paper, Request
from attnflow.report.plain import leaves, plain
from tests.claims.protocol import check_claim

HEAVY = ("jax", "matplotlib", "diffrax", "torch", "scipy.stats")
"""What takes long to import, and listing a paper does not need."""


class ExhibitProtocol:
    """Figures and tables: drawn, with numbers, and with sentences that can fail."""

    slow: ClassVar[Collection[str]] = ()
    changes: ClassVar[tuple[Callable, ...]] = ()
    """Changes of a run, under some of which each thing that is seen must vanish."""

    @classmethod
    def parameters(cls, paper: Paper) -> list:
        """The exhibits, as parameters of a test."""
        return _parameters(paper.exhibits, cls.slow)

    def changes_of(self, exhibit: Exhibit) -> tuple[Callable, ...]:
        """The changes for one exhibit."""
        return self.changes

    def test_what_must_be_seen_is_seen_and_can_be_missing(self, exhibit, evidence_of):
        evidence = evidence_of(exhibit.id)
        seen = exhibit.seen(evidence)
        assert seen and all(answer is True for answer in seen.values()), seen
        missing = set()
        for change in self.changes_of(exhibit):
            changed = {name: change(run) for name, run in evidence.items()}
            # What was measured may be no number any more, and its logarithm too.
            with np.errstate(all="ignore"):
                found = exhibit.seen(changed)
            assert found.keys() == seen.keys()
            missing |= {text for text, answer in found.items() if not answer}
        assert missing == seen.keys(), f"cannot fail: {seen.keys() - missing}"

    def test_drawn_with_names_on_every_axis(self, exhibit, evidence_of):
        """On a dark slide too."""
        with themed("dark"):
            figure = exhibit.draw(evidence_of(exhibit.id))
        shown = [a for a in figure.axes if a.axison and a.get_label() != "<colorbar>"]
        assert shown and all(ax.lines or ax.collections for ax in shown)
        names = [ax.get_xlabel() for ax in shown]
        assert any(names) or figure.get_supxlabel()

    def test_values_are_numbers_and_hold_what_is_printed(self, exhibit, evidence_of):
        values = dict(leaves(plain(exhibit.values(evidence_of(exhibit.id)))))
        # A time that a seed never reached is none; most must be there.
        numbers = [value for value in values.values() if value is not None]
        assert all(isinstance(value, int | float) for value in numbers), values
        assert numbers and len(numbers) >= len(values) / 2
        printed = {path for path, _ in leaves(plain(exhibit.printed))}
        assert printed <= values.keys()

    def test_each_says_what_it_shows_and_what_the_paper_leaves_open(self, exhibit):
        assert exhibit.caption and exhibit.silent

    def test_the_headline_is_one_of_them(self, request):
        paper = request.module.PAPER
        ids = [exhibit.id for exhibit in paper.exhibits]
        assert paper.headline in ids and len(set(ids)) == len(ids)

    def test_settings_that_are_asked_for_exist(self, exhibit, request):
        for asked in exhibit.needs.values():
            recipe = request.module.PAPER.recipe(asked.experiment)
            recipe.with_overrides({**asked.overrides, **asked.quick})

    def test_listing_the_paper_draws_nothing(self, request):
        code = (
            f"import sys, attnflow.papers.{request.module.PAPER.slug}\n"
            f"print([name for name in {HEAVY} if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"

    def test_every_file_of_figures_is_used(self, request):
        package = f"attnflow.papers.{request.module.PAPER.slug}.figures"
        (folder,) = importlib.import_module(package).__path__
        files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
        used = {name.rpartition(".")[2] for name in sys.modules if package in name}
        assert files <= used


class ClaimProtocol:
    """Claims: judged as recorded, and broken by each of their mutations."""

    slow: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls, paper: Paper, *, judged: bool) -> list:
        """The claims, as parameters of a test that judges them, or only reads."""
        if not judged:
            return _parameters(paper.claim_list, ())
        return _parameters(paper.claim_list, cls.slow, pytest.mark.paper)

    def test_claim(self, claim, judging, request):
        check_claim(claim, judging.gather(request.module.PAPER, claim.needs))

    def test_a_claim_says_all_that_is_needed(self, claim, request):
        assert claim.conditions != "none"
        assert len(claim.mutations) >= 2
        corrected = claim.expected is Verdict.HOLDS_CORRECTED
        assert corrected == (claim.correction is not None)
        for asked in claim.needs.values():
            recipe = request.module.PAPER.recipe(asked.experiment)
            recipe.with_overrides(asked.overrides)
            self.check_seeds(claim, asked)

    def check_seeds(self, claim: Claim, request: Request) -> None:
        """Seeds are planned, and others than those on which tolerances were set.

        See each paper's `evidence.PLAN`; the numbers alone prove nothing about who
        looked.
        """
        assert isinstance(request.seeds, tuple) and min(request.seeds) >= 200, claim.id

    def test_ids_are_unique(self, request):
        paper = request.module.PAPER
        ids = [claim.id for claim in paper.claim_list]
        assert len(set(ids)) == len(ids)
        assert set(paper.headline_claims) <= set(ids)


class OpenSeeds(ClaimProtocol):
    """Claims some of which leave to the reader how many seeds are enough."""

    def check_seeds(self, claim: Claim, request: Request) -> None:
        """Where seeds are planned, they are not those of the tolerances."""
        if isinstance(request.seeds, tuple):
            super().check_seeds(claim, request)


def _parameters(items: Collection[Any], slow: Collection[str], *marks: Any) -> list:
    ids = {item.id for item in items}
    assert set(slow) <= ids, f"unknown: {set(slow) - ids}"
    return [
        pytest.param(
            item,
            id=item.id,
            marks=[*marks, *([pytest.mark.slow] if item.id in slow else [])],
        )
        for item in items
    ]
