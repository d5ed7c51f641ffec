"""Figures 14 and 15 on synthetic runs."""

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd import PAPER, stages
from attnflow.papers.signgd.deep_runs import PLAIN, models, name_of
from attnflow.papers.signgd.deep_settings import READINGS, Stacked
from attnflow.papers.signgd.figures.deep_courses import HALTS, numbers
from attnflow.papers.signgd.figures.sign_tables import shrink
from attnflow.testing import all_sentences
from tests.papers.signgd.courses import course

END = 200.0
LAYERS = ["1", "2"]


def stack(*, halts):
    """The known course as a first layer, whose gradients may end at a step."""
    run = course()
    time = run["time"].values
    zero = np.where(halts & (time >= END), 1.0, 0.4)
    size = -5.0 - time / 10
    series = {
        name: (("seed", "time", "layer"), np.stack([row, row], axis=-1)[None])
        for name, row in (("zero_signs", zero), ("log_mean_query_gradient", size))
    }
    layers = xr.concat([run["attention"], run["attention"] * 0.5], "layer")
    return run.assign(attention=layers, **series).assign_coords(layer=LAYERS)


@pytest.fixture(scope="module")
def evidence():
    """Plain runs halt, and all others have the four stages."""
    return {
        name_of(model, way): stack(halts=way == PLAIN)
        for model in models(residual=True)
        for way in (*READINGS, PLAIN)
    }


def test_numbers_of_a_known_course():
    halted, goes_on = (numbers(stack(halts=halts)) for halts in (True, False))
    # At t = 20 keys of sample 0 have crossed zero in every neuron.
    assert goes_on["pairs of one sign at t = 20"] == 1
    assert goes_on["signals by vote, most"] == 1
    assert goes_on["outvoted queries that turn, most"] == 1
    assert goes_on["mean |update| / η at the end"] == pytest.approx(1)
    assert halted["mean |update| / η at the end"] == 0
    assert halted["share of zero signs at the end"] == 1
    # Where no gradient is left, its size is not drawn.
    last = stack(halts=True)["time"].values
    least = -5 - last[last < END].max() / 10
    assert halted["log10 mean |gradient| of queries, least"] == pytest.approx(least)


def test_the_first_layer_is_looked_at():
    first = stages.first_layer(stack(halts=False))
    assert first.attrs == course().attrs
    xr.testing.assert_equal(first["attention"], course()["attention"])


def test_what_is_seen(evidence):
    exhibit = PAPER.exhibit("figure14")
    assert exhibit.needs.keys() == evidence.keys()
    sentences = all_sentences(exhibit, evidence)
    # `full` and `damped` are made to have stage III for good, which they have not, and
    # an MLP to change nothing.
    assert [text for text, answer in sentences.items() if not answer] == [
        HALTS,
        *(text for text in sentences if text.startswith("`full` and `damped`")),
    ]


@pytest.mark.slow
def test_drawn(evidence):
    assert len(PAPER.exhibit("figure14").display(evidence).draw().axes) == 7 * 4


def test_what_both_figures_say_of_their_readings():
    for id in ("figure14", "figure15"):
        exhibit = PAPER.exhibit(id)
        for reading in READINGS:
            assert any(f"`{reading}`" in text for text in exhibit.silent)
        for request in exhibit.needs.values():
            Stacked(**request.sized(quick=True).overrides)


def test_smaller_tables_are_compared_by_shares():
    """Forty pairs, of 2000 that are printed."""
    assert shrink(course()) == 0.02
