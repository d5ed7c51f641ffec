import itertools

import numpy as np
import pytest

from attnflow import figures


def spans(ax):
    return [(p.get_x(), p.get_x() + p.get_width()) for p in ax.patches]


def test_a_runs_own_stages(run, panel):
    figures.time_axis(panel, run)
    texts = figures.shade_stages(panel, *figures.stage_boundaries(run))
    assert [text.get_text() for text in texts] == ["neurons", "attention"]
    assert spans(panel) == [(0, 500), (500, 2000)]


def test_inner_boundaries_alone(run, panel):
    figures.time_axis(panel, run)
    figures.shade_stages(panel, [100, 900], ["before T1", "middle", "end"])
    assert spans(panel) == [(0, 100), (100, 900), (900, 2000)]
    assert panel.texts[0].get_text() == "before $T_{1}$"


def test_what_was_not_reached_is_left_out(run, panel):
    figures.time_axis(panel, run)
    run["stage_end"][:, 1] = np.nan
    texts = figures.shade_stages(panel, *figures.stage_boundaries(run))
    assert len(texts) == 1
    assert figures.shade_stages(panel, [None], ["one", "two"]) == []


def test_names_of_narrow_stages_do_not_overlap(run, panel):
    figures.time_axis(panel, run)
    names = ["alignment", "saturation", "plateau", "the rest"]
    texts = figures.shade_stages(panel, [10, 20, 30], names)
    panel.get_figure().draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    for left, right in itertools.pairwise(boxes):
        assert left.x1 <= right.x0


def test_the_number_of_boundaries_must_fit(panel):
    with pytest.raises(ValueError, match=r"give 1 .* or 3"):
        figures.shade_stages(panel, [1.0, 2.0], ["one", "two"])


def test_empty_names_leave_the_shades_alone(run, panel):
    figures.time_axis(panel, run)
    before = panel.title.get_position()
    assert figures.shade_stages(panel, [500], ["", ""]) == []
    assert spans(panel) == [(0, 500), (500, 2000)]
    assert not panel.texts and panel.title.get_position() == before
