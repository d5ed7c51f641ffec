"""Numbers and shapes: no number of any experiment compiles anything."""

import dataclasses

import pytest

from attnflow.experiments import run
from attnflow.papers.base import paper
from attnflow.schema.settings import numbers
from attnflow.training.system import compile_events

SLOW = pytest.mark.slow
SIGNS = {"embed": 200, "steps": 40, "samples": 6, "support": 20, "test_samples": 4}
FLOW = {"records": 7, "until": 100.0}
# One experiment of each kind of setting and of system, at sizes that compile soon.
SMALL = {
    "cooccurrence/figure1": {"steps": 60.0, "records": 7, "test_samples": 20},
    "cooccurrence/theory": {"records": 7, "horizon": 50.0, "test_samples": 20},
    "cooccurrence/quotient": {"records": 7, "horizon": 1000.0},
    "mixture/figure1": {"steps": 60.0, "records": 7},
    "mixture/flow": {"steps": 10.0, "records": 7},
    "mixture/three-stage": {"records": 7},
    "mixture/stage1": {"records": 7},
    "signgd/setting-a": SIGNS,
    "signgd/adam": SIGNS,
    "signgd/gd": SIGNS,
    "signgd/lattice": {"records": 21, "horizon": 3.0},
    "vit/appendix-benign": {
        **{"samples": 4, "embed": 64, "steps": 60, "test_samples": 4},
        **{"dense": 10, "records": 10, "target": 0.6},
    },
    "vit/theory-benign": {"steps": 60, "dense": 10, "records": 10},
    "scansnap/figure3": FLOW,
    "scansnap/figure3-q": FLOW,
    "scansnap/figure3-c": FLOW,
    "scansnap/syn-small-flow": FLOW,
    "scansnap/classes": FLOW,
    "scansnap/figure4-left": {"steps": 6},
    "scansnap/figure5": {"steps": 6},
}
FAST = ("mixture/figure1", "vit/theory-benign", "scansnap/figure4-left")


def other(value):
    """A value near this one that every field of its kind allows."""
    return value + 2 if isinstance(value, int) else 0.93 * value or 0.01


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAST else SLOW) for n in SMALL]
)
def test_no_number_compiles_anything(name):
    slug, id = name.split("/")
    recipe = paper(slug).recipe(id)
    setting = recipe.with_overrides(SMALL[name])
    run(recipe.experiment(setting))
    values = {n: getattr(setting, n) for n in numbers(setting)}
    changes = {n: other(v) for n, v in values.items() if isinstance(v, int | float)}
    assert changes
    before = compile_events()
    run(recipe.experiment(setting), seeds=(3,))
    assert compile_events() == before, "another seed"
    for field, value in changes.items():
        changed = dataclasses.replace(setting, **{field: value})
        run(recipe.experiment(changed))
        assert compile_events() == before, f"{field}={value}"


def test_numbers_are_floats_and_declared_integers():
    setting = paper("mixture").recipe("figure1").setting
    named = numbers(setting)
    assert {"width", "omega", "steps", "bias", "rtol"} <= set(named)
    assert not {"K", "L", "batch", "records", "rule", "record", "form"} & set(named)
