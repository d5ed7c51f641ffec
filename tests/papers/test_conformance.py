"""What every paper of the registry must pass, whoever wrote it."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from attnflow.claims import Witness
from attnflow.papers import SLUGS, papers
from attnflow.testing import ExhibitProtocol, TextProtocol, protocols
from attnflow.testing.protocols import AbstractClaimProtocol, check_witness
from tests.claims.toy import corrected_claim, make_claim, make_paper

IDS = Path(__file__).with_name("claim_ids.txt")
"""Every id that a claim ever had. Others cite them: lines are added, never removed."""


def known_ids() -> list[str]:
    return IDS.read_text("utf-8").split()


@pytest.fixture(scope="module")
def registry():
    return papers()


def test_inventories_are_whole(registry):
    texts = TextProtocol()
    for paper in registry.values():
        assert paper.statements
        texts.test_entries_point_at_what_exists(paper)
        for statement in paper.statements:
            texts.test_an_entry_is_covered_or_says_why_not(statement)
            texts.test_a_part_says_how_it_is_judged_or_why_not(statement)


def test_ids_are_unique_over_all_papers(registry):
    ids = Counter(c.id for paper in registry.values() for c in paper.claims)
    assert [id for id, count in ids.items() if count > 1] == []
    for paper in registry.values():
        assert all(c.id.startswith(f"{paper.letter}-") for c in paper.claims)


def test_what_goes_against_a_statement_has_a_second_program(registry):
    """Or says why there is none; so also in papers of others."""
    for paper in registry.values():
        for claim in paper.claims:
            check_witness(claim, paper)


@pytest.fixture
def with_script(tmp_path, monkeypatch):
    """The toy paper's witness, with this text."""
    file = tmp_path / "time.py"
    monkeypatch.setattr(protocols, "witness_file", lambda paper, witness: file)
    return file.write_text


def test_one_program_is_not_enough_against_a_statement():
    paper, claim = make_paper(), corrected_claim()
    with pytest.raises(AssertionError, match="one program alone says so"):
        check_witness(claim, paper)
    check_witness(replace(claim, no_witness="a week of training"), paper)
    check_witness(make_claim(), paper)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("import numpy as np", ""),
        ("from attnflow.claims import Claim", "attnflow"),
        ("from .formulas import time", "'.'"),
    ],
)
def test_a_witness_shares_no_code(with_script, text, shared):
    with_script(text)
    witness = Witness("witnesses/time.py", {"time": ("time",)})
    claim = replace(corrected_claim(), witness=witness)
    if not shared:
        check_witness(claim, make_paper())
        return
    with pytest.raises(AssertionError, match=f"imports .*{re.escape(shared)}"):
        check_witness(claim, make_paper())


def test_a_claim_has_a_witness_or_a_reason_not_both():
    witness = Witness("witnesses/time.py", {})
    with pytest.raises(ValueError, match="leave no_witness out"):
        make_claim(witness=witness, no_witness="a week of training")


RENAMED = {
    "E-Ass2": ("E-R-room",),
    "E-CTgrow": ("E-R-CTgrow",),
    "E-Lem10-12": ("E-Lem10", "E-Lem11", "E-Lem12"),
}
"""Ids of version 1 that became others: ours are told by R-, and lemmas apart."""


def test_ids_are_stable(registry):
    """A claim that is new adds a line to the list; one that is gone is a mistake."""
    ours = {claim.id for slug in SLUGS for claim in registry[slug].claims}
    assert {new for ids in RENAMED.values() for new in ids} <= ours
    known = [id for id in known_ids() if id not in RENAMED]
    assert known == sorted(set(known))
    assert set(known) - ours == set(), "these were cited by somebody: keep them"
    assert ours - set(known) == set(), f"add these to {IDS.name}"


@pytest.mark.parametrize("slug", SLUGS)
def test_every_paper_of_ours_is_held_to_the_protocols(slug):
    """So that each predicate is run on its mutated runs, in which it must fail.

    Read from the texts: importing the tests of all papers takes half a minute.
    """
    files = (IDS.parent / slug).glob("test_*.py")
    texts = [file.read_text("utf-8") for file in files]
    held = {
        base for text in texts for base in re.findall(r"class Test\w+\((\w+)", text)
    }
    for protocol in (AbstractClaimProtocol, ExhibitProtocol, TextProtocol):
        names = {protocol.__name__, *(c.__name__ for c in protocol.__subclasses__())}
        assert held & names, protocol.__name__
