"""Statistics of runs, against values that are known; those of papers."""

import numpy as np
import pytest
import xarray as xr

from attnflow.schema.declarations import Statistic
from attnflow.sweeps import Cell, PaperStatistic, parse_statistic
from attnflow.sweeps.statistic import check_statistics
from attnflow.sweeps.sweep import plan_sweep
from tests.toy import make_run

CELL = Cell({}, (0, 1))
HERE = "tests.sweeps.test_statistic"
RUN = xr.Dataset({"loss": (("seed", "time"), [[2.0, 1.0], [3.0, np.inf]])})


def power_law(power=-0.5, count=50):
    """Losses 3 t^power and 5 t^power in two seeds, and exp(−t/50) as another series."""
    run = make_run().drop_dims("time")
    time = np.geomspace(1.0, 1000.0, count)
    loss = np.array([[3.0], [5.0]]) * time**power
    run = run.assign_coords(time=time)
    run["loss"] = (("seed", "time"), loss)
    run["decay"] = (("seed", "time"), np.exp(-np.array([time, 2 * time]) / 50))
    run["recorded"] = (("seed", "time"), np.ones((2, count), bool))
    run["pair"] = (("seed", "time", "token"), np.stack([loss, 2 * loss], axis=-1))
    return run


def computed(text, run=None):
    return parse_statistic(text).of(power_law() if run is None else run, CELL)[text]


def test_last_values():
    np.testing.assert_allclose(computed("loss"), np.array([3.0, 5.0]) * 1000**-0.5)
    np.testing.assert_allclose(computed("pair[common]"), 2 * computed("loss"))
    np.testing.assert_array_equal(computed("end_time"), [10.0, 10.0])


def test_values_at_the_end_of_the_stage_that_was_the_last():
    run = make_run(seeds=(0, 1, 2)).drop_vars("loss")
    run["loss_at_end"] = (("seed", "stage"), [[1.0, 2.0], [3.0, 4.0], [5.0, np.inf]])
    run["stage_end"] = (("seed", "stage"), [[5.0, 9.0], [6.0, 6.0], [5.0, 9.0]])
    run["end_time"] = ("seed", [9.0, 6.0, 9.0])
    losses = parse_statistic("loss").of(run, Cell({}, (0, 1, 2)))["loss"]
    np.testing.assert_array_equal(losses, [2.0, 3.0, np.nan])


def test_times_to_a_level():
    # 3 t^-1/2 = 1 at t = 9, 5 t^-1/2 = 1 at t = 25; 50 records per 3 decades are
    # interpolated linearly, which on a ratio of 1.15 is right to half a percent.
    np.testing.assert_allclose(computed("loss@1"), [9.0, 25.0], rtol=5e-3)
    rising = power_law(power=0.5)
    np.testing.assert_allclose(computed("loss@15", rising), [25.0, 9.0], rtol=5e-3)
    assert np.isnan(computed("loss@0.01")).all()


def test_slopes():
    np.testing.assert_allclose(computed("loss~loglog"), -0.5, rtol=1e-12)
    np.testing.assert_allclose(computed("decay~log"), [-1 / 50, -1 / 25], rtol=1e-12)
    # Within 5% of t = 950 the slope of t^-1/2 changes by 8%, evenly to both sides.
    window = computed("loss~linear:902..998", power_law(count=500))
    exact = -0.5 * np.array([3.0, 5.0]) * 950**-1.5
    np.testing.assert_allclose(window, exact, rtol=0.01)
    assert np.isnan(computed("loss~loglog:1..1.2")).all()
    negative = power_law()
    negative["loss"] = -negative["loss"]
    assert np.isnan(computed("loss~log", negative)).all()


def test_extremes():
    run = power_law()
    np.testing.assert_allclose(computed("loss^max", run), [3.0, 5.0])
    np.testing.assert_allclose(computed("loss^min", run), computed("loss", run))
    assert parse_statistic("loss^max").outline.has_series
    # What was not recorded is no extreme.
    run["loss"][0, 0] = np.nan
    second = 3 * float(run["time"][1]) ** -0.5
    np.testing.assert_allclose(computed("loss^max", run), [second, 5.0])


def test_what_is_read():
    assert parse_statistic("loss_by_group[common]@0.1").outline.reads == (
        "loss_by_group",
    )
    assert not parse_statistic("loss").outline.has_series
    assert (
        parse_statistic("loss@0.1").outline.has_series
        and parse_statistic("loss~log").outline.has_series
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "measures nothing"),
        ("loss@", "measures nothing"),
        ("loss@low", "'low' in the place of a number"),
        ("loss@0.1@0.2", "measures nothing"),
        ("loss~logog", "Did you mean 'loglog'"),
        ("loss^mx", "Did you mean 'max'"),
        ("loss~log:10..1", "ends before it begins"),
        ("loss~log:a..b", "'a' in the place of a number"),
        ("loss by group", "selects no series"),
    ],
)
def test_mistakes_are_explained(text, said):
    with pytest.raises(ValueError, match=said):
        parse_statistic(text)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="name one entry"):
        computed("pair")
    with pytest.raises(ValueError, match="Did you mean 'loss'"):
        computed("los")
    with pytest.raises(ValueError, match="Nothing is measured"):
        check_statistics([])
    with pytest.raises(ValueError, match="twice"):
        check_statistics([parse_statistic("loss"), parse_statistic("loss")])


def fall(run):
    return run["loss"][:, 0] - run["loss"][:, -1]


def whole(run):
    return float(run["loss"].sum())


def paper_statistic(function, code="c"):
    return PaperStatistic(Statistic("fall", "…", f"{HERE}:{function}", ("loss",)), code)


def test_a_paper_computes_a_number_for_each_seed():
    falls = paper_statistic("fall").of(RUN, CELL)["fall"]
    # What is not finite is none.
    np.testing.assert_array_equal(falls, [1.0, np.nan])
    assert (
        paper_statistic("fall").outline.reads == ("loss",)
        and paper_statistic("fall").outline.has_series
    )


def test_other_code_is_another_statistic():
    pairs = [("fall", "a"), ("fall", "b"), ("whole", "a")]
    identities = {paper_statistic(*pair).outline.identity for pair in pairs}
    assert len(identities) == 3


def test_one_number_for_all_seeds_is_refused():
    with pytest.raises(ValueError, match="one number for each seed"):
        paper_statistic("whole").of(RUN, CELL)


def test_papers_have_theirs_by_name():
    plan = plan_sweep("signgd/disjoint", {"embed": "500,1000"}, measure="stage_gap")
    (gap,) = plan.statistics
    assert isinstance(gap, PaperStatistic)
    assert gap.statistic.function == "attnflow.papers.signgd.statistics:stage_gap"
    assert set(gap.outline.columns) == {"stage_gap"}
