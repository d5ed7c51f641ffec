"""Declared maps: their numbers and pictures, from sweeps that are known."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.figures import themed
from attnflow.figures.swept import Curve, Level, Map, boundary, share_on_side
from attnflow.site.pages import make_exhibit
from tests.figures.swept.synthetic import COUNTS, RATIOS, hyperbola, swept
from tests.site.pages.papers import paper

CURVE = Curve(
    "$N x^2 = 1000$", lambda x, n: np.log(1000.0) - np.log(np.asarray(n) * x**2)
)


def losses(evidence):
    return evidence["map"]["loss"]


MAP = Map(
    id="phases",
    title="A map",
    caption="Where it is 1.",
    sweeps={},
    table=losses,
    label="loss",
    names={"snr": "SNR", "samples": "$N$"},
    checks=lambda evidence: {"the loss falls": True},
    curves=lambda evidence, panel: (CURVE,),
    level=Level(1.0, power=2.0, scale="log"),
    limits=(0.0, 3.0),
)


@pytest.fixture
def evidence():
    return {"map": hyperbola()}


def test_the_law_of_the_boundary_is_found(evidence):
    values = MAP.exhibit().values(evidence)
    law = values["boundary"]
    # Interpolation of logarithms in steps of 1 at 7 or more: within (1/7)²/8.
    assert law["exponent"] == pytest.approx(-0.5, abs=5e-3)
    assert law["constant"] == pytest.approx(1000.0, rel=5e-3)
    assert law["rows that cross"] == len(COUNTS)
    low, high = law["constant, 95% over seeds"].values()
    assert low < law["constant"] < high
    assert values["cost"]["CPU seconds"] == 12.5 and values["cost"]["seeds"] == 3
    (side,) = (v for k, v in values.items() if k.startswith("cells on their side"))
    assert side == 1.0


def test_cells_on_the_other_side_are_counted(evidence):
    steeper = Curve("twice as far", lambda x, n: np.log(4000.0 / (n * x**2)))
    table = losses(evidence)
    control = COUNTS[:, None] * RATIOS**2
    wrong = (control >= 1000) & (control < 4000)
    assert share_on_side(MAP.level, table, steeper) == pytest.approx(1 - wrong.mean())


def test_cells_that_were_not_computed_are_filled_for_the_law_alone(evidence):
    table = losses(evidence).copy()
    control = COUNTS[:, None] * RATIOS**2
    table.values[(control < 500) | (control > 2000)] = np.nan
    fit = boundary(MAP.level, table)
    np.testing.assert_allclose(fit.places, boundary(MAP.level, losses(evidence)).places)
    figure = MAP.exhibit().draw({"map": evidence["map"].assign(loss=table)})
    ground, cells = figure.axes[0].collections[:2]
    assert not np.ma.getmaskarray(ground.get_array()).any()
    assert np.ma.getmaskarray(cells.get_array()).sum() == np.isnan(table[..., 0]).sum()
    assert len(np.unique(ground.get_array())) == 2


def test_the_curve_the_boundary_and_names_are_drawn(evidence):
    with themed("dark"):
        figure = MAP.exhibit().draw(evidence)
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("SNR", "$N$")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[0] == CURVE.label and texts[1] == "boundary"
    assert texts[2].startswith("exponent −0.49")
    (contour,) = [c for c in ax.collections if hasattr(c, "levels")]
    (path,) = contour.get_paths()
    x, n = path.vertices.T
    np.testing.assert_allclose(n * x**2, 1000.0, rtol=1e-3)


def test_small_multiples_share_their_colours():
    coords = {"a": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 3.0], "K": [2, 3]}
    values = np.arange(54.0).reshape(3, 3, 2, 3)
    plain = replace(
        MAP, over="K", curves=lambda e, K: (), level=None, limits=None, names={}
    )
    evidence = {"map": swept({"loss": values}, coords)}
    figure = plain.exhibit().draw(evidence)
    maps = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert len(maps) == 2
    assert len({ax.collections[0].get_clim() for ax in maps}) == 1
    assert not figure.legends
    assert set(plain.exhibit().values(evidence)) == {"cost", "K = 2", "K = 3"}


def test_verdicts_are_drawn_and_held_against_a_condition():
    coords = {"strength": [0.1, 1.0, 10.0], "ratio": [1.0, 2.0, 4.0]}
    labels = np.array(
        [["holds"] * 3, ["holds", "", "inconclusive"], ["inconclusive"] * 3], object
    )
    sweep = swept({}, coords).assign(verdict=(tuple(coords), labels))
    condition = Curve("strength = 0.5", lambda x, y: np.log(0.5 / y) + 0 * x)
    valid = replace(
        MAP,
        table=lambda evidence: evidence["map"]["verdict"],
        curves=lambda evidence, panel: (condition,),
        level=None,
    )
    # Of eight cells with a verdict one holds beyond the condition.
    assert share_on_side(None, sweep["verdict"], condition) == pytest.approx(7 / 8)
    figure = valid.exhibit().draw({"map": sweep})
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["holds", "inconclusive", "strength = 0.5"]


def test_a_map_is_an_exhibit_with_files_and_a_page(evidence, tmp_path):
    exhibit = replace(MAP.exhibit(), sweeps={"map": None})
    result = make_exhibit(paper(), exhibit, evidence, tmp_path)
    assert {place.suffix for place in tmp_path.iterdir()} == {".svg", ".png", ".json"}
    (record,) = result.runs
    assert record.form == "sweep" and record.outcomes == (
        f"finished ({COUNTS.size * RATIOS.size})",
    )
    assert record.setting["snr"] == "4.1 … 24.1 (21 values)"
    assert record.setting["width"] == 8
    assert result.seconds >= 12.5
