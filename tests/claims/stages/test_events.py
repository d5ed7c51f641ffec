import json
from dataclasses import replace

import numpy as np
import pytest

from attnflow.claims.stages import (
    Stage,
    first_crossing,
    largest_at,
    order_gap,
    select,
    settled,
    stage_table,
)
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.settings import UnknownName
from tests.claims.stages.runs import make_run

RUN = make_run()


def test_each_seed_has_its_time_or_its_reason():
    event = first_crossing(RUN, "growth", level=2.0)
    assert event.seeds == (0, 1, 2)
    np.testing.assert_allclose(event.times, [2.0, 4.0, np.nan])
    assert event.reached == (True, True, False)
    assert event.median == pytest.approx(4.0)
    assert event.spread == pytest.approx((2.0, 4.0))
    assert "not reached in 1 of 3 seeds (seed 2" in event.note
    assert "up to time 5" in event.note


def test_the_median_counts_seeds_that_did_not_get_there():
    assert first_crossing(RUN, "growth", level=6.0).median is None
    assert first_crossing(RUN, "growth", level=6.0).spread is None
    alone = first_crossing(RUN.isel(seed=[2]), "growth", level=6.0)
    assert alone.note == "not reached: at most 1.667 up to time 5, below 6"


def test_the_mask_counts_where_values_do_not_say():
    run = RUN.copy(deep=True)
    run["growth"] = run["growth"].fillna(100.0)
    assert not first_crossing(run, "growth", level=2.0).reached[2]


def test_selection_by_text_and_by_series():
    by_text = first_crossing(
        RUN, "loss_by_group[conflicting]", level=0.5, direction="down"
    )
    series = select(RUN, "loss_by_group[conflicting]")
    by_series = first_crossing(RUN, series, level=0.5, direction="down")
    assert by_text.detected == by_series.detected
    assert by_text.times[0] == pytest.approx(4 * np.log(2), abs=1e-2)
    flipped = first_crossing(RUN, series.transpose("time", "seed"), level=2.0)
    assert len(flipped.detected) == 3


def test_derived_series():
    largest = abs(RUN["score"]).max(("head", "key"))
    event = first_crossing(RUN, largest.rename("largest"), level=2.0)
    np.testing.assert_allclose(event.times, [2.0, 4.0, np.nan])
    assert event.name == "largest"


def test_the_other_detectors_see_the_same_seeds():
    assert settled(RUN, "growth", level=2.0).times[1] == pytest.approx(4.0)
    late = largest_at(RUN, "growth")
    np.testing.assert_allclose(late.times, [10.0, 10.0, 5.0])
    assert late.note == "at the last record"


def test_a_series_of_more_dims_is_refused():
    with pytest.raises(ValueError, match=r"still has the dims \['key'\]"):
        first_crossing(RUN, "score[+]", level=1.0)
    with pytest.raises(ValueError, match="with seed and time"):
        first_crossing(RUN, "end_time", level=1.0)
    with pytest.raises(UnknownName):
        first_crossing(RUN, "grow", level=1.0)


def test_order_of_events():
    early = first_crossing(RUN, "growth", level=0.5, name="early")
    late = first_crossing(RUN, "growth", level=2.0, name="late")
    gaps = np.array([np.log(4), np.log(4), np.nan])
    np.testing.assert_allclose(order_gap([early, late]), gaps)
    np.testing.assert_allclose(order_gap([late, early]), -gaps)
    with pytest.raises(ValueError, match="two events"):
        order_gap([early])


ONSET = Stage(
    "onset",
    "growth",
    "growth reaches 1/2",
    level=0.5,
    formula=lambda setting: FormulaTime(5 * setting["omega"]),
)


