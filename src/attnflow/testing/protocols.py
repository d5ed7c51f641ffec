"""The checks that every paper must pass: its claims, its exhibits and its texts.

`check_claim(claim, evidence)` is the heart of it, for evidence of any source.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import Claim, Verdict, judge, make_row, must_fail
from attnflow.figures import themed
from attnflow.papers import module_of
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.plain_values import plain
from attnflow.site.pages.inventory import COVERING, SAYING, inventory_rows
from attnflow.site.pages.values import leaves

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FIRST_PLANNED = 200
"""Seeds from here on decide; those below may be used while claims are written."""
HEAVY = ("jax", "matplotlib", "diffrax", "torch", "scipy.stats")
"""What takes long to import, and listing a paper does not need."""

Change = Callable[[xr.Dataset], xr.Dataset]
Entry = Mapping[str, Any]
"""A table of `inventory.toml`: texts, and lists of ids."""
EvidenceOf = Callable[[str], Evidence]


def check_claim(claim: Claim, evidence: Evidence) -> None:
    """The recorded verdict, mutations that break it, and rows that are plain."""
    check_words(claim)
    before = {name: run.copy(deep=True) for name, run in evidence.items()}
    judgement = judge(claim, evidence)
    check_unchanged(before, evidence, f"the judge of {claim.id}")
    decision, row = judgement.decision, make_row(claim, "any", judgement, seconds=0.0)
    assert decision.verdict == claim.expected, (
        f"{claim.id} was recorded as {claim.expected} and is "
        f"{decision.verdict}: {decision.note}"
    )
    json.dumps(row.as_json(), allow_nan=False)
    survived = must_fail(claim, evidence)
    assert not survived, f"{claim.id} holds in spite of: {'; '.join(survived)}."
    check_unchanged(before, evidence, f"a mutation of {claim.id}")


def check_words(claim: Claim) -> None:
    """What a reader needs: a place, whole sentences, the predicate, the source."""
    for name in ("place", "statement", "system", "predicate", "source"):
        assert getattr(claim, name).strip(), f"{claim.id} has no {name}."
    assert claim.statement.rstrip().endswith("."), f"{claim.id}: a sentence, please."
    assert claim.needs, f"{claim.id} needs no run."


def check_unchanged(before: Evidence, after: Evidence, who: str) -> None:
    """Evidence is shared between claims: nobody may write into it."""
    for name, run in after.items():
        assert run.identical(before[name]), f"{who} changed the run {name!r}."


class AbstractClaimProtocol:
    """The claims of the module's `PAPER`; `slow` are ids of those that take long."""

    slow: ClassVar[Collection[str]] = ()
    seeds_may_be_open: ClassVar[bool]

    @classmethod
    def parameters(cls, paper: Paper, *, judged: bool) -> "list[ParameterSet]":
        """The claims, as parameters of a test that judges them, or only reads."""
        if not judged:
            return parameters(paper.claims, ())
        return parameters(paper.claims, cls.slow, pytest.mark.paper)

    def test_claim(
        self, claim: Claim, judging: Runner, request: pytest.FixtureRequest
    ) -> None:
        """As recorded, and broken by each mutation."""
        check_claim(claim, judging.gather(request.module.PAPER, claim.needs))

    def test_a_claim_says_all_that_is_needed(self, claim: Claim, paper: Paper) -> None:
        """Conditions, mutations, a correction where one is recorded, settings."""
        assert claim.id.startswith(f"{paper.letter}-")
        assert claim.conditions != "none"
        assert len(claim.mutations) >= 2
        corrected = claim.expected is Verdict.HOLDS_CORRECTED
        assert corrected == (claim.correction is not None)
        for needed in claim.needs.values():
            paper.recipe(needed.experiment).with_overrides(needed.overrides)
            self.check_seeds(claim, needed)

    def check_seeds(self, claim: Claim, request: Request) -> None:
        """Planned seeds are others than those on which tolerances were set.

        The numbers alone prove nothing about who has seen the runs.
        """
        if isinstance(request.seeds, tuple):
            assert min(request.seeds) >= FIRST_PLANNED, claim.id
        else:
            assert self.seeds_may_be_open, claim.id

    def test_ids_are_unique(self, paper: Paper) -> None:
        """Each claim has an id of its own, and headlines are claims."""
        ids = [claim.id for claim in paper.claims]
        assert len(set(ids)) == len(ids)
        assert set(paper.headline_claims) <= set(ids)


class ClaimProtocol(AbstractClaimProtocol):
    """Claims with planned seeds; subclass with a name that begins with `Test`."""

    seeds_may_be_open = False


class OpenSeeds(AbstractClaimProtocol):
    """Claims some of which leave to the reader how many seeds are enough."""

    seeds_may_be_open = True


