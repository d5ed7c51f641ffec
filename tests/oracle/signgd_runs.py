"""Runs of the transformer of paper C by ours and by PyTorch, from the same start."""

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import attnflow
from attnflow.data import SignalNoiseTask
from attnflow.experiments import Experiment
from attnflow.experiments.members import samples_of, test_samples_of
from attnflow.models.forms import Chain, ClassMeans, Initial
from attnflow.models.problem import Linear, Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import GradientDescent, SignGD
from tests.oracle import signgd_torch

NEURONS, WIDTH, SCALE, SEED, RATE = 4, 8, 0.1 / 60**0.5, 0, 1e-3
SEEN = ("key_neuron", "query_neuron", "value")
TASK = SignalNoiseTask(samples=6, embed=60, support=12, test_samples=30)
SMALL = replace(TASK, samples=4, embed=30, support=8)

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "heads": {"heads": 2},
    "trained head": {"trained_head": True},
    "long": {"task": replace(TASK, length=10, support=3)},
    "dense": {"task": replace(TASK, support=30, orthogonal=False)},
}


def plan(rule, until, *, task=TASK, heads=1, trained_head=False, **changes):
    """The experiment; weights are given when it is run."""
    values = ClassMeans(NEURONS, SCALE)
    if trained_head:
        values = Chain(2 * NEURONS, SCALE, 1 / NEURONS, output="banks")
    made = Experiment(
        "signgd",
        "oracle",
        {},
        task=task,
        problem=Problem(Linear(heads)),
        initial=Initial(width=WIDTH, omega=SCALE * WIDTH**0.5, values=values),
        stages=(Stage(rule, until),),
        grid=Grid(points=(0.0, float(until))),
        observables=("loss", "test_loss", "test_accuracy", *SEEN),
    )
    return replace(made, **changes)


def start(task, heads=1, trained_head=False):
    """Initial weights by PyTorch's names."""
    made = signgd_torch.draw_weights(
        embed=task.embed, width=WIDTH, neurons=NEURONS, scale=SCALE, heads=heads
    )
    return signgd_torch.with_trained_head(made) if trained_head else made


def ours(weights):
    """PyTorch's weights by our names: a trained head has its banks in a row."""
    if "theta" not in weights:
        return weights
    made = {name: weights[name] for name in ("W_K", "W_Q")}
    heads, _, neurons, embed = weights["W_V"].shape
    made["W_V"] = weights["W_V"].reshape(heads, 2 * neurons, embed)
    return {**made, "w_O": weights["theta"].reshape(heads, -1)}


class Samples(NamedTuple):
    """Raw tokens and labels; shown tokens, and which of them x is up to its sign."""

    x: np.ndarray
    y: np.ndarray
    shown: np.ndarray
    place: np.ndarray
    sign: np.ndarray


@functools.cache
def samples(task):
    """The samples that a run of the seed has."""
    with attnflow.precise():
        data = samples_of(plan(SignGD(RATE), 1, task=task), SEED, None)
        tokens, key = np.asarray(data.tokens), np.asarray(data.key)
        place = np.array([data.names.index(name.lstrip("-")) for name in data.names])
        sign = np.array([-1.0 if name[0] == "-" else 1.0 for name in data.names])
        shown = tokens[list(data.shown)]
        return Samples(
            tokens[key], np.asarray(data.label), shown, place[key], sign[key]
        )


@functools.cache
def fresh_samples(task):
    """Raw tokens and labels of the test samples that a run of the seed has."""
    with attnflow.precise():
        data = test_samples_of(plan(SignGD(RATE), 1, task=task), SEED, None)
        assert data is not None
        return np.asarray(data.tokens)[np.asarray(data.key)], np.asarray(data.label)


def update(rule):
    """A rule as PyTorch's loop takes it."""
    if isinstance(rule, SignGD):
        return signgd_torch.sign_descent(rule.learning_rate)
    if isinstance(rule, GradientDescent):
        return signgd_torch.descent(rule.learning_rate)
    return signgd_torch.adam(rule.learning_rate, rule.beta1, rule.beta2, rule.epsilon)


@functools.cache
def theirs(rule, steps, every, task=TASK, heads=1, trained_head=False):
    """What PyTorch has at the recorded steps."""
    data = samples(task)
    course = signgd_torch.train(
        start(task, heads, trained_head),
        data.x,
        data.y,
        update(rule),
        steps=steps,
        every=every,
    )
    seen = signgd_torch.on_tokens(course.weights, data.shown)
    tests = signgd_torch.judged(course.weights, *fresh_samples(task))
    return {"loss": course.loss, **tests, **seen}
