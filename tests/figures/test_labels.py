import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from attnflow import figures
from attnflow.figures.labels import spread

places = st.lists(st.floats(0, 100), min_size=1, max_size=8)


@given(places)
def test_spread_leaves_no_overlap_and_stays_inside(centres):
    moved = spread(np.array(centres), np.full(len(centres), 10.0), 0, 100)
    gaps = np.diff(np.sort(moved))
    assert (gaps >= 10 - 1e-9).all()
    assert moved.min() >= 5 - 1e-9
    assert moved.max() <= 95 + 1e-9


@given(places)
def test_spread_keeps_the_order(centres):
    moved = spread(np.array(centres), np.full(len(centres), 10.0), 0, 100)
    for i, j in itertools.combinations(range(len(centres)), 2):
        assert (centres[i] - centres[j]) * (moved[i] - moved[j]) >= 0


def test_what_does_not_overlap_does_not_move():
    centres = np.array([70.0, 20.0, 45.0])
    np.testing.assert_allclose(spread(centres, np.full(3, 10.0), 0, 100), centres)


def test_neighbours_share_the_way():
    moved = spread(np.array([50.0, 52.0]), np.full(2, 10.0), 0, 100)
    np.testing.assert_allclose(moved, [46, 56])


def extents(figure, texts):
    figure.draw_without_rendering()
    # An annotation's own extent holds its hairline too.
    return [Text.get_window_extent(text) for text in texts]


def test_labels_stand_at_the_ends_without_overlap(run):
    figure, axes = figures.panels()
    ax = axes[0, 0]
    figures.time_axis(ax, run)
    for level, name in [(0.0, "one"), (0.001, "two"), (0.002, "three"), (1.0, "top")]:
        figures.series(ax, run, level + 0 * run["loss"], label=name, kind="signal")
    figures.series(ax, run, "loss", label="")
    labels = figures.label_ends(ax)
    assert [label.get_text() for label in labels] == ["one", "two", "three", "top"]
    boxes = extents(figure, labels)
    assert all(box.x0 > ax.get_window_extent().x1 for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        # The box of a text holds more than its ink: a little of it may be shared.
        assert min(one.y1, other.y1) - max(one.y0, other.y0) < 0.35 * one.height
    assert labels[0].get_color() == figures.current_theme().colour("signal")
    assert labels[0].arrow_patch.get_visible()
    assert not labels[3].arrow_patch.get_visible()


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_labels_stay_within_the_figure(run, scale):
    figure, axes = figures.panels(1, 2)
    for ax in axes.flat:
        figures.series(ax, run, "loss", label="a rather long label")
        ax.set_yscale(scale)
    (label,) = figures.label_ends(axes[0, 1])
    (box,) = extents(figure, [label])
    assert box.x1 <= figure.bbox.x1


def test_an_end_that_is_not_there_gets_no_label(run, panel):
    figures.series(panel, run, np.nan * run["loss"].fillna(0), label="nowhere")
    assert figures.label_ends(panel) == []


def test_labels_follow_the_last_shown_point(run, panel):
    figures.series(panel, run, "score[+,c1,v1]", kind="match")
    (label,) = figures.label_ends(panel)
    extents(panel.get_figure(), [label])
    assert label.xy[1] > 0.8
    panel.set_xlim(0, 200)
    extents(panel.get_figure(), [label])
    assert label.xy[1] == pytest.approx(0.05, abs=0.05)


def test_a_curve_that_was_moved_out_of_sight_has_no_label(run, panel):
    figures.series(panel, run, "loss", label="early")
    late = panel.plot([1500.0, 2000.0], [1.0, 1.0], label="late")
    labels = figures.label_ends(panel)
    panel.set_xlim(0, 1000)
    extents(panel.get_figure(), labels)
    assert late and [label.get_alpha() for label in labels] == [1.0, 0.0]
    panel.set_xlim(0, 2000)
    extents(panel.get_figure(), labels)
    assert [label.get_alpha() for label in labels] == [1.0, 1.0]


def test_labels_and_stages_ask_for_no_layout(run, monkeypatch):
    """Which takes longer than all drawing, once for each panel."""
    figure, axes = figures.panels(1, 2)
    engine = figure.get_layout_engine()
    monkeypatch.setattr(engine, "execute", lambda figure: pytest.fail("laid out"))
    for ax in axes.flat:
        figures.series(ax, run, "loss", label="loss")
        figures.shade_stages(ax, [500.0], ["before", "after"])
        assert len(figures.label_ends(ax)) == 1