class ExhibitProtocol:
    """The exhibits of the module's `PAPER`; subclass with a name that begins with Test.

    - `slow`: ids of exhibits that take long.
    - `changes`: changes of a run, under some of which each thing that is seen must
      vanish.
    """

    slow: ClassVar[Collection[str]] = ()
    changes: ClassVar[tuple[Change, ...]] = ()

    @classmethod
    def parameters(cls, paper: Paper) -> "list[ParameterSet]":
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
            # A changed value, and its logarithm, may be no number any more.
            with np.errstate(all="ignore"):
                answers = exhibit.seen(changed)
            assert answers.keys() == seen.keys()
            missing |= {text for text, answer in answers.items() if not answer}
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

    def test_the_headline_is_one_of_them(self, paper: Paper) -> None:
        """And each has an id of its own."""
        ids = [exhibit.id for exhibit in paper.exhibits]
        assert paper.headline in ids and len(set(ids)) == len(ids)

    def test_requested_settings_exist(self, exhibit: Exhibit, paper: Paper) -> None:
        """Those of quick runs too."""
        for needed in exhibit.needs.values():
            recipe = paper.recipe(needed.experiment)
            recipe.with_overrides(needed.sized(quick=True).overrides)

    def test_listing_the_paper_draws_nothing(self, paper: Paper) -> None:
        """And trains nothing: in a process of its own, nothing heavy is imported."""
        code = (
            f"import sys, {module_of(paper.slug)}\n"
            f"print([name for name in {HEAVY} if name in sys.modules])"
        )
        process = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert process.stdout.strip() == "[]"

    def test_every_file_of_figures_is_used(self, paper: Paper) -> None:
        """None is left over that draws what nobody shows."""
        package = f"{module_of(paper.slug)}.figures"
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            pytest.skip("the figures are no folder of files")
        (folder,) = spec.submodule_search_locations
        files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
        used = {name.rpartition(".")[2] for name in sys.modules if package in name}
        assert files <= used


def entries(paper: Paper) -> list[tuple[str, Entry]]:
    """The kind and the table of every entry of a paper's inventory."""
    return [(kind, entry) for kind, rows in paper.inventory.items() for entry in rows]


def named(paper: Paper, what: str) -> set[str]:
    """The ids that the inventory of a paper gives, of `claims` or `exhibits`."""
    return {id for _, entry in entries(paper) for id in entry.get(what, ())}


class TextProtocol:
    """The texts of the module's `PAPER`; subclass with a name that begins with `Test`.

    `labels` are the paper's numbered figures, tables and statements, none of which the
    inventory may leave out.
    """

    labels: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls, paper: Paper) -> "list[ParameterSet]":
        """The entries of the inventory, as parameters of a test."""
        return [pytest.param(entry, id=entry["id"]) for _, entry in entries(paper)]

    def test_nothing_numbered_is_left_out(self, paper: Paper) -> None:
        """And nothing is there twice, or under another kind."""
        inventory = entries(paper)
        names = [entry["id"] for _, entry in inventory]
        assert len(set(names)) == len(names)
        assert set(self.labels) <= set(names), set(self.labels) - set(names)
        for kind, entry in inventory:
            if entry["id"] in self.labels:
                assert entry["id"].lower().startswith(kind)

    def test_an_entry_is_covered_or_says_why_not(self, entry: Entry) -> None:
        """By a claim, a figure or table, a note, or words."""
        covered = any(entry.get(what) for what in COVERING)
        assert covered or any(entry.get(word) for word in SAYING)

    def test_entries_point_at_what_exists(self, paper: Paper) -> None:
        """Claims, exhibits and notes."""
        assert named(paper, "claims") <= {claim.id for claim in paper.claims}
        assert named(paper, "exhibits") <= {exhibit.id for exhibit in paper.exhibits}
        assert named(paper, "covered_by") <= {note.id for note in paper.notes}

    def test_claims_of_the_paper_cover_something(self, paper: Paper) -> None:
        """Claims of ours may go beyond what the paper says."""
        stated = {claim.id for claim in paper.claims if claim.origin == "paper"}
        shown = {note.shown_by for note in paper.notes}
        assert stated <= named(paper, "claims") | shown

    def test_the_page_can_show_the_inventory(self, paper: Paper) -> None:
        """A row for each entry."""
        assert len(inventory_rows(paper)) == len(entries(paper))

    def test_notes_say_what_is_printed_and_what_shows_it(self, paper: Paper) -> None:
        """Each under an id of its own, shown by reading or by a claim that exists."""
        claims = {claim.id for claim in paper.claims}
        assert len({note.id for note in paper.notes}) == len(paper.notes)
        for note in paper.notes:
            assert re.fullmatch(rf"{paper.letter}-N\d+[a-z]?", note.id), note.id
            assert note.shown_by == "text" or note.shown_by in claims, note.id
            assert note.place and note.printed and note.ours, note.id

    def test_the_paper_is_described(self, paper: Paper) -> None:
        """Title, version, what it is about, and how to cite it."""
        assert paper.title and paper.version_read and paper.summary.endswith(".")
        assert re.match(r"\s*@\w+\{\S+,", paper.bibtex)


class Identified(Protocol):
    """A claim or an exhibit."""

    @property
    def id(self) -> str: ...  # noqa: D102


def parameters(
    items: Collection[Identified], slow: Collection[str], *marks: pytest.MarkDecorator
) -> "list[ParameterSet]":
    """A parameter of a test for each item; those whose ids are `slow` are marked so."""
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
