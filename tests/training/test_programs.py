"""Programs that are compiled with less effort compute the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers import paper
from attnflow.training import descent, flows
from attnflow.training.programs import Effort, Program, size_of


def test_each_effort_is_a_program_of_its_own():
    traces = []

    def double(x):
        traces.append(x.shape)
        return 2 * x

    program = Program(double)
    for effort in (*Effort, *Effort):
        np.testing.assert_array_equal(program(effort, np.arange(3.0)), [0, 2, 4])
    assert traces == [(3,)] * 3


def test_effort_follows_from_sizes_and_steps():
    assert size_of({"a": np.ones((2, 3)), "b": 1.0}, None, np.ones(4)) == 11
    assert descent._effort(None, 10, 1000) is Effort.LEAST
    assert descent._effort(None, 100, 10**7) is Effort.LESS
    assert descent._effort(None, 2000, 1000) is Effort.LESS
    assert descent._effort(None, 2000, 10**7) is Effort.FULL
    assert descent._effort(SimpleNamespace(in_products=True), 2000, 10**7) is (
        Effort.LESS
    )


def _course(recipe, effort, monkeypatch, **changes):
    """A run whose programs are compiled with one effort, whatever they are."""
    for module, name in ((descent, "_advance"), (flows, "_flow")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda _, *args, real=real: real(effort, *args)
        )
    course = run(recipe.experiment(recipe.with_overrides(changes)), seeds=(0, 1))
    monkeypatch.undo()
    return course


@pytest.mark.parametrize(
    ("id", "changes", "tolerance"),
    [
        ("figure1", {"steps": 400, "records": 20}, 1e-12),
        # Rounding moves the solver's steps, of which each errs by its tolerance.
        pytest.param(
            "flow",
            {"steps": 40.0, "records": 20, "rtol": 1e-10},
            1e-10,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_whole_course_is_the_same(id, changes, tolerance, monkeypatch):
    recipe = paper("mixture").recipe(id)
    full = _course(recipe, Effort.FULL, monkeypatch, **changes)
    for effort in (Effort.LEAST, Effort.LESS):
        other = _course(recipe, effort, monkeypatch, **changes)
        for name in ("loss", "score", "value"):
            error = np.abs(other[name] - full[name]).max()
            assert error <= tolerance * np.abs(full[name]).max()
