import numpy as np
import pytest

from attnflow import figures
from attnflow.figures.curves import thin
from tests.figures.runs import make_run


def test_the_line_is_the_median_over_seeds(run, panel):
    line = figures.series(panel, run, "score[+,c1,v1]", kind="match")
    expected = run["score"].sel(head="+", key="c1", query="v1").median("seed")
    np.testing.assert_allclose(line.get_ydata(), expected)
    assert line.get_label() == "$c_{1}$, $v_{1}$"


@pytest.mark.parametrize(
    ("band", "lines", "fills"),
    [("range", 1, 1), ("quartiles", 1, 1), ("seeds", 4, 0), ("none", 1, 0)],
)
def test_bands(run, panel, band, lines, fills):
    figures.series(panel, run, "loss", band=band)
    assert (len(panel.get_lines()), len(panel.collections)) == (lines, fills)


def test_the_range_reaches_from_the_least_to_the_largest_seed(run, panel):
    figures.series(panel, run, "score[+,c1,v1]", band="range")
    box = panel.collections[0].get_paths()[0].get_extents()
    assert box.y1 == pytest.approx(float(run["score"].max()))


def test_one_seed_has_no_band(panel):
    figures.series(panel, make_run(seeds=1), "loss")
    assert not panel.collections


def test_what_was_not_recorded_is_not_drawn(run, panel):
    run["recorded"][:, 15:] = False
    run["recorded"][0, 5:] = False
    run["loss"][:] = run["loss"].where(run["recorded"], 1e9)
    line = figures.series(panel, run, "loss")
    assert len(line.get_xdata()) == 15
    assert np.max(line.get_ydata()) < 1


def test_a_curve_may_be_given_as_an_array(run, panel):
    line = figures.series(panel, run, 2 * run["loss"], label="twice")
    np.testing.assert_allclose(line.get_ydata(), 2 * run["loss"].median("seed"))


def test_a_table_is_no_curve(run, panel):
    with pytest.raises(ValueError, match=r"Select one entry of \['key', 'query'\]"):
        figures.series(panel, run, "score[+]")


def test_the_infinite_width_is_dashed_thick_and_in_ink(run, panel):
    line = figures.series(panel, run, "loss", role="limit", kind="signal")
    assert line.get_color() == figures.current_theme().colour("limit")
    assert line.is_dashed()
    assert line.get_linewidth() > 2


def test_long_runs_are_thinned_on_linear_and_on_log_axes():
    run = make_run(seeds=1, count=20_001)
    few = thin(run["loss"])
    assert few.sizes["time"] <= 500
    index = np.searchsorted(run["time"].values, few["time"].values)
    assert {0, 1, 2, 20_000} <= set(index.tolist())
    assert np.diff(index).max() < 100


def test_records_ever_further_apart_are_thinned_evenly_in_time():
    run = make_run(seeds=1, count=4001)
    times = np.geomspace(1, 1e6, 4001)
    few = thin(run["loss"].assign_coords(time=times))["time"].values
    assert few.size <= 750
    # A step of 249 even ones, and what is lost by taking the nearest record.
    assert np.diff(few).max() < 1e6 / 249 + np.diff(times).max()


def test_a_formula_and_a_level(run, panel):
    line = figures.theory(panel, [0, 1], [1, 2], label="R6")
    assert line.is_dashed()
    figures.reference(panel, np.log(2), "log 2")
    assert [text.get_text() for text in panel.texts] == ["log 2"]
