import pytest

from attnflow import figures

KINDS = {("c1", "v1"): "match", ("c1", "v2"): "mismatch"}


def test_one_panel_shows_all_scores_and_names_the_chosen(run, panel):
    lines = figures.score_panel(panel, run, fixed={"head": "+"}, highlight=KINDS)
    assert len(panel.get_lines()) == 16
    theme = figures.current_theme()
    assert [line.get_color() for line in lines] == [
        theme.colour("match"),
        theme.colour("mismatch"),
    ]
    named = [text.get_text() for text in figures.label_ends(panel)]
    assert sorted(named) == ["$c_{1}$, $v_{1}$", "$c_{1}$, $v_{2}$", "others"]


def test_small_multiples_have_keys_downwards_and_queries_across(run):
    figure = figures.score_grid(run, fixed={"head": "+"}, kinds=KINDS)
    assert len(figure.axes) == 16
    assert figure.axes[2].get_title() == "query $v_{1}$"
    assert figure.axes[4].get_ylabel() == "key $c_{2}$"
    (line,) = [ln for ln in figure.axes[2].get_lines() if len(ln.get_xdata()) > 2]
    assert line.get_color() == figures.current_theme().colour("match")
    assert len({ax.get_ylim() for ax in figure.axes}) == 1


def test_a_head_must_be_chosen(run, panel):
    with pytest.raises(ValueError, match="Fix the others"):
        figures.score_panel(panel, run, fixed={}, highlight={})
