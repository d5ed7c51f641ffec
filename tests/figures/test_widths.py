from attnflow import figures
from tests.figures.runs import make_run


def test_finite_widths_are_thin_and_the_infinite_one_is_thick(run, panel):
    finite = {"$m = 32$": run, "$m = 512$": make_run(seeds=2)}
    infinite = make_run(seeds=1)
    lines = figures.beside(
        panel, finite, infinite, "score[+,c1,v1]", kind="match", limit_label="$\\infty$"
    )
    assert [line.get_label() for line in lines] == [*finite, "$\\infty$"]
    assert [line.get_linewidth() for line in lines] == [1.0, 1.0, 2.6]
    assert lines[-1].is_dashed()
    # Each seed is a line of its own beside the medians.
    assert len(panel.get_lines()) == 3 + 3 + 2


def test_one_run_is_in_full_colour_and_named_by_its_tokens(run, panel):
    line, _ = figures.beside(panel, run, run, "score[+,c1,v1]", kind="match")
    assert line.get_color() == figures.current_theme().colour("match")
    assert line.get_label() == "$c_{1}$, $v_{1}$"
