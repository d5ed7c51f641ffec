"""A paper's own numbers as measures."""

import numpy as np
import pytest
import xarray as xr

from attnflow.schema.declarations import Quantity
from attnflow.sweeps import Cell, QuantityMeasure
from attnflow.sweeps.sweep import plan_sweep

HERE = "tests.sweeps.test_quantity"
CELL = Cell({}, (0, 1))
RUN = xr.Dataset({"loss": (("seed", "time"), [[2.0, 1.0], [3.0, np.inf]])})


def fall(run):
    return run["loss"][:, 0] - run["loss"][:, -1]


def whole(run):
    return float(run["loss"].sum())


def measure(function, code="c"):
    return QuantityMeasure(Quantity("fall", "…", f"{HERE}:{function}", ("loss",)), code)


def test_it_is_read_off_the_run_for_each_seed():
    found = measure("fall").of(RUN, CELL)["fall"]
    # What is not finite is none.
    np.testing.assert_array_equal(found, [1.0, np.nan])
    assert measure("fall").reads == ("loss",) and measure("fall").has_series


def test_other_code_is_another_quantity():
    assert measure("fall", "a").identity != measure("fall", "b").identity
    assert measure("fall").identity != measure("whole").identity


def test_one_number_for_all_seeds_is_refused():
    with pytest.raises(ValueError, match="one number for each seed"):
        measure("whole").of(RUN, CELL)


def test_papers_have_theirs_by_name():
    made = plan_sweep("signgd/disjoint", {"embed": "500,1000"}, measure="stage_gap")
    (found,) = made.sweep.measures
    assert isinstance(found, QuantityMeasure)
    assert found.quantity.function == "attnflow.papers.signgd.quantities:stage_gap"
    assert set(found.columns) == {"stage_gap"}
