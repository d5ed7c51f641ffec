"""The checks that every paper must pass: its claims, its exhibits and its texts.

`check_claim(claim, evidence)` is the heart of it, for evidence of any source.
"""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import (
    Circumstances,
    Claim,
    Judgement,
    Scope,
    Verdict,
    circumstances,
    declared_runs,
    judge,
    make_row,
)
from attnflow.claims.judgement import corrected_rule_of, rule_of
from attnflow.claims.trials import Trial, attempt, try_out
from attnflow.figures import themed
from attnflow.papers import module_of
from attnflow.papers.base import Paper
from attnflow.papers.inventory import Statement
from attnflow.runs.runner import Runner
from attnflow.runs.witnesses import witness_file
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import MissingData
from attnflow.schema.settings import plain
from attnflow.site.pages.claims import claim_views
from attnflow.site.pages.graph import draw_graph, drawn_statements
from attnflow.site.pages.inventory import statement_views
from attnflow.site.pages.values import JOIN, compare, leaves

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FIRST_PLANNED = 200
"""Seeds from here on decide; those below may be used while claims are written."""
HEAVY = ("jax", "matplotlib", "diffrax", "torch", "scipy.stats")
"""What takes long to import, and listing a paper does not need."""

Change = Callable[[xr.Dataset], xr.Dataset]
EvidenceOf = Callable[[str], Evidence]


def check_claim(claim: Claim, evidence: Evidence) -> None:
    """The recorded verdicts, which changes of the evidence can turn, and plain rows."""
    check_words(claim)
    before = {name: run.copy(deep=True) for name, run in evidence.items()}
    judgement = judge(claim, evidence)
    check_unchanged(before, evidence, f"the judge of {claim.id}")
    check_recorded(claim, judgement)
    row = make_row(claim, "any", judgement, Circumstances(Scope.BEYOND), seconds=0.0)
    json.dumps(row.as_json(), allow_nan=False)
    check_both_ways(claim, evidence)
    check_unchanged(before, evidence, f"a mutation of {claim.id}")


def check_recorded(claim: Claim, judgement: Judgement) -> None:
    """The verdicts on the printed statement and on its correction are the recorded."""
    decision = judgement.decision
    assert decision.verdict is claim.expected, (
        f"{claim.id} was recorded as {claim.expected} and is "
        f"{decision.verdict}: {decision.note}"
    )
    if claim.correction is not None:
        corrected = judgement.correction
        assert corrected is not None, f"The correction of {claim.id} was not judged."
        assert corrected.verdict is claim.correction.expected, (
            f"The correction of {claim.id} was recorded as "
            f"{claim.correction.expected} and is {corrected.verdict}: {corrected.note}"
        )


def check_both_ways(claim: Claim, evidence: Evidence) -> None:
    """Each statement that holds can fail, and each that fails can hold.

    The printed statement, and the corrected one where it holds.
    """
    rule = rule_of(claim)
    if claim.expected is Verdict.HOLDS:
        own = {
            name: attempt(claim.judge, rule, evidence, mutation)
            for name, mutation in claim.mutations.items()
        }
        fails = Verdict.FAILS in own.values()
        trial = try_out(claim.judge, rule, evidence, fails=fails)
        check_trial(claim, trial, own)
    elif claim.expected is Verdict.FAILS:
        assert claim.mends, f"{claim.id} fails, and no change is named that mends it."
        for name, mutation in claim.mends.items():
            verdict = attempt(claim.judge, rule, evidence, mutation)
            assert verdict is Verdict.HOLDS, (
                f"{claim.id} should hold after {name!r}, and is {verdict}."
            )
    correction = claim.correction
    if correction is not None and correction.expected is Verdict.HOLDS:
        rule = corrected_rule_of(claim)
        failing = try_out(correction.judge, rule, evidence).failing or [
            name
            for name, mutation in claim.mutations.items()
            if attempt(correction.judge, rule, evidence, mutation) is Verdict.FAILS
        ]
        assert failing, (
            f"The correction of {claim.id} holds, and under none of the generated "
            "changes, nor of the claim's own, does it fail: nothing shows that it "
            "could."
        )


