"""Figures and tables: drawn, with numbers, and with sentences that can fail."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import xarray as xr

from attnflow.figures import themed
from attnflow.papers import module_of
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.site.pages.plain import leaves, plain
from attnflow.testing.parameters import parameters

HEAVY = ("jax", "matplotlib", "diffrax", "torch", "scipy.stats")
"""What takes long to import, and listing a paper does not need."""

Change = Callable[[xr.Dataset], xr.Dataset]
EvidenceOf = Callable[[str], Evidence]


class ExhibitProtocol:
    """The exhibits of the module's `PAPER`; subclass with a name that begins with Test.

    - `slow`: ids of exhibits that take long.
    - `changes`: changes of a run, under some of which each thing that is seen must
      vanish.
    """

    slow: ClassVar[Collection[str]] = ()
    changes: ClassVar[tuple[Change, ...]] = ()

    @classmethod
    def parameters(cls, paper: Paper) -> list[Any]:
        """The exhibits, as parameters of a test."""
        return parameters(paper.exhibits, cls.slow)

    def changes_of(self, exhibit: Exhibit) -> Collection[Change]:
        """The changes for one exhibit."""
        return self.changes

    def test_what_must_be_seen_is_seen_and_can_be_missing(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """Each sentence is true, and false under one of the changes."""
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

    def test_drawn_with_names_on_every_axis(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """On a dark slide too."""
        with themed("dark"):
            figure = exhibit.draw(evidence_of(exhibit.id))
        shown = [a for a in figure.axes if a.axison and a.get_label() != "<colorbar>"]
        assert shown and all(ax.lines or ax.collections for ax in shown)
        names = [ax.get_xlabel() for ax in shown]
        assert any(names) or figure.get_supxlabel()

    def test_values_are_numbers_and_hold_what_is_printed(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """Most of them at least: a time that a seed never reached is none."""
        values = dict(leaves(plain(exhibit.values(evidence_of(exhibit.id)))))
        numbers = [value for value in values.values() if value is not None]
        assert all(isinstance(value, int | float) for value in numbers), values
        assert numbers and len(numbers) >= len(values) / 2
        printed = {path for path, _ in leaves(plain(exhibit.printed))}
        assert printed <= values.keys()

    def test_each_says_what_it_shows_and_what_the_paper_leaves_open(
        self, exhibit: Exhibit
    ) -> None:
        """A caption, and readings."""
        assert exhibit.caption and exhibit.silent

    def test_the_headline_is_one_of_them(self, request: pytest.FixtureRequest) -> None:
        """And each has an id of its own."""
        paper = request.module.PAPER
        ids = [exhibit.id for exhibit in paper.exhibits]
        assert paper.headline in ids and len(set(ids)) == len(ids)

    def test_settings_that_are_asked_for_exist(
        self, exhibit: Exhibit, request: pytest.FixtureRequest
    ) -> None:
        """Those of quick runs too."""
        for asked in exhibit.needs.values():
            recipe = request.module.PAPER.recipe(asked.experiment)
            recipe.with_overrides(asked.sized(quick=True).overrides)

    def test_listing_the_paper_draws_nothing(
        self, request: pytest.FixtureRequest
    ) -> None:
        """And trains nothing: in a process of its own, nothing heavy is imported."""
        code = (
            f"import sys, {module_of(request.module.PAPER.slug)}\n"
            f"print([name for name in {HEAVY} if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.stdout.strip() == "[]"

    def test_every_file_of_figures_is_used(
        self, request: pytest.FixtureRequest
    ) -> None:
        """None is left over that draws what nobody shows."""
        package = f"{module_of(request.module.PAPER.slug)}.figures"
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            pytest.skip("the figures are no folder of files")
        (folder,) = spec.submodule_search_locations
        files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
        used = {name.rpartition(".")[2] for name in sys.modules if package in name}
        assert files <= used
