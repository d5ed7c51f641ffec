"""Functions of a run as programs: which are followed, and which are refused."""

import numpy as np
import pytest
import xarray as xr

from attnflow.browser.explorer import knobs
from attnflow.browser.explorer.statistics import Statistics
from attnflow.browser.explorer.variants import traced
from attnflow.browser.host import Instance
from attnflow.papers import paper
from attnflow.schema import setting_of


@pytest.fixture(scope="module")
def blank():
    """The set-up of an experiment, its setting and the names of its numbers."""
    recipe = paper("mixture").recipe("figure1")
    setting = recipe.with_overrides({"steps": 60.0, "records": 7})
    names = knobs.number_names(setting)
    found = traced(recipe, setting, names)
    return found.setup, setting, found.kept


@pytest.fixture
def statistics(blank):
    return Statistics(*blank, set())


def least_value(run):
    """The least value above that of the first record, plus a number of the setting."""
    value = run["value"]
    risen = value - value.isel(time=0, drop=True)
    signs = xr.apply_ufunc(np.sign, risen)
    return (signs * risen**2).min(("head", "token")) + setting_of(run)["bias"]


def test_a_function_of_the_first_and_the_present_record_is_followed(statistics):
    assert statistics.add(least_value) == (0, "")
    module, said = statistics.module()
    assert {read["observable"] for read in said["reads"]} == {"value"}
    draw = np.random.default_rng(3)
    shape = statistics.shapes["value"]
    rows = {"first": draw.normal(size=shape), "now": draw.normal(size=shape)}
    instance = Instance(module.module)
    (number,) = module.numbers
    assert number.name == "bias"
    instance.heap[number.cell] = 0.7
    for read, field in zip(said["reads"], module.arrays, strict=True):
        instance.heap[field.cells] = rows[read["record"]].ravel()
    instance.call("prepare")
    risen = rows["now"] - rows["first"]
    expected = (np.sign(risen) * risen**2).min() + 0.7
    assert instance.heap[module.outputs[0].cell] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda run: run["loss"].cumsum("time"), "several records"),
        (lambda run: run["loss"].diff("time"), "no value at each record"),
        (lambda run: run["loss"] * run["time"], "several records"),
        (lambda run: run["loss"].where(run["time"] > 30, 0.0), "several records"),
        (lambda run: np.log(run["loss"]) / run["loss"][:, -1], "several records"),
        (lambda run: run["loss"].max("time"), "no value at each record"),
        (lambda run: run["loss"] * run["loss"].values[0, 0], "plain numbers"),
        (lambda run: run["no_such"], "no_such"),
    ],
)
def test_what_reads_more_than_that_is_refused(statistics, function, words):
    number, why = statistics.add(function)
    assert number is None
    assert words in why
    assert statistics.module() is None


def test_a_number_that_is_branched_on_holds_where_it_is(statistics):
    def branching(run):
        return run["loss"] * (2.0 if setting_of(run)["bias"] > 0.1 else 3.0)

    assert statistics.add(branching)[0] == 0
    assert statistics.module()[1]["fixed"] == [{"bias": 0.5}]
