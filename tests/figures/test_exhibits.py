"""Kinds of exhibits: what is drawn is what is tabulated and judged, NaN included."""

import numpy as np
import pytest
import xarray as xr

from attnflow.claims.stages import first_crossing
from attnflow.figures.exhibits import (
    Course,
    Curve,
    Curves,
    Free,
    Ladder,
    Line,
    Map,
    Panels,
    Rows,
    Table,
    Timeline,
    ramp,
    stage_times,
)
from attnflow.figures.style import LIGHT
from attnflow.schema.declarations import Exhibit

TIMES = np.array([0.0, 1.0, 2.0, 4.0])
RISE = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, np.nan]])


def run(rise=RISE, recorded=None):
    """Two seeds, of which the second ends one record earlier."""
    recorded = ~np.isnan(RISE) if recorded is None else recorded
    return xr.Dataset(
        {"loss": (("seed", "time"), rise), "recorded": (("seed", "time"), recorded)},
        {"seed": [0, 1], "time": ("time", TIMES, {"units": "step"})},
    )


def exhibit(shows, **fields):
    return Exhibit("x", "figure", "X", "x", {}, shows=shows, **fields)


def one(panel):
    return exhibit(Panels((panel,)))


def draw(panel, evidence):
    display = one(panel).display(evidence)
    (ax, *_) = display.draw().axes
    return ax, display


def line_called(ax, label):
    (line,) = (line for line in ax.get_lines() if line.get_label() == label)
    return line


# Course


def test_a_course_draws_the_median_of_what_it_tabulates():
    panel = Course(
        title="Loss",
        y="loss",
        lines=(Line("rise", "loss", kind="train"),),
        marks={"T1": lambda run: first_crossing(run, "loss", level=1.5)},
    )
    ax, display = draw(panel, {"run": run()})
    series = display.table["Loss"]
    line = line_called(ax, "rise")
    np.testing.assert_array_equal(line.get_xdata(), TIMES)
    np.testing.assert_array_equal(line.get_ydata(), series["rise"].median("seed"))
    np.testing.assert_array_equal(series.ends["rise"], [3.0, 4.0])
    assert display.values() == {
        "at the end": {"rise": 3.5},
        "events": {"T1": series.marks["T1"].median},
    }
    assert ax.get_xlabel() == "step" and ax.get_xlim() == (0, 4)
    assert series.marks["T1"].median in [x.get_xdata()[0] for x in ax.get_lines()]


def test_a_record_that_is_unknown_stays_unknown():
    hole = RISE.copy()
    hole[0, -1] = np.nan
    panel = Course(title="Loss", lines=(Line("rise", "loss"),))
    display = one(panel).display({"run": run(hole)})
    assert np.isnan(display.table["Loss"].ends["rise"].values[0])
    assert np.isnan(display.values()["at the end"]["rise"])


def test_samples_belong_to_the_spread_and_a_whole_line_ends_with_its_first_seed():
    def both(run):
        return xr.concat([run["loss"], 3 * run["loss"]], "sample")

    panel = Course(
        title="Loss", lines=(Line("rise", both, middle="mean", whole=True),), names=""
    )
    ax, display = draw(panel, {"run": run()})
    assert set(display.table["Loss"]["rise"].dims) == {"seed", "time", "sample"}
    line = line_called(ax, "rise")
    np.testing.assert_array_equal(line.get_xdata(), TIMES[:3])
    np.testing.assert_array_equal(line.get_ydata(), [0.0, 3.0, 6.0])


def test_a_logarithmic_course_begins_after_time_0_and_shades_its_stages():
    panel = Course(
        title="Loss",
        scales=("log", "linear"),
        lines=(Line("rise", "loss", label="", ramp=(1, 3)),),
        shades=lambda evidence: ([2.0], ["I", "II"]),
    )
    ax, _ = draw(panel, {"run": run()})
    assert ax.get_xlim() == (1, 4)
    assert {text.get_text() for text in ax.texts} >= {"I", "II"}


def test_other_runs_are_drawn_as_far_as_the_clocks():
    short = run().isel(time=slice(3))
    lines = Line("short", "loss", run="short"), Line("long", "loss", run="long")
    panel = Course(title="Loss", lines=lines, clock="short")
    ax, display = draw(panel, {"short": short, "long": run()})
    np.testing.assert_array_equal(line_called(ax, "long").get_xdata(), TIMES[:3])
    assert ax.get_xlim() == (0, 2)
    np.testing.assert_array_equal(display.table["Loss"]["long"]["time"], TIMES)


def test_the_first_seed_may_be_the_line():
    lines = (Line("rise", "loss", middle="first", band="seeds"),)
    ax, _ = draw(Course(title="Loss", lines=lines), {"run": run()})
    np.testing.assert_array_equal(line_called(ax, "rise").get_ydata(), RISE[0])