def check_trial(claim: Claim, trial: Trial, own: Mapping[str, Verdict | None]) -> None:
    """A claim that holds: all that it reads matters, and it can fail.

    `own` has the verdicts under the claim's own mutations.
    """
    inert = [name for name in trial.inert if name not in claim.inert]
    assert not inert, (
        f"{claim.id} reads {inert}, and holds whatever they are. Read less, or say why "
        "in `inert`."
    )
    failing = list(trial.failing)
    for name, verdict in own.items():
        assert verdict is not Verdict.HOLDS, f"{claim.id} holds in spite of {name!r}."
        failing += [name] if verdict is Verdict.FAILS else []
    assert failing, (
        f"{claim.id} does not fail under any change of its runs: nothing shows that it "
        "could. Name a mutation that makes it fail, or give it a rule that can."
    )
    for name, verdict in trial.unknown.items():
        assert verdict is not Verdict.HOLDS or name in claim.survives, (
            f"{claim.id} holds on runs that are {name!r}. Where it speaks of no later "
            "time, say so in `survives`; else let what is unknown be NaN."
        )


def check_words(claim: Claim) -> None:
    """What a reader needs: a place, whole sentences, the predicate, the source."""
    for name in ("place", "statement", "system", "check", "source"):
        assert getattr(claim, name).strip(), f"{claim.id} has no {name}."
    assert claim.statement.rstrip().endswith("."), f"{claim.id}: a sentence, please."
    assert claim.needs, f"{claim.id} needs no run."


def check_witness(claim: Claim, paper: Paper) -> None:
    """A claim that fails or is corrected has a second program, or says why it has none.

    The program exists, and imports neither attnflow nor the paper's own package.
    """
    if claim.witness is None:
        assert claim.no_witness.strip() or not claim.needs_witness, (
            f"{claim.id} fails or is corrected, and one program alone says so: give it "
            "a witness, or say in `no_witness` why there is none."
        )
        return
    script = witness_file(paper, claim.witness)
    assert script.is_file(), f"The witness of {claim.id}, {script}, is not there."
    shared = {".", "attnflow", module_of(paper.slug).partition(".")[0]}
    imported = imported_packages(script.read_text("utf-8")) & shared
    assert not imported, (
        f"The witness of {claim.id}, {script.name}, imports {sorted(imported)}: it "
        "shares the code that it is to witness. Write its formulas out."
    )


