"""Figures and tables made by processes, and when they are made again."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from attnflow.runs.pool import Here, Pool
from attnflow.runs.store import Store
from attnflow.schema.declarations import Request
from attnflow.site.reproduce import Drawing, draw_exhibits
from tests import toy as toys


def drawings(directory, *, quick=False):
    """Two exhibits, so that they are shared out to a pool."""
    paper = toys.toy_paper()
    (one,) = paper.exhibits
    paper = replace(paper, exhibits=(one, replace(one, id="figure2")))
    toys.install(paper=paper)
    return [Drawing(paper, exhibit, directory, quick) for exhibit in paper.exhibits]


def bare(results):
    """Results but for times and folders."""
    return [
        replace(r, seconds=0.0, files=[Path(f).name for f in r.files]) for r in results
    ]


def install_two():
    drawings(Path())


def test_processes_draw_what_this_process_draws(toy, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    alone = draw_exhibits(drawings(here), pool=Here(), store=Store(here / "store"))
    with closing(Pool(1, prepare=install_two)) as pool:
        shared = draw_exhibits(drawings(there), pool=pool, store=Store(there / "store"))
    assert bare(shared) == bare(alone)
    assert (here / "figure1.svg").read_bytes() == (there / "figure1.svg").read_bytes()


def test_what_is_drawn_already_needs_nobody(toy, tmp_path):
    first = draw_exhibits(drawings(tmp_path), pool=Here())

    class Nobody:
        def run(self, work, waiting, pick):
            raise AssertionError("nothing is left to draw")

    again = draw_exhibits(drawings(tmp_path), pool=Nobody())
    assert [r.key for r in again] == [r.key for r in first] != ["", ""]


def test_smaller_runs_are_not_the_papers_own(toy, tmp_path):
    draw_exhibits(drawings(tmp_path, quick=True), pool=Here())
    assert all(drawing.earlier() for drawing in drawings(tmp_path, quick=True))
    assert not any(drawing.earlier() for drawing in drawings(tmp_path))


def test_progress_counts_exhibits(toy, tmp_path):
    texts = []
    draw_exhibits(
        drawings(tmp_path), pool=Here(), progress=lambda share, text: texts.append(text)
    )
    assert (texts[0], texts[-1]) == ("0 of 2 exhibits", "2 of 2 exhibits")


@pytest.mark.parametrize(
    "changes",
    [
        {"needs": {"main": Request("flow", {"width": 8})}},
        {"needs": {"main": Request("flow", seeds=3)}},
        {"needs": {"other": Request("flow")}},
        {"printed": {"loss": 0.2}},
        {"draw": toys.stage_table},
    ],
)
def test_what_the_key_of_an_exhibit_depends_on(toy, changes):
    drawing = drawings(Path())[0]

    def key(**fields):
        return replace(drawing, exhibit=replace(drawing.exhibit, **fields)).key

    assert drawing.key == key(title="x", caption="y", silent=("z",))
    assert drawing.key != key(**changes)


def test_quick_settings_go_on_top():
    request = Request("flow", {"width": 8, "ends": "diverged"}, quick={"width": 2})
    exhibit = replace(toys.toy_paper().exhibits[0], needs={"main": request})
    for quick, width in ((True, 2), (False, 8)):
        drawing = Drawing(toys.toy_paper(), exhibit, Path(), quick)
        assert drawing.requests["main"].overrides["width"] == width
