"""Runs of any experiment without training: its names, dims and labels, other numbers.

Set-up is the experiment's own. What it would record is traced and not compiled, and
filled with numbers that fall with time, so that levels are crossed and no table is
empty.
"""

import contextlib
import zlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import equinox as eqx
import jax
import numpy as np

from attnflow.schema.dataset import Outcome
from attnflow.training import stages
from attnflow.training.stages import Grid, Reach
from attnflow.training.system import CODES, Leg

MOST = 60
"""Records at the beginning of a run, and as many of the rest."""
LAST = 1e-3
"""What is left of a number at the end."""
SIGNED = ("key_neuron", "query_neuron")
"""Observables whose signs are what is seen; numbers of others are positive."""

_times = Grid.times


def few_times(self: Grid, *, whole: bool) -> np.ndarray:
    """The first times, and some of the others up to the last."""
    times = _times(self, whole=whole)
    if len(times) <= 2 * MOST:
        return times
    rest = np.linspace(MOST, len(times) - 1, MOST).astype(int)
    return np.concatenate([times[:MOST], times[rest]])


def filled(name: str, shape: tuple[int, ...], fall: np.ndarray) -> np.ndarray:
    """Numbers of one observable by seed and time, the same each time."""
    seeds, *rest = shape
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    numbers = draw.uniform(0.3, 0.9, (seeds, 1, *rest))
    signs = draw.choice([-1.0, 1.0], numbers.shape)
    if name == "label":
        return np.repeat(signs, len(fall), axis=1)
    numbers = numbers * signs if name in SIGNED else numbers
    return numbers * fall.reshape(1, -1, *(1 for _ in rest))


_shapes: dict[Any, dict[str, Any]] = {}


def recorded_shapes(observe: Any, axes: Any, system: Any, state: Any) -> dict[str, Any]:
    """Shapes of what is recorded by seed, traced once for arrays of the same shapes.

    Were they others for another system of these, its Dataset would not be whole.
    """
    leaves = jax.tree_util.tree_leaves_with_path((system, state))
    key = observe, axes, str([(path, np.shape(x)) for path, x in leaves])
    if key not in _shapes:
        each = jax.vmap(observe, in_axes=(axes.tree(system), 0))
        # What is no array, such as the number of heads, stays what it is.
        _shapes[key] = eqx.filter_eval_shape(each, system, state)
    return _shapes[key]


def untrained(
    stage: Any,
    system: Any,
    axes: Any,
    state: Any,
    *,
    start: np.ndarray,
    times: np.ndarray,
    observe: Any,
    **others: Any,
) -> Leg:
    """A stage that ends when it should, in the state in which it began."""
    waits = isinstance(stage.until, Reach)
    until = stage.until.horizon / 2 if waits else float(stage.until)
    end = start + until if waits else np.maximum(until, start)
    shapes = recorded_shapes(observe, axes, system, state)
    fall = np.geomspace(1.0, LAST, len(times))
    rows = {name: filled(name, x.shape, fall) for name, x in shapes.items()}
    done = Outcome.EVENT if waits else Outcome.FINISHED
    return Leg(
        rows,
        state,
        end,
        {name: row[:, -1] for name, row in rows.items()},
        np.full(len(start), CODES.index(done)),
    )


@contextlib.contextmanager
def nothing_trains() -> Iterator[None]:
    """Runs are as above for a while, without limits of rates, and without drifts."""
    import attnflow.experiments as package

    run = package.run.__globals__
    with (
        mock.patch.object(stages, "_leg", untrained),
        mock.patch.object(Grid, "times", few_times),
        mock.patch.dict(
            run,
            rate_limit=lambda *_: "nothing is trained",
            drifts=lambda members, *_: np.zeros(len(members)),
        ),
    ):
        yield
