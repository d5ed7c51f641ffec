"""The maps of all papers: what they ask for exists, and what they show is drawn."""

import numpy as np
import pytest

from attnflow.figures import themed
from attnflow.papers import papers
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.schema.installation import MissingData
from attnflow.schema.settings import plain
from attnflow.site.pages.values import leaves
from attnflow.site.reproduce import Drawing
from attnflow.sweeps.sweep import plan_sweep

MAPS = [(paper, map) for paper in papers().values() for map in paper.maps]
NAMES = [f"{paper.slug}/{map.id}" for paper, map in MAPS]
MOST_CELLS = 4096
"""Of a whole grid; more take longer than a user waits."""


def test_every_paper_has_a_map_and_no_two_exhibits_one_name():
    for paper in papers().values():
        ids = [exhibit.id for exhibit in paper.shown]
        assert paper.maps and len(set(ids)) == len(ids)


@pytest.mark.parametrize(("paper", "map"), MAPS, ids=NAMES)
def test_what_is_asked_for_exists_and_quick_ones_are_smaller(paper, map):
    assert map.caption and map.silent and not map.needs
    for request in map.sweeps.values():
        cells = {}
        for quick in (False, True):
            made = plan_sweep(
                f"{paper.slug}/{request.experiment}",
                request.sized(quick=quick).settings,
                zip=request.zip,
                seeds=request.sized(quick=quick).seeds,
                measure=request.measure,
            )
            cells[quick] = int(np.prod(made.shape))
        assert cells[True] < cells[False] <= MOST_CELLS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("paper", "map"), MAPS, ids=NAMES)
def test_a_quick_map_is_drawn_with_its_numbers(paper, map, tmp_path):
    runner = Runner(Store(tmp_path), quick=True)
    evidence = Drawing(paper, map, tmp_path, quick=True).evidence(runner)
    for found in evidence.values():
        errors = found["error"].values.ravel().tolist()
        if errors[0].startswith(MissingData.__name__):
            pytest.skip(errors[0])
        assert not any(errors), errors
    with themed("dark"):
        figure = map.draw(evidence)
    shown = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert all(ax.collections and ax.get_xlabel() for ax in shown)
    values = dict(leaves(plain(map.values(evidence))))
    computed = sum(found.attrs["cells_computed"] for found in evidence.values())
    assert values["cost", "cells computed"] == computed > 0
    # What did not happen at small sizes is none; most is there.
    known = [value for value in values.values() if value is not None]
    assert all(isinstance(value, int | float) for value in known)
    assert len(known) >= len(values) / 2
    assert set(map.printed) <= set(map.values(evidence))
    assert all(isinstance(answer, bool) for answer in map.checks(evidence).values())
