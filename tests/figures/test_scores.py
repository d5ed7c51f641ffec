import pytest

from attnflow import figures

KINDS = {("c1", "v1"): "match", ("c1", "v2"): "mismatch"}


def test_small_multiples_have_keys_downwards_and_queries_across(run):
    figure = figures.score_grid(run, fixed={"head": "+"}, kinds=KINDS)
    assert len(figure.axes) == 16
    assert figure.axes[2].get_title() == "query $v_{1}$"
    assert figure.axes[4].get_ylabel() == "key $c_{2}$"
    (line,) = [ln for ln in figure.axes[2].get_lines() if len(ln.get_xdata()) > 2]
    assert line.get_color() == figures.current_theme().colour("match")
    assert len({ax.get_ylim() for ax in figure.axes}) == 1


def test_a_head_must_be_chosen(run):
    with pytest.raises(ValueError, match="Fix the others"):
        figures.score_grid(run, fixed={}, kinds={})
