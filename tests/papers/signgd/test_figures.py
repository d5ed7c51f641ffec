"""Figures and tables: drawings, values, and sentences that can fail."""

from typing import ClassVar

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.figures.sign_tables import PRINTED, sign_table
from attnflow.schema import setting_of
from attnflow.testing import ExhibitProtocol, another_clock, frozen, replaced
from tests.papers.signgd.courses import course

pytestmark = pytest.mark.filterwarnings(
    # Where ε outweighs the gradients is what some of the figures are about.
    "ignore::attnflow.experiments.limits.EpsilonWarning"
)

FAST = {"table2"}
"""One short program to compile."""

# Changes of a run, under some of which each thing that is seen must vanish.


def queries_negated(run):
    """Key and query noise are aligned where they were not."""
    return replaced(run, lambda table: -table, "query_neuron")


def reversed_time(run):
    """What came last comes first."""
    if "time" not in run.dims:
        return run
    backwards = run.isel(time=slice(None, None, -1))
    return backwards.assign_coords(time=run["time"])


def attention_mirrored(run):
    """Signals and noise exchanged, as keys."""
    return replaced(run, lambda table: 1 - table, "attention")


def losses_squared(run):
    """Training and test losses fall twice as fast."""
    return replaced(run, lambda table: table**2, "loss", "test_loss")


def worse_tests(run):
    """Test losses larger than they are."""
    return replaced(run, lambda table: table + 0.1, "test_loss")


def heads_apart(run):
    """Other heads than the first attend half as much."""
    if run.sizes.get("head", 1) == 1:
        return run
    share = xr.where(np.arange(run.sizes["head"]) == 0, 1.0, 0.5)
    return replaced(run, lambda t: t * xr.DataArray(share, dims="head"), "attention")


def noise_smaller(run):
    """Inner products with noise far below those with the signal, from the start."""
    if "token" not in run.dims:
        return run
    scale = xr.where(run["token"] == "mu", 0.1, 1e-5)
    return replaced(run, lambda table: table * scale, "key_neuron", "query_neuron")


def precisions_exchanged(run):
    """Exact signs called float32, and the other way round."""
    if "precision" not in run.dims:
        return run
    return run.assign_coords(precision=run["precision"].values[::-1])


def nothing_counted(run):
    """Tables that are no courses are empty."""
    if "time" in run.dims:
        return run
    return run.assign({name: 0 * run[name] for name in run.data_vars})


def memories_apart(run):
    """Losses of optimisers with a longer memory are larger."""
    memory = setting_of(run).get("beta1") or 0.0
    return replaced(run, lambda table: table * (1 + memory), "loss")


CHANGES = (
    frozen,
    nothing_counted,
    queries_negated,
    another_clock,
    reversed_time,
    attention_mirrored,
    losses_squared,
    worse_tests,
    heads_apart,
    noise_smaller,
    precisions_exchanged,
    memories_apart,
)


class TestExhibits(ExhibitProtocol):
    slow: ClassVar = {exhibit.id for exhibit in PAPER.exhibits} - FAST
    changes = CHANGES
    # One seed and fewer images, on which gradient descent is best as printed.
    differ_in_full: ClassVar = {"figure2d"}


def test_the_headline_comes_first():
    assert PAPER.exhibits[0].id == PAPER.headline == "overview"


def test_printed_cells_are_those_of_2000_pairs():
    """Row sums 512, 507, 458, 523, as printed beside the cells."""
    assert np.sum(PRINTED, axis=1).tolist() == [512, 507, 458, 523]
    assert np.sum(PRINTED, axis=0).tolist() == [990, 17, 16, 977]


def test_sign_table_of_a_known_course():
    """Sample 0's keys cross zero at s + 1; the others' begin aligned and stay."""
    table = sign_table(course(seeds=2), step=5).isel(seed=1)
    # At step 5 the key of neuron 4 is exactly zero, and so in no class.
    assert float(table.sum()) == 39
    # Of the neurons that vote up, 0 and 2 have crossed, 6 and 8 have not.
    assert table.sel(before="K−Q+", after="K+Q+") == 2
    assert table.sel(before="K−Q+", after="K−Q+") == 2
