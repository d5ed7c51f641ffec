import json

import numpy as np
import pytest

from attnflow.claims.stages import (
    StageRule,
    extreme_time,
    first_all,
    first_crossing,
    last_crossing,
    order,
    plateau_left,
    select,
    settled,
    stage_table,
)
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
    assert alone.note.startswith("not reached: does not reach 6")


def test_the_mask_counts_where_values_do_not_say():
    run = RUN.copy(deep=True)
    run["growth"] = run["growth"].fillna(100.0)
    assert not first_crossing(run, "growth", level=2.0).reached[2]


def test_selection_by_text_by_dim_and_by_series():
    by_dim = first_crossing(
        RUN, "loss_by_group", {"group": "conflicting"}, level=0.5, direction="down"
    )
    by_text = first_crossing(
        RUN, "loss_by_group[conflicting]", level=0.5, direction="down"
    )
    series = select(RUN, "loss_by_group[conflicting]")
    by_series = first_crossing(RUN, series, level=0.5, direction="down")
    assert by_dim.detected == by_text.detected == by_series.detected
    assert by_text.times[0] == pytest.approx(4 * np.log(2), abs=1e-2)
    flipped = first_crossing(RUN, series.transpose("time", "seed"), level=2.0)
    assert len(flipped.detected) == 3


def test_derived_series():
    largest = abs(RUN["score"]).max(("head", "key"))
    event = first_crossing(RUN, largest.rename("largest"), level=2.0)
    np.testing.assert_allclose(event.times, [2.0, 4.0, np.nan])
    assert event.name == "largest"


def test_all_entries_of_the_own_dims():
    event = first_all(RUN, "score[+]", level=1.0)
    np.testing.assert_allclose(event.times, [2.0, 4.0, np.nan])
    assert not any(first_all(RUN, "score", level=1.0).reached)
    magnitude = abs(RUN["score"])
    np.testing.assert_array_equal(
        first_all(RUN, magnitude, level=1.0).times, event.times
    )


def test_the_other_detectors_see_the_same_seeds():
    assert last_crossing(RUN, "growth", level=2.0).times[0] == pytest.approx(2.0)
    assert settled(RUN, "growth", level=2.0).times[1] == pytest.approx(4.0)
    assert plateau_left(RUN, "growth", tolerance=1.0).times[1] == pytest.approx(2.0)
    late = extreme_time(RUN, "growth")
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
    forwards, backwards = order([early, late]), order([late, early])
    assert forwards.names == ("early", "late")
    assert forwards.held == (True, True, False)
    assert forwards.gap == pytest.approx((np.log(4), np.log(4), -1.0))
    assert backwards.held == (False, False, False)
    assert backwards.gap == pytest.approx((-np.log(4), -np.log(4), -1.0))
    assert order([early, early]).held == (False, False, False)
    with pytest.raises(ValueError, match="two events"):
        order([early])


def test_stage_table():
    rules = [
        StageRule(
            "onset",
            lambda run: first_crossing(run, "growth", level=0.5),
            lambda setting: 5 * setting["omega"],
        ),
        StageRule("never", lambda run: first_crossing(run, "growth", level=99.0)),
        StageRule(
            "no formula here",
            lambda run: first_crossing(run, "growth", level=0.5),
            lambda setting: float("inf"),
        ),
    ]
    onset, never, silent = stage_table(RUN, rules)
    assert onset.formula == pytest.approx(0.5)
    assert onset.detected == pytest.approx(1.0)
    assert onset.spread == pytest.approx((0.5, 1.5))
    assert never.detected is None
    assert "not reached in 3 of 3 seeds" in never.note
    assert silent.formula is None
    for row in (onset, never, silent):
        json.dumps(vars(row), allow_nan=False)