def test_a_stage_is_data_and_a_detector():
    np.testing.assert_allclose(ONSET(RUN).times, [0.5, 1.0, 1.5])
    by_function = replace(ONSET, series=lambda run: run["growth"] * 2, name="twice")
    np.testing.assert_allclose(by_function(RUN).times, [0.25, 0.5, 0.75])
    by_setting = replace(ONSET, level=lambda setting: 20 * setting["omega"])
    np.testing.assert_allclose(by_setting(RUN).times, [2.0, 4.0, np.nan])


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"detector": "last", "level": 2.0}, 2.0),
        ({"detector": "settled", "level": 2.0}, 2.0),
        ({"detector": "all", "series": "score[+]", "level": 1.0}, 2.0),
        ({"detector": "plateau", "level": 1.0}, 1.0),
        ({"detector": "largest"}, 10.0),
        ({"detector": "least"}, 0.0),
        ({"series": "loss_by_group[consistent]", "direction": "down"}, np.log(2)),
    ],
)
def test_the_detectors_of_a_stage(changes, first):
    stage = replace(ONSET, **changes)
    assert stage(RUN).times[0] == pytest.approx(first, abs=1e-2)


def test_all_entries_of_the_own_dims():
    together = replace(ONSET, detector="all", series="score[+]", level=1.0)
    event = together(RUN)
    np.testing.assert_allclose(event.times, [2.0, 4.0, np.nan])
    assert not any(replace(together, series="score")(RUN).reached)
    magnitude = replace(together, series=lambda run: abs(run["score"]))
    np.testing.assert_array_equal(magnitude(RUN).times, event.times)


def test_a_run_that_stops_at_the_level_reaches_it_at_its_end():
    run = RUN.isel(seed=[2]).assign(growth_at_end=(("seed", "stage"), [[2.0]]))
    stage = replace(ONSET, level=2.0)
    assert not stage(run).reached[0]
    assert replace(stage, at_end=True)(run).times.tolist() == [10.0]
    with pytest.raises(ValueError, match="give a selector"):
        replace(ONSET, series=lambda run: run["growth"], at_end=True)


def test_stage_table():
    never = Stage("never", "growth", "growth reaches 99", level=99.0)
    reason = FormulaTime(None, "the formula needs ω < 0")
    silent = replace(ONSET, name="silent", formula=lambda setting: reason)
    absent = replace(ONSET, name="absent", series="speed")
    first, second, third, last = stage_table(RUN, [ONSET, never, silent, absent])
    assert first.formula == pytest.approx(0.5)
    assert first.detected == pytest.approx(1.0)
    assert first.spread == pytest.approx((0.5, 1.5))
    assert second.detected is None
    assert "not reached in 3 of 3 seeds" in second.note
    assert third.formula is None and "the formula needs ω < 0" in third.note
    assert last.detected is None and "speed not recorded" in last.note
    for row in (first, second, third, last):
        json.dumps(vars(row), allow_nan=False)


# Holes


def holed(low, high):
    inside = (RUN["time"] >= low) & (RUN["time"] <= high)
    return RUN.assign(growth=RUN["growth"].where(~inside))


def test_unknown_records_before_a_crossing_give_no_time():
    """The level may have been reached where nothing is known."""
    event = first_crossing(holed(1.0, 3.0), "growth", level=2.0)
    assert not event.reached[0]
    assert "may lie where the series is not known, from time 1 to 3" in event.note
    assert not event.detected[0].known


def test_unknown_records_after_a_crossing_do_not_matter():
    event = first_crossing(holed(3.0, 5.0), "growth", level=2.0)
    assert event.times[0] == pytest.approx(2.0)


def test_unknown_records_leave_open_whether_a_level_is_reached():
    event = first_crossing(holed(3.0, 5.0), "growth", level=99.0)
    assert [d.known for d in event.detected] == [False, False, False]
    known = first_crossing(RUN, "growth", level=99.0)
    assert [d.known for d in known.detected] == [True, True, True]


@pytest.mark.parametrize(
    ("stage", "hole"),
    [
        (replace(ONSET, detector="last", level=2.0), (6.0, 7.0)),
        (replace(ONSET, detector="settled", level=2.0), (6.0, 7.0)),
        (replace(ONSET, detector="plateau", level=1.0), (0.0, 0.2)),
        (replace(ONSET, detector="largest"), (1.0, 2.0)),
        (replace(ONSET, detector="settled", level=2.0), (10.0, 10.0)),
    ],
)
def test_no_detector_looks_across_a_hole(stage, hole):
    assert stage(RUN).reached[0]
    assert np.isnan(stage(holed(*hole)).times[0])