def imported_packages(text: str) -> set[str]:
    """Names of the packages that a program imports; `.` for its own."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.level else (node.module or "").partition(".")[0])
    return names


def check_unchanged(before: Evidence, after: Evidence, who: str) -> None:
    """Evidence is shared between claims: nobody may write into it."""
    for name, run in after.items():
        assert run.identical(before[name]), f"{who} changed the run {name!r}."


def gather(
    runner: Runner, paper: Paper, needs: Mapping[str, Request]
) -> dict[str, xr.Dataset]:
    """The runs of a claim or an exhibit; a skip where a data set is not here."""
    try:
        return runner.gather(paper, needs)
    except MissingData as error:
        pytest.skip(str(error))


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
        check_claim(claim, gather(judging, request.module.PAPER, claim.needs))

    def test_a_claim_says_all_that_is_needed(self, claim: Claim, paper: Paper) -> None:
        """The paper's letter, items that exist, a witness that exists, settings."""
        assert claim.id.startswith(f"{paper.letter}-"), (
            f"{claim.id} is a claim of {paper.slug}: its id begins with "
            f"{paper.letter}-."
        )
        circumstances(claim, declared_runs(claim, paper), paper)
        check_witness(claim, paper)
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
    - `changes`: changes of a run, under some of which each sentence must become false.
    - `differ_in_full`: ids of exhibits in whose quick runs, which the tests make, some
      sentences come out that `differs` names.
    """

    slow: ClassVar[Collection[str]] = ()
    differ_in_full: ClassVar[Collection[str]] = ()
    changes: ClassVar[tuple[Change, ...]] = ()

    @classmethod
    def parameters(cls, paper: Paper, *, shown: bool = True) -> "list[ParameterSet]":
        """The exhibits, as parameters of a test that shows them, or only reads."""
        return parameters(paper.exhibits, cls.slow if shown else ())

    def changes_of(self, exhibit: Exhibit) -> Collection[Change]:
        """The changes for one exhibit."""
        return self.changes

    def test_sentences_are_as_recorded_and_can_be_false(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """True but for those that `differs` names, and false under some change."""
        evidence = evidence_of(exhibit.id)
        answers = all_sentences(exhibit, evidence)
        false = {text for text, answer in answers.items() if answer is not True}
        expected = exhibit.differs.keys() & answers.keys()
        if exhibit.id in self.differ_in_full:
            expected &= false
        assert false == expected, (
            f"{exhibit.id}: recorded as not coming out are {sorted(expected)}, and "
            f"{sorted(false)} do not."
        )
        for change in self.changes_of(exhibit):
            changed = {name: change(run) for name, run in evidence.items()}
            # A changed value, or its logarithm, may be NaN.
            with np.errstate(all="ignore"):
                after = all_sentences(exhibit, changed)
            assert after.keys() == answers.keys()
            false |= {text for text, answer in after.items() if not answer}
        never = answers.keys() - false
        assert not never, f"{exhibit.id}: no change makes {sorted(never)} false."

    def test_printed_numbers_agree_as_recorded(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """Within the tolerance, but for those that `differs` names."""
        display = exhibit.display(evidence_of(exhibit.id))
        compared = compare(
            display.values(),
            exhibit.printed,
            exhibit.tolerance,
            display.deviations(),
        )
        off = {row.name: row.deviation for row in compared if not row.agrees}
        expected = exhibit.differs.keys() & {row.name for row in compared}
        assert off.keys() == expected, f"{exhibit.id}: {off}, recorded: {expected}."

    def test_there_is_something_to_compare(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """A number, a sentence of the paper, or a check; and reasons of what exists."""
        evidence = evidence_of(exhibit.id)
        printed = {JOIN.join(path) for path, _ in leaves(plain(exhibit.printed))}
        names = printed | all_sentences(exhibit, evidence).keys()
        unknown = exhibit.differs.keys() - names
        assert names, f"{exhibit.id} has no number, no sentence and no check."
        assert not unknown, f"{exhibit.id} says why {sorted(unknown)} differ: of what?"

    def test_drawn_with_names_on_every_axis(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """On a dark slide too."""
        with themed("dark"):
            figure = exhibit.display(evidence_of(exhibit.id)).draw()
        shown = [a for a in figure.axes if a.axison and a.get_label() != "<colorbar>"]
        assert shown and all(ax.lines or ax.collections for ax in shown)
        names = [ax.get_xlabel() for ax in shown]
        assert any(names) or figure.get_supxlabel()

    def test_values_are_numbers_and_hold_what_is_printed(
        self, exhibit: Exhibit, evidence_of: EvidenceOf
    ) -> None:
        """Most of them at least: a time that a seed never reached is none."""
        display = exhibit.display(evidence_of(exhibit.id))
        values = dict(leaves(plain(display.values())))
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


def all_sentences(exhibit: Exhibit, evidence: Evidence) -> dict[str, bool]:
    """The paper's sentences on an exhibit, and ours."""
    display = exhibit.display(evidence)
    stated, ours = display.stated(), display.checks()
    for place, sentences in stated.items():
        assert place and sentences, f"{exhibit.id}: a place without a sentence."
    paper = {text: yes for part in stated.values() for text, yes in part.items()}
    both = paper.keys() & ours.keys()
    assert not both, f"{exhibit.id}: {sorted(both)} are the paper's, and ours."
    return {**paper, **ours}


def named(paper: Paper, what: str) -> set[str]:
    """The ids that statements name, as `claims`, `exhibits`, `covered_by` or `uses`."""
    return {id for entry in paper.statements for id in getattr(entry, what)}


