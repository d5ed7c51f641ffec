import numpy as np
import pytest
import xarray as xr

from attnflow import figures


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.fixture
def attention(run):
    return run["attention"].isel(seed=0, time=-1).sel(head="+")


def test_a_sample_names_its_positions(attention, panel):
    figures.heatmap(panel, attention.sel(sample="c1 v1 -v2"))
    names = ["$c_{1}$", "$v_{1}$", "$-v_{2}$"]
    assert ticks(panel.xaxis) == ticks(panel.yaxis) == names
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("key", "query")
    assert [text.get_text() for text in panel.texts] == ["0.33"] * 9


def test_the_first_row_is_on_top_and_missing_numbers_are_dashes(panel):
    matrix = xr.DataArray([[1.0, -0.5], [np.nan, 0.0]], dims=("key", "query"))
    figures.heatmap(panel, matrix, colours="signed", limits=(-1, 1), digits=1)
    assert panel.yaxis_inverted()
    assert [text.get_text() for text in panel.texts] == ["1.0", "−0.5", "—", "0.0"]
    assert ticks(panel.xaxis) == ["1", "2"]


def test_numbers_can_be_read_on_their_cells(panel):
    matrix = xr.DataArray([[0.0, 1.0]], dims=("key", "query"))
    figures.heatmap(panel, matrix)
    assert panel.texts[0].get_color() != panel.texts[1].get_color()


def test_names_may_be_given(panel):
    matrix = xr.DataArray(np.eye(2), dims=("key", "query"))
    figures.heatmap(panel, matrix, rows=["mu1", "mu2"], columns=["a", "b"])
    assert ticks(panel.yaxis) == ["$\\mu_{1}$", "$\\mu_{2}$"]


def test_more_than_a_matrix_is_refused(run, panel):
    with pytest.raises(ValueError, match="two dims"):
        figures.heatmap(panel, run["attention"])


def test_small_multiples_share_one_scale(attention):
    samples = attention["sample"].values
    maps = {str(name): attention.sel(sample=name) for name in samples}
    figure = figures.heatmap_grid({**maps, "third": maps["c1 v1 v2"]}, across=2)
    shown = [ax for ax in figure.axes if ax.collections and ax.get_title()]
    assert shown[0].get_title() == "$c_{1}$, $v_{1}$, $v_{2}$"
    assert len(shown) == 3
    assert {ax.collections[0].get_clim() for ax in shown} == {(0.0, 1.0)}
    assert figure.axes[-1].get_ylabel() == "attention"
