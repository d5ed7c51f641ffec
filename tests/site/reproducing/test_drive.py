"""Figures and tables made by processes, and when they are made again."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from attnflow.runs.processes import Here, Pool
from attnflow.runs.store import Store
from attnflow.schema.declarations import Request
from attnflow.site.reproducing import Wanted, reproduce_exhibits, up_to_date
from attnflow.site.reproducing.identity import exhibit_key, requests_of
from tests import toy as toys


def wanted(directory, paper=None):
    paper = paper or toys.toy_paper()
    return [Wanted(paper, exhibit, directory) for exhibit in paper.exhibits]


def bare(results):
    """Results but for times and folders."""
    return [
        replace(r, seconds=0.0, files=[Path(f).name for f in r.files]) for r in results
    ]


def test_processes_make_what_this_process_makes(toy, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for place in (here, there):
        place.mkdir()
    alone = reproduce_exhibits(wanted(here), Here(), store=Store(here / "store"))
    with closing(Pool(1, prepare=toys.install)) as team:
        shared = reproduce_exhibits(wanted(there), team, store=Store(there / "store"))
    assert bare(shared) == bare(alone)
    assert (here / "figure1.svg").read_bytes() == (there / "figure1.svg").read_bytes()


def test_what_is_there_needs_nobody(toy, tmp_path):
    first = reproduce_exhibits(wanted(tmp_path), Here())
    calls = len(toy.calls)

    class Nobody:
        def run(self, work, waiting, pick):
            assert waiting == []
            return iter(())

    again = reproduce_exhibits(wanted(tmp_path), Nobody())
    assert [r.key for r in again] == [r.key for r in first] != [""]
    assert len(toy.calls) == calls


def test_smaller_runs_are_not_what_was_asked_for(toy, tmp_path):
    (item,) = wanted(tmp_path)
    reproduce_exhibits([item], Here(), quick=True)
    assert up_to_date(item, quick=True) is not None
    assert up_to_date(item, quick=False) is None


def test_progress_counts_exhibits(toy, tmp_path):
    told = []
    reproduce_exhibits(
        wanted(tmp_path), Here(), progress=lambda share, text: told.append(text)
    )
    assert (told[0], told[-1]) == ("0 of 1 exhibits", "1 of 1 exhibits")


@pytest.mark.parametrize(
    "needs",
    [
        {"main": Request("flow", {"width": 8})},
        {"main": Request("flow", seeds=3)},
        {"other": Request("flow")},
    ],
)
def test_what_an_exhibit_hangs_on(toy, needs):
    paper = toys.toy_paper()
    (exhibit,) = paper.exhibits
    other = replace(exhibit, needs=needs)
    key = exhibit_key(paper, exhibit, quick=False)
    assert key == exhibit_key(paper, replace(exhibit, title="x"), quick=False)
    assert key != exhibit_key(paper, other, quick=False)


def test_quick_settings_go_on_top():
    request = Request("flow", {"width": 8, "ends": "diverged"}, quick={"width": 2})
    exhibit = replace(toys.toy_paper().exhibits[0], needs={"main": request})
    assert requests_of(exhibit, quick=True)["main"].overrides["width"] == 2
    assert requests_of(exhibit, quick=False)["main"].overrides["width"] == 8
