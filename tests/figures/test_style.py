import subprocess
import sys

import matplotlib
import pytest

from attnflow import figures
from attnflow.figures.style import DARK, LIGHT
from attnflow.schema.settings import UnknownName


def test_nothing_global_changes(run):
    before = dict(matplotlib.rcParams)
    with figures.themed("dark"):
        figure, axes = figures.panels(1, 2, titles=["One", "Two"])
        figures.series(axes[0, 0], run, "loss", kind="loss")
    figure.draw_without_rendering()
    assert dict(matplotlib.rcParams) == before
    assert figures.current_theme() is LIGHT


def test_a_theme_reaches_every_artist(run):
    with figures.themed("dark"):
        figure, axes = figures.panels()
        line = figures.series(axes[0, 0], run, "loss", kind="signal")
    assert matplotlib.colors.to_hex(figure.get_facecolor()) == DARK.paper.lower()
    assert line.get_color() == DARK.colour("signal")


def test_the_users_own_style_does_not_reach_a_figure():
    with matplotlib.rc_context({"axes.spines.top": True, "font.size": 40}):
        _, axes = figures.panels(titles=["Loss"])
    assert not axes[0, 0].spines["top"].get_visible()
    assert axes[0, 0].title.get_fontsize() < 20


def test_an_unknown_theme_is_told_the_known_ones():
    with pytest.raises(UnknownName, match="Known: light, dark"), figures.themed("drak"):
        pass


def test_declaring_figures_costs_no_matplotlib_and_drawing_no_jax():
    code = (
        "import sys; from attnflow import figures;"
        "assert 'matplotlib' not in sys.modules;"
        "figures.panels(); figures.series; figures.heatmap_grid; figures.ladder_plot;"
        "assert 'jax' not in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_of_the_package_is_there():
    for name in dir(figures):
        assert callable(getattr(figures, name))
    with pytest.raises(AttributeError, match=r"No attnflow\.figures attribute serie"):
        _ = figures.serie