def test_a_ramp_has_a_line_for_each_run():
    lines = ramp("loss", {"narrow": "$m = 1$", "wide": "$m = 2$"}, kind="signal")
    ax, display = draw(
        Course(title="Loss", lines=lines), {"narrow": run(), "wide": run()}
    )
    assert list(display.table["Loss"]) == ["narrow", "wide"]
    pale, full = (
        line_called(ax, label).get_color() for label in ("$m = 1$", "$m = 2$")
    )
    assert full == LIGHT.colour("signal") != pale


def test_a_table_without_time_is_no_course():
    panel = Course(title="Loss", lines=(Line("end", lambda run: run["loss"][:, 0]),))
    with pytest.raises(ValueError, match="along time"):
        one(panel).display({"run": run()})


# Curves and ladders

RATES = xr.DataArray(
    [[1.0, 4.0, np.nan], [3.0, 6.0, 5.0]],
    {"rate": [0.5, 1.0, 2.0]},
    ("seed", "rate"),
    name="entropy",
)


@pytest.mark.parametrize(
    ("bars", "low"), [("deviation", 2 - np.sqrt(2)), ("range", 1.0), ("quartiles", 1.5)]
)
def test_curves_draw_what_they_tabulate_and_unknown_is_not_skipped(bars, low):
    curve = Curve("J", lambda evidence: RATES, kind="signal")
    ax, display = draw(Curves(title="E", x="η", curves=(curve,), bars=bars), {})
    line = line_called(ax, "J")
    np.testing.assert_array_equal(line.get_ydata(), [2.0, 5.0, np.nan])
    table = display.values()["J"]
    np.testing.assert_array_equal(line.get_ydata(), list(table.values()))
    assert list(table) == ["rate = 0.5", "rate = 1", "rate = 2"]
    first = ax.collections[0].get_segments()[0]
    assert first[0] == pytest.approx([0.5, low])


def test_a_single_seed_has_no_bars_and_a_curve_one_parameter():
    single = Curve("J", lambda evidence: RATES.isel(seed=1), aside=0.1)
    panel = Curves(title="E", curves=(single,), at_points=True, names="upper left")
    ax, _ = draw(panel, {})
    assert not ax.collections
    np.testing.assert_allclose(line_called(ax, "J").get_xdata(), [0.6, 1.1, 2.1])
    assert ax.get_xticks().tolist() == [0.5, 1.0, 2.0]
    twofold = RATES.expand_dims(width=2)
    wrong = Curves(title="E", curves=(Curve("J", lambda evidence: twofold),))
    with pytest.raises(ValueError, match="one dim beside"):
        one(wrong).display({}).draw()


def test_a_ladder_has_the_slope_of_what_it_tabulates():
    sizes = xr.DataArray([2.0, 4.0, 8.0], dims="m", coords={"m": [4, 16, 64]})
    ladder = Ladder(title="T", of=lambda evidence: sizes, slope=0.5)
    ax, display = draw(ladder, {})
    values = display.values()
    assert values["slope"] == pytest.approx(0.5)
    np.testing.assert_array_equal(line_called(ax, "measured").get_ydata(), sizes)
    assert [values[f"m = {m}"] for m in (4, 16, 64)] == [2.0, 4.0, 8.0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    hole = Ladder(title="T", of=lambda evidence: sizes.where(sizes < 8))
    assert np.isnan(one(hole).display({}).values()["slope"])


# Maps, tables, rows and timelines

CELLS = xr.DataArray(
    [[[1.0, 2.0], [3.0, np.nan]], [[3.0, 4.0], [5.0, 6.0]]],
    {"samples": [2, 4], "snr": [0.5, 1.0]},
    ("seed", "samples", "snr"),
)


def test_a_map_is_coloured_by_the_mean_and_unknown_cells_stay_empty():
    panel = Map(
        title="M",
        of=lambda evidence: CELLS,
        texts=lambda table: np.full((2, 2), "?"),
        bar="loss",
        at_cells="xy",
    )
    ax, display = draw(panel, {})
    mesh = ax.collections[0]
    drawn = np.ma.filled(mesh.get_array().astype(float), np.nan)
    np.testing.assert_array_equal(drawn, [[2.0, 3.0], [4.0, np.nan]])
    values = display.values()
    assert values["samples = 2"] == {"snr = 0.5": 2.0, "snr = 1": 3.0}
    assert np.isnan(values["samples = 4"]["snr = 1"])
    assert len(ax.texts) == 4 and ax.get_yticks().tolist() == [2, 4]


def test_a_table_writes_its_cells():
    cells = xr.DataArray([[0.25, -1.0]], {"a": ["x"], "b": ["p", "q"]}, ("a", "b"))
    panel = Table(title="T", of=lambda e: cells, limits=(-1, 1), x="after", y="before")
    ax, display = draw(panel, {})
    assert [text.get_text() for text in ax.texts] == ["0.25", "−1.00"]
    assert display.values() == {"x": {"p": 0.25, "q": -1.0}}
    told = Table(title="T", of=lambda e: cells, texts=lambda t: np.array([["a", "-b"]]))
    assert [text.get_text() for text in draw(told, {})[0].texts] == ["a", "−b"]


def test_rows_have_a_dot_for_each_number():
    table = {"a": np.array([1.0, 2.0, 6.0]), "b": np.array([np.nan, 1.0])}
    rows = {"a": "first", "b": "second"}
    panel = Rows(title="R", rows=rows, of=lambda e: table, lines={"guess": 0.5})
    ax, display = draw(panel, {})
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots[0].get_xdata(), table["a"])
    assert display.values()["a"] == {
        "mean": 3.0,
        "least": 1.0,
        "median": 2.0,
        "largest": 6.0,
    }
    assert np.isnan(list(display.values()["b"].values())).all()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["first", "second"]


