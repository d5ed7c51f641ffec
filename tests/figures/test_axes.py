import pytest

from attnflow import figures
from tests.figures.runs import make_run


def test_panels_have_letters_where_there_are_several():
    _, axes = figures.panels(1, 2, titles=["Loss of c1", "Scores"])
    assert axes.shape == (1, 2)
    assert axes[0, 0].get_title(loc="left") == "$\\mathbf{a}$   Loss of $c_{1}$"
    _, single = figures.panels(titles=["Loss"])
    assert single[0, 0].get_title(loc="left") == "Loss"


@pytest.mark.parametrize(
    ("units", "label"), [("step", "step"), ("time", "time $t$"), ("epochs", "epochs")]
)
def test_time_is_named_as_the_run_names_it(panel, units, label):
    run = make_run(units=units)
    figures.time_axis(panel, run)
    assert panel.get_xlabel() == label
    assert panel.get_xlim() == (0, 2000)


def test_what_was_not_recorded_takes_no_room(run, panel):
    run["recorded"][:, 11:] = False
    figures.time_axis(panel, run)
    assert panel.get_xlim() == (0, 1000)


def test_a_log_axis_begins_at_the_first_positive_time(run, panel):
    figures.time_axis(panel, run, scale="log")
    assert panel.get_xlim() == (100, 2000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2000, "2000"),
        (20_000, "20\u2009000"),
        (-0.25, "−0.25"),
        (3.5e6, "$3.5\\times 10^{6}$"),
        (2e-5, "$2\\times 10^{-5}$"),
        (float("nan"), "—"),
    ],
)
def test_numbers(value, text):
    assert figures.number(value) == text


def tick_labels(ax):
    ax.get_figure().draw_without_rendering()
    low, high = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    return [label.get_text() for place, label in ticks if low <= place <= high]


def test_log_ticks_are_powers_or_where_these_are_too_few_plain(panel):
    panel.set(yscale="log", ylim=(1e-4, 20))
    figures.number_axis(panel, "y")
    assert {"$10^{-2}$", "1"} <= set(tick_labels(panel))
    panel.set(ylim=(0.015, 0.7))
    figures.number_axis(panel, "y")
    assert {"0.02", "0.1", "0.5"} <= set(tick_labels(panel))
