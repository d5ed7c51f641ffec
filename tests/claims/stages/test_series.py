import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.claims.stages import (
    Detected,
    Selector,
    all_crossed,
    crossing,
    extreme,
    parse_selector,
    plateau_end,
    select,
    settling,
)
from attnflow.schema.settings import UnknownName
from tests.claims.stages.runs import make_run

RUN = make_run()
NAMES = st.from_regex(r"[a-z]\w{0,8}", fullmatch=True).filter(str.isascii)
LABELS = st.text("abcXYZ019+-_.*:'= ", min_size=1).map(str.strip).filter(bool)


@given(NAMES, st.lists(LABELS, max_size=4))
def test_a_selector_survives_printing(name, labels):
    selector = Selector(name, tuple(labels))
    assert parse_selector(str(selector)) == selector
    assert parse_selector(f"  {name} [ {' , '.join(labels)} ] ") == selector


@pytest.mark.parametrize("text", ["", "score[+", "a b", "score[[+]]", "score+]"])
def test_texts_that_select_nothing(text):
    with pytest.raises(ValueError, match="selects no series"):
        parse_selector(text)


def test_labels_stand_in_the_order_of_the_dims():
    series = select(RUN, "score[-,v1]")
    assert series.dims == ("seed", "time")
    np.testing.assert_array_equal(series, RUN["score"].sel(head="-", key="v1"))


def test_dims_can_be_kept():
    assert select(RUN, "score").dims == ("seed", "time", "head", "key")
    assert select(RUN, "score[+]").dims == ("seed", "time", "key")
    assert select(RUN, "score[:,c1]").dims == ("seed", "time", "head")


def test_a_label_selects_its_entry():
    selected = select(RUN, "loss_by_group[conflicting]")
    assert selected.identical(RUN["loss_by_group"].sel(group="conflicting"))


def test_numbers_and_dims_without_labels():
    assert select(RUN, "numbered[64]").width == 64
    assert select(RUN, "numbered[8.0]").width == 8
    np.testing.assert_array_equal(select(RUN, "bare[1]"), RUN["bare"][..., 1])


def test_wrong_names_get_the_likely_one():
    with pytest.raises(UnknownName, match="Did you mean 'growth'"):
        select(RUN, "grwth")
    with pytest.raises(UnknownName, match="Did you mean 'conflicting'"):
        select(RUN, "loss_by_group[conflict]")
    with pytest.raises(ValueError, match=r"3 labels.*\(head, key\)"):
        select(RUN, "score[+,c1,v1]")
    with pytest.raises(ValueError, match="no dims of its own"):
        select(RUN, "growth[+]")


TIME = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
LEVELS = st.floats(0.01, 0.99)


@given(LEVELS, st.floats(0.1, 10), st.integers(2, 50))
def test_a_straight_line_is_crossed_exactly(level, pace, records):
    time = np.linspace(0.0, pace, records)
    detected = crossing(time, time / pace, level)
    assert detected.time == pytest.approx(level * pace)
    fallen = crossing(time, 1 - time / pace, 1 - level, direction="down")
    assert fallen.time == pytest.approx(level * pace)


@given(LEVELS)
def test_an_exponential_is_crossed_exactly_on_a_log_scale(level):
    detected = crossing(TIME, np.exp(-2 * TIME), level, direction="down", scale="log")
    assert detected.time == pytest.approx(-np.log(level) / 2)


@given(st.floats(0.05, 4.5))
def test_a_logarithm_is_crossed_exactly_on_a_log_clock(level):
    time = np.geomspace(1.0, 100.0, 7)
    detected = crossing(time, np.log(time), level, clock="log")
    assert detected.time == pytest.approx(np.exp(level))


