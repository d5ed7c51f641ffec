"""Values of a run at times: what is not known stays unknown."""

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import look
from attnflow.claims.stages import first_crossing
from tests.claims.stages.runs import make_run

# growth is t, t/2, t/3; the records of seed 2 end at time 5, its end_time is 10.
RUN = make_run(time=np.arange(11.0))


@pytest.mark.parametrize(
    ("how", "values"),
    [
        ("before", [3.0, 1.5, 1.0]),
        ("nearest", [4.0, 2.0, 4 / 3]),
        ("linear", [3.6, 1.8, 1.2]),
    ],
)
def test_a_time_between_records_is_read_as_said(how, values):
    np.testing.assert_allclose(look.at(RUN, 3.6, "growth", how=how), values)


@pytest.mark.parametrize("how", ["before", "nearest", "linear"])
def test_on_a_record_all_readings_agree(how):
    np.testing.assert_allclose(look.at(RUN, 4.0, "growth", how=how), [4.0, 2.0, 4 / 3])


@pytest.mark.parametrize("how", ["before", "nearest", "linear"])
def test_a_time_that_was_never_reached_has_no_value(how):
    event = first_crossing(RUN, "growth", level=4.0)
    values = look.at(RUN, event, "growth", how=how)
    np.testing.assert_allclose(values, [4.0, 4.0, np.nan])
    for never in (np.nan, 10.5, -1.0):
        assert look.at(RUN, never, "growth", how=how).isnull().all()


def test_a_record_that_is_unknown_gives_no_value():
    run = RUN.assign(growth=RUN["growth"].where(RUN["time"] != 3.0))
    assert look.at(run, 3.2, "growth").isnull().all()
    assert look.at(run, 2.5, "growth", how="linear").isnull().all()
    assert look.at(run, 2.0, "growth", how="linear")[0] == 2.0


def test_behind_the_last_record_there_is_nothing_to_interpolate():
    """Seed 2 is known to have ended at 10, and has no record after 5."""
    assert look.at(RUN, 7.0, "growth")[2] == pytest.approx(5 / 3)
    assert np.isnan(look.at(RUN, 7.0, "growth", how="linear")[2])


def test_all_variables_along_time_at_once():
    values = look.at(RUN, np.array([1.0, np.nan, 3.0]))
    assert {"growth", "score"} <= set(values.data_vars)
    assert "end_time" not in values
    np.testing.assert_allclose(values["growth"], [1.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("closed", "times"),
    [
        ("both", [2, 3, 4]),
        ("left", [2, 3]),
        ("right", [3, 4]),
        ("neither", [3]),
    ],
)
def test_records_between_two_times(closed, times):
    mask = look.between(RUN, 2.0, 4.0, closed=closed)
    assert mask.dims == ("seed", "time")
    assert RUN["time"].values[mask[0].values].tolist() == times


@pytest.mark.parametrize("bounds", [(np.nan, 4.0), (2.0, np.nan), (2.0, 11.0)])
def test_no_records_are_meant_where_a_time_is_unknown(bounds):
    assert not look.between(RUN, *bounds).any()


def test_up_to_the_end_means_what_was_recorded():
    counts = look.between(RUN, 2.0, np.inf).sum("time")
    assert counts.values.tolist() == [9, 9, 4]


def test_the_worst_entry_of_each_seed():
    mask = look.between(RUN, 2.0, 5.0)
    assert look.least(RUN["growth"], mask).tolist() == [2.0, 1.0, pytest.approx(2 / 3)]
    assert look.largest(RUN["score"], mask)[0] == 5.0
    assert look.largest(xr.DataArray([1.0, 3.0], dims="entry")).tolist() == [3.0]


def test_a_maximum_over_an_unknown_record_is_unknown():
    run = RUN.assign(growth=RUN["growth"].where(RUN["time"] != 3.0))
    inside, outside = look.between(run, 2.0, 4.0), look.between(run, 4.0, 5.0)
    assert np.isnan(look.largest(run["growth"], inside)).all()
    assert np.isfinite(look.largest(run["growth"], outside)).all()
    nothing = look.between(run, np.nan, 4.0)
    assert np.isnan(look.least(run["growth"], nothing)).all()


def test_steps_and_their_mask():
    change = look.steps(RUN["growth"])
    assert change[0].values.tolist() == [1.0] * 10
    mask = look.both(look.between(RUN, 2.0, 4.0))
    assert change["time"].values[mask[0].values].tolist() == [2.0, 3.0]


def test_extents_do_not_skip_what_is_unknown():
    assert look.extent(np.array([3.0, 1.0, 2.0])) == [1.0, 2.0, 3.0]
    assert np.isnan(look.extent(np.array([3.0, np.nan]))).all()
