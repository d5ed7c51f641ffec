"""Small experiments of the core, and the plain path beside them."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import equinox as eqx
import numpy as np
import pytest

from attnflow.data import MixtureTask
from attnflow.experiments import Experiment, run
from attnflow.models.forms import Initial
from attnflow.models.problem import Logistic, Problem, ReluPair
from attnflow.training import Grid, Stage
from attnflow.training.programs import Program
from attnflow.training.rules import Flow, GradientDescent

TABLES = ("loss", "score", "value")


def experiment(**changes: Any) -> Experiment:
    """Two groups, three tokens, both heads, gradient descent."""
    until = changes.pop("until", 200)
    rule = changes.pop("rule", GradientDescent(0.1))
    parts = {
        "task": MixtureTask(),
        "problem": Problem(ReluPair(0.5), Logistic()),
        "initial": Initial(width=16, omega=0.3),
        "stages": (Stage(rule, until),),
        "grid": Grid(stop=until, count=21),
        "observables": TABLES,
    }
    return Experiment("mixture", "test", {}, **{**parts, **changes})


def given_weights(seed: int = 0, width: int = 16, embed: int = 4) -> dict:
    """Weights with neurons that are not zero, so that nothing is symmetric."""
    draw = np.random.default_rng(seed)
    scale = 0.3 / np.sqrt(width)
    return {
        "W_K": scale * draw.standard_normal((2, width, embed)),
        "W_Q": scale * draw.standard_normal((2, width, embed)),
        "w": 0.1 * draw.standard_normal((2, embed)),
    }


def one_ulp(weights: dict, seed: int = 1) -> dict:
    """The weights with every entry one ulp up or down."""
    draw = np.random.default_rng(seed)
    return {
        name: np.nextafter(w, np.where(draw.random(w.shape) < 0.5, np.inf, -np.inf))
        for name, w in weights.items()
    }


def largest_difference(one: Any, other: Any, names: tuple = TABLES) -> np.ndarray:
    """The largest difference of two runs up to each recorded time, by observable."""
    found = []
    for name in names:
        difference = np.abs(one[name].values - other[name].values)[0]
        by_time = difference.reshape(len(difference), -1).max(axis=1)
        found.append(np.maximum.accumulate(by_time))
    return np.stack(found)


def allowed(
    weights: dict, data: dict | None = None, names: tuple = TABLES, **changes: Any
) -> tuple[Any, np.ndarray]:
    """The plain run and the design's tolerance at each time.

    Ten times the divergence of plain runs that start one ulp apart: no computation in
    float64 can be asked for more. The largest of three twins, since one may be lucky,
    and of one rounding of the observable itself, below which twins can coincide.
    """
    # Flows add the solver's own error, which is not rounding.
    assert not isinstance(changes.get("rule"), Flow)
    plan = experiment(form="weights", **changes)
    plain = run(plan, weights=weights, data=data)
    twins = [run(plan, weights=one_ulp(weights, n), data=data) for n in range(3)]
    spread = [largest_difference(plain, twin, names) for twin in twins]
    size = [float(np.abs(plain[name]).max()) for name in names]
    rounding = np.finfo(float).eps * np.array(size)[:, None]
    return plain, 10 * np.maximum(np.max(spread, axis=0), rounding)


STEP_ROUNDINGS = 128
"""Roundings in a row within a step of `experiment`, and what is recorded after it.

Sums have 8 terms of a score (twice the rank), 3 of a softmax and of what it reads, 72
of a force (8 samples, 9 pairs of tokens) and 8 of a move, which makes 94; what remains
is for exponentials, logarithms and products.
"""


def assert_same_to_rounding(
    found: Any, wanted: Any, *, roundings: int, steps: int = 1, scale: float = 0.0
) -> None:
    """What two programs say of one thing, which may differ by rounding alone.

    Only the same program owes the same bits: run twice, resumed, or read back. Another
    shape, another thing recorded beside it, another CPU make another program, whose
    sums have another order and whose products may or may not be fused with them.

    The bound: an operation rounds its result to eps/2 of it. Where n of them lie in a
    row between the state before a step and what is seen after it, and none of their
    results is larger than S, a program is n · S · eps/2 from the exact step, and two
    programs are n · S · eps from each other. A descent at a stable rate does not
    enlarge what it began with, so that after T steps they are T · n · S · eps apart.
    (Where it does, as at an edge or with a flow's solver, use `allowed`, which looks
    how far twins part, or the solver's tolerance.)

    - `roundings`: n, the terms of a step's sums along its longest path, and the rest.
    - `steps`: T; for one evaluation it is 1.
    - `scale`: S, where what is summed is larger than the largest sum.
    """
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape
    finite = np.isfinite(wanted)
    # No rounding makes a number of what is none, nor the other way round.
    np.testing.assert_array_equal(found[~finite], wanted[~finite])
    size = max(scale, float(np.max(np.abs(wanted[finite]), initial=0.0)))
    bound = steps * roundings * np.finfo(float).eps * size
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=0, atol=bound)


def assert_same_course(
    found: Any, wanted: Any, *, steps: int, names: tuple = TABLES
) -> None:
    """A course of `experiment` by two programs, over so many steps."""
    for name in names:
        assert_same_to_rounding(
            found[name], wanted[name], roundings=STEP_ROUNDINGS, steps=steps
        )


def mostly_slow(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Parameters of a test of which the ordinary run takes some, `make verify` all."""
    return [v if v in fast else pytest.param(v, marks=pytest.mark.slow) for v in values]


def some_slow(
    cases: Iterable[tuple[Any, ...]], is_fast: Callable[..., bool]
) -> list[Any]:
    """The same for several arguments: those of which `is_fast` says so are taken."""
    slow = pytest.mark.slow
    return [c if is_fast(*c) else pytest.param(*c, marks=slow) for c in cases]


@contextmanager
def mutated(owner: Any, name: str, mutant: Any) -> Iterator[None]:
    """Another method or number for a while, in programs that are compiled for it.

    jit would give back what it compiled for the unharmed one; to forget all programs
    would cost the tests that follow seconds each.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, mutant)
        for module, function, program in _programs():
            patch.setattr(module, function, _compiled_anew(program))
        yield


def _programs() -> list[tuple[Any, str, Any]]:
    """Our compiled functions: where they are, their names, and themselves."""
    compiled = (type(eqx.filter_jit(abs)), Program)
    ours = [m for name, m in sys.modules.items() if name.startswith("attnflow.")]
    return [
        (module, name, value)
        for module in ours
        for name, value in vars(module).items()
        if isinstance(value, compiled)
    ]


def _compiled_anew(program: Any) -> Callable[..., Any]:
    """The same function without what was compiled of it: jit looks at its identity."""
    if isinstance(program, Program):
        return Program(lambda *args: program.function(*args))
    function = program.__wrapped__
    return eqx.filter_jit(lambda *args: function(*args))