def test_scales_fall_back_where_logarithms_do_not_exist():
    assert crossing(TIME[:2], TIME[:2], 0.5, clock="log").time == 0.5
    assert crossing(TIME[:2], TIME[:2], 0.5, scale="log").time == 0.5


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(-1, 1))
def test_time_and_level_enclose_the_crossing(values, level):
    value = np.array(values)
    time = np.arange(len(value), dtype=float)
    detected = crossing(time, value, level)
    if detected.time is None:
        assert value.max() < level
        assert "up to time" in detected.reason
    else:
        after = int(np.ceil(detected.time))
        assert value[after] >= level or value[min(after + 1, len(value) - 1)] >= level
        assert (value[time < detected.time - 1e-9] < level).all()
        mirrored = crossing(time, -value, -level, direction="down")
        assert mirrored == detected


def test_first_last_and_settling():
    value = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    assert crossing(TIME, value, 0.5).time == 0.5
    assert crossing(TIME, value, 0.5, which="last").time == 2.5
    assert settling(TIME, value, 0.5).time == 2.5
    assert crossing(TIME, value, 0.5, direction="down", which="last").time == 1.5
    fallen = settling(TIME, value, 0.5, direction="down")
    assert fallen.time is None
    assert fallen.reason == "ends at 1, above 0.5, at time 4"


def test_what_was_reached_at_the_start():
    assert crossing(TIME, TIME + 1, 0.5) == Detected(0.0, "at the first record already")
    assert all_crossed(TIME, (TIME + 1)[:, None], 0.5).time == 0.0


def test_gaps_are_not_bridged():
    """Between time 0 and 2 the series may have crossed at any time."""
    value = np.array([0.0, np.nan, 1.0, np.inf, 2.0])
    hole = crossing(TIME, value, 0.5)
    assert (hole.time, hole.known) == (None, False)
    assert "from time 1 to 1" in hole.reason
    assert crossing(TIME, value * np.nan, 0.5).reason == "nothing was recorded"
    early = np.array([0.0, 1.0, np.nan, 1.0, 2.0])
    assert crossing(TIME, early, 0.5).time == 0.5
    assert crossing(TIME, early, 0.5, which="last").time is None
    assert settling(TIME, early, 0.5).time is None


def test_the_example_of_the_audit():
    """With steps 59 to 256 unknown, a time near 104 is not reported as 98."""
    time = np.append(np.arange(0.0, 59.0), np.arange(59.0, 300.0))
    value = np.tanh((time - 104.0) / 40.0)
    assert crossing(time, value, 0.0).time == pytest.approx(104.0)
    value[(time >= 59) & (time <= 256)] = np.nan
    hole = crossing(time, value, 0.0)
    assert (hole.time, hole.known) == (None, False)


def test_all_entries_together():
    values = np.stack([TIME, TIME / 2, 4 * TIME], axis=1)
    assert all_crossed(TIME, values, 1.5).time == 3.0
    late = all_crossed(TIME, values, 2.1)
    assert late.time is None
    assert "at most 2 of 3 entries" in late.reason
    # The slower entry decides, although it started nearer to the level.
    two = np.array([[0.0, 0.5], [4.0, 1.0]])
    assert all_crossed(TIME[:2], two, 0.9).time == pytest.approx(0.8)


def test_together_is_not_each_at_some_time():
    values = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert not all_crossed(TIME[:3], values, 0.5).reached


def test_plateau():
    value = np.array([0.7, 0.7, 0.69, 0.4, 0.1])
    assert plateau_end(TIME, value, 0.02).time == pytest.approx(2 + 0.01 / 0.29)
    assert not plateau_end(TIME, value, 0.7).reached


def test_extremes():
    value = np.array([0.0, 3.0, 1.0, -1.0, 0.5])
    assert extreme(TIME, value) == Detected(1.0)
    assert extreme(TIME, value, "least") == Detected(3.0)
    assert extreme(TIME, TIME) == Detected(4.0, "at the last record")


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="one value"):
        crossing(TIME, TIME[:2], 0.5)
    with pytest.raises(ValueError, match="'up' or 'down'"):
        crossing(TIME, TIME, 0.5, direction="sideways")  # type: ignore[arg-type]
