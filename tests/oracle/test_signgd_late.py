"""Signs that are certain, and Adam by many digits, beside ours where autograd fails."""

import functools
from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest

pytest.importorskip("torch")
mpmath = pytest.importorskip("mpmath")

from attnflow.data import SignalNoiseTask  # noqa: E402
from attnflow.experiments import run  # noqa: E402
from attnflow.models.forms import ClassMeans, Initial  # noqa: E402
from attnflow.training.rules import Adam, SignGD  # noqa: E402
from tests.core import mostly_slow, some_slow  # noqa: E402
from tests.oracle import exact_signs, signgd_torch  # noqa: E402
from tests.oracle.signgd_runs import (  # noqa: E402
    RATE,
    SEED,
    SEEN,
    SMALL,
    TASK,
    VARIANTS,
    plan,
    samples,
    start,
    update,
)

pytestmark = pytest.mark.cpus


def exact_step(seen, data, rate):
    """Where one exact step of SignGD leads, from recorded products."""
    keys, queries, value = (data.sign * seen[name][..., data.place] for name in SEEN)
    signs = exact_signs.signs_of_products(keys, queries, value, data.x, data.y)
    # Both banks of value neurons move, so that their difference moves twice.
    moves = (signs["W_K"], signs["W_Q"], 2 * signs["W_V"][:, 0])
    return {
        name: seen[name] - rate * move @ data.shown.T
        for name, move in zip(SEEN, moves, strict=True)
    }


def distance_from_exact(times, *, rate=RATE, task=TASK, weights=None, **changes):
    """By time: the largest error of one step taken there, and what may be rounding."""
    at = sorted({t + step for t in times for step in (0, 1)})
    made = plan(SignGD(rate), at[-1], task=task, **changes)
    found = run(made, weights=weights, seeds=[SEED], at=at)

    def seen(time):
        return {name: found[name].sel(time=time).values[0] for name in SEEN}

    gaps, data = [], samples(task)
    for time in times:
        wanted, then = exact_step(seen(time), data, rate), seen(time + 1)
        gaps.append(max(np.abs(wanted[n] - then[n]).max() for n in SEEN))
    largest = max(float(np.abs(found[name]).max()) for name in SEEN)
    # A sum over all coordinates may round as often.
    rounding = task.embed * np.finfo(float).eps * largest
    # What one wrong sign would cost at least.
    assert 2 * rate * np.abs(data.shown[data.shown != 0]).min() > 1000 * rounding
    return np.array(gaps), rounding


LATE = (300, 700, 3000)


FAST = {"coordinates": ("heads", "dense"), "signs": ("plain", "long")}


@pytest.mark.parametrize(
    ("form", "variant"),
    some_slow(
        product(FAST, ("plain", "heads", "long", "dense")),
        lambda form, variant: variant in FAST[form],
    ),
)
def test_signs_are_exact_where_autograd_loses_them(form, variant):
    """Attention to signals falls to e^-1100, and every sign is still right."""
    variation = {"task": TASK, **VARIANTS[variant]}
    gaps, rounding = distance_from_exact(
        LATE, weights=start(**variation), form=form, **variation
    )
    assert gaps.max() <= rounding


def test_plain_weights_lose_signs_there():
    gaps, rounding = distance_from_exact(LATE, weights=start(TASK), form="weights")
    assert gaps[0] <= rounding
    assert gaps[1:].min() > RATE


@pytest.mark.slow
@pytest.mark.paper
def test_signs_are_exact_at_the_papers_sizes():
    """Row (a) of Table 3 at d = 2000: all of some 220,000 signs, at three steps."""
    scale = 0.1 / 2000**0.5
    initial = Initial(width=100, omega=10 * scale, values=ClassMeans(20, scale))
    gaps, rounding = distance_from_exact(
        (300, 1000, 2000), rate=1e-4, task=SignalNoiseTask(), initial=initial
    )
    assert gaps.max() <= rounding


@functools.cache
def exact_course(rate, steps):
    """Products with tokens at every step, by interval arithmetic."""
    data, weights = samples(SMALL), start(SMALL)
    head, course = signgd_torch.fixed_head(weights), []
    for _ in range(steps + 1):
        course.append(signgd_torch.on_tokens(weights, data.shown))
        signs = exact_signs.signs_of_weights(weights, head, data.x, data.y)
        weights = {name: w - rate * signs[name] for name, w in weights.items()}
    return {name: np.stack([seen[name] for seen in course]) for name in SEEN}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["coordinates", "signs", "weights"])
def test_a_whole_course_by_exact_signs(form):
    """Every step of 500, far beyond where autograd on plain weights loses signs."""
    rate, steps = 3e-3, 500
    made = plan(SignGD(rate), steps, task=SMALL, form=form)
    found = run(made, weights=start(SMALL), seeds=[SEED], at=range(steps + 1))
    gaps = [
        np.abs(found[name].values[0] - wanted).max() / np.abs(wanted).max()
        for name, wanted in exact_course(rate, steps).items()
    ]
    exact = max(gaps) <= 3 * np.finfo(float).eps * steps
    assert exact == (form != "weights"), gaps


def precise_adam(weights, data, rule, steps):
    """Weights after steps of Adam with many digits; 0 / 0 is no step."""
    head = signgd_torch.fixed_head(weights)
    state = {name: _numbers(w) for name, w in weights.items()}
    first = {name: 0 * w for name, w in state.items()}
    second = dict(first)
    b1, b2, rate = (mpmath.mpf(v) for v in (rule.beta1, rule.beta2, rule.learning_rate))
    for step in range(1, steps + 1):
        found = exact_signs.gradients_of_weights(state, head, data.x, data.y)
        for name in state:
            first[name] = b1 * first[name] + (1 - b1) * found[name]
            second[name] = b2 * second[name] + (1 - b2) * found[name] ** 2
            moved = first[name] / (1 - b1**step)
            size = _root(second[name] / (1 - b2**step)) + rule.epsilon
            state[name] = state[name] - rate * _ratio(moved, size)
    return {name: w.astype(float) for name, w in state.items()}


_numbers = np.vectorize(mpmath.mpf, otypes=[object])
_root = np.vectorize(mpmath.sqrt, otypes=[object])
_ratio = np.vectorize(lambda a, b: a / b if b else b, otypes=[object])


@pytest.mark.parametrize("epsilon", mostly_slow([0.0, 1e-15], 0.0))
def test_adam_where_gradients_underflow(epsilon):
    """From weights at which some gradients are 1e-433, by many digits."""
    data, rule, steps = samples(SMALL), Adam(RATE, 0.5, 0.9, epsilon), 5
    late = signgd_torch.train(
        start(SMALL), data.x, data.y, update(SignGD(0.01)), steps=400, every=400
    )
    weights = {name: rows[-1] for name, rows in late.weights.items()}
    autograd = signgd_torch.gradients(weights, data.x, data.y)["W_Q"]
    assert (autograd[..., (data.shown != 0).any(axis=0)] == 0).any()
    with mpmath.workprec(5000):
        end = precise_adam(weights, data, rule, steps)
    wanted = signgd_torch.on_tokens(end, data.shown)
    made = plan(rule, steps, task=SMALL, form="coordinates")
    warned = pytest.warns(UserWarning, match="outweighs") if epsilon else nullcontext()
    with warned:
        found = run(made, weights=weights, seeds=[SEED], at=[steps])
    for name in SEEN:
        gap = np.abs(found[name].values[0, 0] - wanted[name]).max()
        assert gap <= SMALL.embed * np.finfo(float).eps * np.abs(wanted[name]).max()
