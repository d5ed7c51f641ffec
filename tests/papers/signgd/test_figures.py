"""Figures and tables: drawn, with numbers, and with sentences that can fail."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.figures.readings import fit_laws
from attnflow.papers.signgd.figures.table2 import PRINTED, sign_table
from attnflow.runner import Runner
from attnflow.store import Store
from tests.papers.exhibit_checks import check_drawn, check_seen, check_values
from tests.papers.signgd.courses import course

pytestmark = pytest.mark.filterwarnings(
    # Where ε outweighs the gradients is what some of the figures are about.
    "ignore::attnflow.experiment.swamping.EpsilonWarning"
)

FAST = {"table2"}
"""One short program to compile."""
EXHIBITS = [
    pytest.param(e.id, marks=[] if e.id in FAST else [pytest.mark.slow])
    for e in PAPER.exhibits
]


@pytest.fixture(scope="session")
def evidence_of(tmp_path_factory, worker_id):
    """Exhibit id → its runs for `--quick`, each of them made once by all workers."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    runner, made = Runner(Store(root / "signgd-runs"), quick=True), {}

    def gather(id):
        if id not in made:
            made[id] = runner.gather(PAPER, PAPER.exhibit(id).needs)
        return made[id]

    return gather


# Changes of a run, under some of which each thing that is seen must vanish.


def replaced(run, change, *names):
    """Some observables changed, in the records and at the ends."""
    both = [n for name in names for n in (name, f"{name}_at_end") if n in run]
    return run.assign({name: change(run[name]) for name in both})


def frozen(run):
    """Nothing moves: every record is the first one."""
    if "time" not in run.dims:
        return run.assign({name: 0 * run[name] for name in run.data_vars})
    changed = run.copy(deep=True)
    for name in map(str, run.data_vars):
        if "time" in run[name].dims and name != "recorded":
            first = run[name].isel(time=0, drop=True)
            changed[name] = first.broadcast_like(run[name]).transpose(*run[name].dims)
    return changed


def queries_negated(run):
    """Key and query noise are aligned where they were not."""
    return replaced(run, lambda table: -table, "query_neuron")


def another_clock(run):
    """Events in the same order, at other times."""
    if "time" not in run.dims:
        return run
    return run.assign_coords(time=np.sqrt(run["time"]))


def reversed_time(run):
    """What came last comes first."""
    if "time" not in run.dims:
        return run
    turned = run.isel(time=slice(None, None, -1))
    return turned.assign_coords(time=run["time"])


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


CHANGES = (
    frozen,
    queries_negated,
    another_clock,
    reversed_time,
    attention_mirrored,
    losses_squared,
    worse_tests,
    heads_apart,
    noise_smaller,
    precisions_exchanged,
)


@pytest.mark.parametrize("id", EXHIBITS)
def test_what_must_be_seen_is_seen_and_can_be_missing(id, evidence_of):
    check_seen(PAPER.exhibit(id), evidence_of(id), CHANGES)


@pytest.mark.parametrize("id", EXHIBITS)
def test_drawn_with_names_on_every_axis(id, evidence_of):
    check_drawn(PAPER.exhibit(id), evidence_of(id))


@pytest.mark.parametrize("id", EXHIBITS)
def test_values_are_numbers_and_hold_what_is_printed(id, evidence_of):
    check_values(PAPER.exhibit(id), evidence_of(id))


def test_each_exhibit_says_what_it_shows():
    ids = [exhibit.id for exhibit in PAPER.exhibits]
    assert ids[0] == PAPER.headline == "overview"
    assert len(set(ids)) == len(ids)
    for exhibit in PAPER.exhibits:
        assert exhibit.caption and exhibit.silent, exhibit.id


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


def test_laws_are_told_apart():
    times = np.linspace(1000.0, 2000.0, 51)
    falling = fit_laws(times, 3 * np.exp(-0.004 * times))
    assert falling.is_exponential
    assert falling.rate == pytest.approx(0.004, rel=1e-9)
    assert falling.exponential_rms < 1e-12 < falling.power_rms
    slow = fit_laws(times, 7 * times**-1.5)
    assert not slow.is_exponential
    assert slow.power == pytest.approx(1.5, rel=1e-9)


def test_listing_the_paper_draws_nothing():
    code = (
        "import sys, attnflow.papers.signgd\n"
        "print([n for n in ('matplotlib', 'diffrax') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_file_of_figures_is_used():
    package = importlib.import_module("attnflow.papers.signgd.figures")
    files = {p.stem for p in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    used = {name.rpartition(".")[2] for name in sys.modules if package.__name__ in name}
    assert files <= used