class TextProtocol:
    """The texts of the module's `PAPER`; subclass with a name that begins with `Test`.

    `labels` are the paper's numbered figures, tables and statements, none of which the
    inventory may leave out.
    """

    labels: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls, paper: Paper) -> "list[ParameterSet]":
        """The statements of the inventory, as parameters of a test."""
        return [pytest.param(entry, id=entry.id) for entry in paper.statements]

    def test_nothing_numbered_is_left_out(self, paper: Paper) -> None:
        """And nothing is there twice, or under another kind."""
        names = [statement.id for statement in paper.statements]
        assert len(set(names)) == len(names)
        assert set(self.labels) <= set(names), set(self.labels) - set(names)
        for statement in paper.statements:
            if statement.id in self.labels:
                assert statement.id.lower().startswith(statement.kind)

    def test_an_entry_is_covered_or_says_why_not(self, entry: Statement) -> None:
        """By parts, a figure or table, a note, or words."""
        covering = (entry.parts, entry.exhibits, entry.covered_by, entry.about)
        assert any(covering), f"{entry.id} has no parts and no word why."

    def test_a_part_says_how_it_is_judged_or_why_not(self, entry: Statement) -> None:
        """With claims: how, and which part of it unless it is whole; else why not."""
        for part in entry.parts:
            name = f"{entry.id}, part {part.part!r},"
            if not part.claims:
                assert part.why and not part.how, f"{name} says not why it is open."
                continue
            assert part.how and not part.why, f"{name} says not how it is judged."
            assert part.how == "whole" or part.which, f"{name} says not which case."

    def test_entries_point_at_what_exists(self, paper: Paper) -> None:
        """Claims, exhibits, notes, and statements that proofs rest on."""
        exist = {
            "claims": {claim.id for claim in paper.claims},
            "exhibits": {exhibit.id for exhibit in paper.exhibits},
            "covered_by": {note.id for note in paper.notes},
            "uses": {statement.id for statement in paper.statements},
        }
        for what, ids in exist.items():
            unknown = named(paper, what) - ids
            assert not unknown, f"{what}: {sorted(unknown)} do not exist."

    def test_no_statement_rests_on_itself(self, entry: Statement) -> None:
        """Nor names what its proof rests on twice."""
        assert entry.id not in entry.uses
        assert len(set(entry.uses)) == len(entry.uses), entry.id

    def test_claims_of_the_paper_judge_a_part(self, paper: Paper) -> None:
        """Or are shown by a note; claims of ours may go beyond what the paper says."""
        stated = {claim.id for claim in paper.claims if claim.origin == "paper"}
        shown = {note.shown_by for note in paper.notes}
        idle = stated - named(paper, "claims") - shown
        assert not idle, f"{sorted(idle)} judge no part of the inventory."

    def test_the_page_can_show_the_inventory(self, paper: Paper) -> None:
        """A view of each statement, and the graph of all."""
        views = statement_views(paper, claim_views(paper, ()))
        assert len(views) == len(paper.statements)
        linked, _ = drawn_statements(views)
        graph = draw_graph(views, paper.title)
        assert all(f'href="#{views[id].anchor}"' in graph for id in linked)

    def test_notes_say_what_is_printed_and_what_shows_it(self, paper: Paper) -> None:
        """Each under an id of its own, shown by reading or by a claim that exists."""
        claims = {claim.id for claim in paper.claims}
        assert len({note.id for note in paper.notes}) == len(paper.notes)
        for note in paper.notes:
            assert re.fullmatch(rf"{paper.letter}-N\d+[a-z]?", note.id), note.id
            assert note.shown_by == "text" or note.shown_by in claims, note.id
            assert note.place and note.printed and note.ours, note.id

    def test_replies_are_about_notes_and_claims(self, paper: Paper) -> None:
        """Of this paper."""
        known = {entry.id for entry in (*paper.notes, *paper.claims)}
        for reply in paper.replies:
            assert set(reply.about) <= known, reply

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
