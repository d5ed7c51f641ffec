"""Every exhibit of every paper is drawn, tabulated and judged, on untrained runs.

A name that a run does not have, or a panel that cannot be drawn, is seen here; what is
true of the runs themselves is for the tests of each paper, most of which are slow.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnflow.figures import themed
from attnflow.papers import SLUGS, paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import Request
from attnflow.schema.settings import plain, seed_numbers
from attnflow.testing.protocols import gather
from tests.papers.untrained import nothing_trains

pytestmark = pytest.mark.filterwarnings("ignore")

EXHIBITS = [(slug, exhibit) for slug in SLUGS for exhibit in paper(slug).exhibits]
SMALL = {
    "vit/map": {"samples": (6, 8), "snr_count": 4, "embed": 64}
    | {"key_width": 32, "value_width": 32},
    "signgd/stack": {"embed": 200, "test_samples": 5},
}
"""Smaller settings than those of quick runs, whose data and weights take longest."""
SEEDS = {"mixture/three-stage": 2}
"""Seeds where one does not do: a deviation over seeds is fitted."""


def small(slug: str, request: Request) -> Request:
    """The quick run, with as few seeds as will do."""
    quick, name = request.sized(quick=True), f"{slug}/{request.experiment}"
    seeds = seed_numbers(quick.seeds)
    overrides = {**quick.overrides, **SMALL.get(name, {})}
    return Request(quick.experiment, overrides, seeds[: SEEDS.get(name, 1)])


@pytest.fixture(scope="module")
def runner():
    """Each run once, in memory."""
    return Runner(store=False)


@pytest.mark.parametrize(
    ("slug", "exhibit"), EXHIBITS, ids=[f"{slug}/{e.id}" for slug, e in EXHIBITS]
)
def test_it_is_drawn_tabulated_and_judged(slug, exhibit, runner):
    needs = {name: small(slug, each) for name, each in exhibit.needs.items()}
    with nothing_trains(), np.errstate(all="ignore"):
        evidence = gather(runner, paper(slug), needs)
        display = exhibit.display(evidence)
        stated, checks = display.stated(), display.checks()
        json.dumps(plain(display.values()))
        display.deviations()
        with themed("light"):
            figure = display.draw()
    try:
        assert any(ax.lines or ax.collections or ax.images for ax in figure.axes)
    finally:
        plt.close(figure)
    answers = [yes for part in (*stated.values(), checks) for yes in part.values()]
    assert all(isinstance(answer, bool | np.bool) for answer in answers)
    assert answers or exhibit.printed
