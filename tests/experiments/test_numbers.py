"""Numbers and shapes: no number of any experiment compiles anything."""

import dataclasses
import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers.base import paper
from attnflow.schema.clock import compile_events
from attnflow.schema.settings import numbers
from attnflow.training import programs
from attnflow.training.programs import keeping, make_room
from attnflow.training.rules import (
    Adam,
    GradientDescent,
    Momentum,
    Muon,
    SignGD,
    joined,
    split,
)
from attnflow.training.rules.schedules import (
    AbstractSchedule,
    CosineDecay,
    LinearDecay,
    PowerDecay,
    StepDecay,
    Warmup,
)

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
FAST = ("mixture/figure1", "vit/theory-benign")


@pytest.fixture(autouse=True)
def room():
    """A process that other tests filled forgets programs now, not as we count."""
    make_room(0, 0)


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


def traced_again(name, elsewhere):
    """The programs of a run that are traced for another seed in another session.

    And whether its numbers are those of programs that are compiled anew.
    """
    traced, lower = [], programs._lower
    programs.WORTH = 0.0
    programs._lower = lambda *args: traced.append(args[0].__name__) or lower(*args)
    slug, id = name.split("/")
    recipe = paper(slug).recipe(id)
    setting = recipe.with_overrides(SMALL[name])
    with keeping("as it is"):
        run(recipe.experiment(setting))
        first = len(traced)
        assert first
        make_room(0, 0)
        kept = run(recipe.experiment(setting), seeds=(3,))
    again = traced[first:]
    make_room(0, 0)
    os.environ["ATTNFLOW_CACHE"] = elsewhere
    plain = run(recipe.experiment(setting), seeds=(3,))
    assert len(traced) > first + len(again)
    return again, kept.equals(plain)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAST else SLOW) for n in SMALL]
)
def test_another_session_traces_no_program(name, tmp_path):
    """Whatever a program is made of has a name: forms, rules, observables, events."""
    asked = f"{name!r}, {str(tmp_path / 'elsewhere')!r}"
    code = f"from {__name__} import traced_again; print(*traced_again({asked}))"
    kept = {"ATTNFLOW_CACHE": str(tmp_path / "kept"), "ATTNFLOW_TRACES": "kept"}
    # As in commands: checks inside of flows would call back.
    paths = {"EQX_ON_ERROR": "off", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **kept, **paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # A flow that solves linear equations calls LAPACK, which is loaded by lowering it.
    is_lowered = name == "scansnap/figure3-q"
    assert done.stdout == f"{['_flow_of_seeds'] if is_lowered else []} True\n"


def test_a_shape_compiles():
    """The counter counts: five tokens per sample are another program than three."""
    recipe = paper("mixture").recipe("figure1")
    before = compile_events()
    run(recipe.experiment(recipe.with_overrides({"L": 5, "steps": 60, "records": 7})))
    assert compile_events() > before


@pytest.mark.parametrize(
    "schedule",
    [
        LinearDecay(50.0),
        CosineDecay(50.0, 0.1),
        PowerDecay(20.0),
        StepDecay(10.0),
        Warmup(5.0, LinearDecay(50.0)),
    ],
)
@pytest.mark.parametrize("rule", [GradientDescent, Momentum, Adam, SignGD, Muon])
def test_a_rule_is_its_plain_form_and_its_numbers(rule, schedule):
    whole = rule(0.3, schedule=schedule)
    plain, numbers = split(whole)
    again = joined(plain, numbers)
    for step in (0, 3, 12, 70):
        step = jnp.asarray(step)
        np.testing.assert_allclose(again.pace(step), whole.pace(step), rtol=1e-15)
    other = dataclasses.replace(whole, learning_rate=0.7)
    assert split(other)[0] == plain and hash(split(other)[0]) == hash(plain)


def test_a_schedule_of_a_user_stays_as_it_is():
    class Halved(AbstractSchedule):
        def __init__(self, after):
            self.after = after

        def __call__(self, step):
            return jnp.where(step < self.after, 1.0, 0.5)

    schedule = Halved(10)
    plain, numbers = split(GradientDescent(0.1, schedule))
    assert plain.schedule is schedule and not numbers


def test_numbers_are_floats_and_declared_integers():
    setting = paper("mixture").recipe("figure1").setting
    named = numbers(setting)
    assert {"width", "omega", "steps", "bias", "rtol"} <= set(named)
    assert not {"K", "L", "batch", "records", "rule", "record", "form"} & set(named)
