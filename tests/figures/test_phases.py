import numpy as np
import pytest
import xarray as xr

from attnflow import figures
from attnflow.claims.statistics import fit_boundary
from attnflow.figures.phases import scale_of


def swept(**coords):
    coords = coords or {"samples": [2.0, 4.0, 8.0], "snr": [1.0, 2.0, 3.0, 4.0]}
    shape = tuple(len(c) for c in coords.values())
    values = np.arange(np.prod(shape), dtype=float).reshape(shape)
    table = xr.DataArray(values, dims=tuple(coords), coords=coords, name="test_loss")
    return xr.concat([table, table + 2], xr.Variable("seed", [0, 1])).transpose(
        ..., "seed"
    )


def test_seeds_are_averaged_and_scales_are_seen(panel):
    mesh = figures.phase_panel(panel, swept())
    np.testing.assert_array_equal(np.asarray(mesh.get_array())[0], [1, 2, 3, 4])
    assert (panel.get_xscale(), panel.get_yscale()) == ("linear", "log")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("snr", "samples")
    assert mesh.get_clim() == (1.0, 12.0)
    # Around 2, 4, 8 the cells of a logarithmic axis end at powers of √2.
    np.testing.assert_allclose(panel.get_ylim(), (2**0.5, 8 * 2**0.5))


def test_cells_that_were_not_computed_stay_empty(panel):
    table = swept()
    table[0, 0, 1] = np.nan
    mesh = figures.phase_panel(panel, table)
    assert np.ma.getmaskarray(mesh.get_array()).sum() == 1


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1.0, 10.0, 100.0], "log"),
        ([1.0, 2.0, 3.0], "linear"),
        ([0.0, 1.0, 10.0], "linear"),
        ([1.0, 10.0], "linear"),
    ],
)
def test_scales(values, scale):
    assert scale_of(xr.DataArray(values, dims="a", coords={"a": values}), 0) == scale


def test_verdicts_have_a_colour_each(panel):
    labels = np.array([["holds", "fails"], ["inconclusive", "holds"], ["", "holds"]])
    coords = {"omega": [1.0, 2.0, 3.0], "width": [1.0, 2.0]}
    verdicts = xr.DataArray(labels, dims=("omega", "width"), coords=coords)
    figures.validity_panel(panel, verdicts)
    mesh = panel.collections[0]
    colours = mesh.to_rgba(mesh.get_array()).reshape(3, 2, 4)
    assert (colours[0, 0] == colours[1, 1]).all()
    assert len({tuple(c) for c in colours[:2].reshape(-1, 4).tolist()}) == 3
    assert np.ma.getmaskarray(mesh.get_array())[2, 0]
    texts = [text.get_text() for text in panel.get_legend().get_texts()]
    assert texts == ["holds", "inconclusive", "fails"]


def test_conditions_and_laws_keep_the_map_in_view(panel):
    n, x = np.linspace(4, 20, 9), np.linspace(0.2, 1.0, 30)
    maps = np.stack([(1 + s) / (n[:, None] * x**2) for s in (-0.05, 0.0, 0.05)])
    table = xr.DataArray(
        maps, dims=("seed", "n", "x"), coords={"n": n, "x": x}, name="loss"
    ).transpose("n", "x", "seed")
    figures.phase_panel(panel, table)
    before = panel.get_xlim(), panel.get_ylim()
    figures.condition(panel, lambda x: 1 / x**2, "$n x^2 = 1$")
    generator = np.random.default_rng(0)
    law = fit_boundary(n, x, maps, 1.0, generator=generator, scale="log")
    figures.boundary_law(panel, n, law)
    assert (panel.get_xlim(), panel.get_ylim()) == before
    curve, dots, line = panel.get_lines()
    np.testing.assert_allclose(curve.get_ydata(), 1 / curve.get_xdata() ** 2)
    np.testing.assert_array_equal(dots.get_xdata(), law.places)
    assert line.get_label().startswith("exponent −0.499 (")
    np.testing.assert_allclose(
        line.get_xdata(), np.exp(law.intercept) * line.get_ydata() ** law.exponent
    )


def test_small_multiples_share_one_scale():
    table = swept(K=[2.0, 3.0], a=[1.0, 2.0], b=[1.0, 2.0, 3.0])
    seen = []
    figure = figures.phase_grid(
        table, over="K", on_top=lambda ax, value: seen.append(value)
    )
    maps = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert len(maps) == 2 and seen == [2.0, 3.0]
    assert len({ax.collections[0].get_clim() for ax in maps}) == 1
    assert figure.axes[-1].get_ylabel() == "test loss"
    assert len(figures.phase_grid(swept()).axes) == 2
