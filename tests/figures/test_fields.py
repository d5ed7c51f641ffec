from itertools import groupby

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

from attnflow import figures
from attnflow.figures.maps import edges


def table(values=((0.1, 0.2, 0.3), (0.4, 0.5, np.nan))):
    return xr.DataArray(
        np.array(values),
        dims=("samples", "snr"),
        coords={"samples": [2, 4], "snr": [1.0, 3.0, 7.0]},
    )


def test_cells_lie_around_their_numbers():
    assert edges(np.array([2.0, 4.0, 8.0])).tolist() == [1.0, 3.0, 6.0, 10.0]
    for wrong in ([1.0], [2.0, 1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="that grow"):
            edges(np.array(wrong))


def test_the_first_dim_runs_upwards(panel):
    mesh = figures.field(panel, table(), limits=(0.0, 0.5))
    assert not panel.yaxis_inverted()
    np.testing.assert_allclose(panel.get_xlim(), (0.0, 9.0))
    np.testing.assert_allclose(panel.get_ylim(), (1.0, 5.0))
    shown = np.ma.asarray(mesh.get_array())
    assert np.ma.getmaskarray(shown).tolist() == [[False] * 3, [False, False, True]]
    assert shown[1, 0] == 0.4


def test_larger_numbers_are_darker(panel):
    mesh = figures.field(panel, table(), kind="test", limits=(0.0, 0.5))
    light = mesh.to_rgba(np.array([0.0, 0.25, 0.5]))[:, :3].sum(axis=1)
    assert light[0] > light[1] > light[2]
    full = figures.current_theme().colour("test")
    assert mesh.cmap(1.0)[:3] == pytest.approx(
        [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)], abs=0.005
    )


def test_more_than_two_dims_are_refused(panel):
    with pytest.raises(ValueError, match="two dims"):
        figures.field(panel, table().expand_dims("seed"))


def test_a_bar_has_the_limits_of_its_field():
    figure, grid = figures.panels()
    mesh = figures.field(grid[0, 0], table(), limits=(0.0, 0.7))
    bar = figures.field_bar(figure, mesh, grid[0, 0], "test loss")
    assert bar.ax.get_ylim() == (0.0, 0.7)
    assert bar.ax.get_ylabel() == "test loss"


def test_an_outlined_curve_has_the_papers_colour_around_it(panel):
    figures.outlined(panel, [0, 1], [0.5, 0.5], color="#000000", width=4.0)
    panel.set(xlim=(0, 1), ylim=(0, 1), facecolor="#00FF00")
    panel.set_axis_on()
    figure = panel.get_figure()
    with figures.themed("light"):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    column = np.asarray(canvas.buffer_rgba())[:, canvas.get_width_height()[0] // 2, :3]
    names = {(0, 0, 0): "line", (255, 255, 255): "rim", (0, 255, 0): "ground"}
    colours = [names[tuple(c)] for c in column.tolist() if tuple(c) in names]
    met = [name for name, _ in groupby(colours)]
    inner = met[met.index("ground") : len(met) - met[::-1].index("ground")]
    assert inner == ["ground", "rim", "line", "rim", "ground"]