def test_quantiles_are_drawn_as_bars():
    panel = Rows(
        title="R", rows={"a": ""}, of=lambda e: {"a": np.arange(101)}, marks="quantiles"
    )
    ax, _ = draw(panel, {})
    outer, inner, middle = (line.get_xdata() for line in ax.get_lines()[:3])
    assert (outer.tolist(), inner.tolist()) == ([5, 95], [25, 75])
    assert middle.tolist() == [50]


def test_a_timeline_shows_known_times_and_says_what_is_unknown():
    times = {"T1": {"formula": 3.0}, "T2": {"detected": 5.0, "least": 4, "largest": 6}}
    panel = Timeline(
        title="T",
        rows={"T1": "first", "T2": "second"},
        of=lambda evidence: times,
        absent={"detected": "never", "formula": "none"},
        unsaid=frozenset({("T2", "formula")}),
        xlim=(1, 10),
    )
    ax, display = draw(panel, {})
    assert display.values() == times
    marks = {line.get_marker(): line for line in ax.get_lines()}
    assert marks["D"].get_xdata() == [3.0] and marks["o"].get_xdata() == [5.0]
    assert [text.get_text() for text in ax.texts] == ["never →"]


def test_stage_times_leave_out_what_is_unknown():
    from attnflow.claims.stages import StageRow

    row = StageRow("T1", None, 2.0, (1.0, 3.0), "")
    assert stage_times([row]) == {"T1": {"detected": 2.0, "least": 1.0, "largest": 3.0}}


# Panels and exhibits


def free(name):
    return Free(title=name, of=lambda e: e[name], picture=lambda ax, t: ax.plot(t))


def test_panels_are_arranged_and_finished():
    seen = []
    shows = Panels(
        (free("a"), free("b"), free("c")),
        columns=2,
        share_time=True,
        finish=lambda figure, grid, table: seen.append((grid.shape, dict(table))),
    )
    runs = {"a": [1, 2], "b": [3], "c": [4]}
    display = exhibit(shows).display(runs)
    figure = display.draw()
    assert seen == [((2, 2), runs)] and not figure.axes[3].axison
    assert display.table.runs is runs and len(display.table) == 3
    assert display.values() == {"a": {}, "b": {}, "c": {}}


def test_panels_have_names_of_their_own():
    with pytest.raises(ValueError, match="names of their own"):
        Panels((free("a"), free("a")))


def test_sentences_are_predicates_of_the_table():
    told = exhibit(
        Panels((free("a"), free("b"))),
        values=lambda t: {"last": t["a"][-1]},
        stated={"Section 1": {"it rises": lambda t: np.diff(t["a"]) > 0}},
        checks={
            "both begin alike": lambda t: t["a"][0] == t["b"][0],
            "nothing is true of nothing": lambda t: np.array([], bool),
        },
    )
    display = told.display({"a": [1, 2, 3], "b": [1]})
    assert display.values() == {"last": 3}
    assert display.stated() == {"Section 1": {"it rises": True}}
    assert list(display.checks().values()) == [True, False]
    assert told.display({"a": [1, 3, 2], "b": [1]}).stated() == {
        "Section 1": {"it rises": False}
    }


def test_a_sentence_that_is_no_comparison_is_refused():
    told = exhibit(Panels((free("a"),)), checks={"it is large": lambda t: np.nan})
    with pytest.raises(TypeError, match="x: whether 'it is large'"):
        told.display({"a": [1]}).checks()


def test_an_exhibit_must_show_something():
    with pytest.raises(ValueError, match="'x' shows nothing"):
        exhibit(None)
