"""The form over tokens: tests beside it, its kernel, what it keeps, what it refuses."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from tests.core import (
    assert_same_to_rounding,
    largest_difference,
    mostly_slow,
    one_ulp,
)

from attnflow.data.noisy_patches import NoisyPatchesTask
from attnflow.experiments import Experiment, run
from attnflow.experiments.course import prepare
from attnflow.models.forms import Chain, Initial, Neurons, Vector, token_draws
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.observables.curvature import tangent_kernel
from attnflow.training import Grid, Reach, Stage, precise
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum

TASK = NoisyPatchesTask(
    samples=5, length=3, embed=40, signal=2.0, weak=0.2, strong=0.6, test_samples=4
)
SEEN = ("loss", "test_loss", "score", "value")
VALUES = {
    "vector": Vector(0.3),
    "fixed output": Chain(7, 0.3, 0.5, trained=False),
    "trained output": Chain(50, 0.1, 0.3),
    "neurons": Neurons(7, 4, 0.3, 0.3, 0.4, "law"),
}
RULES = {
    "descent": GradientDescent(0.2),
    "decay": Momentum(0.05, 0.7, weight_decay=0.05, nesterov=True),
}
pytestmark = [
    pytest.mark.cpus,
    pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning"),
]


def plan(form="tokens", values="vector", rule=RULES["descent"], **changes):
    """Narrow keys, of which all directions are trained, unless a width is given."""
    initial = Initial(changes.pop("width", 11), 0.4, VALUES[values], "weights")
    parts = {
        "task": TASK,
        "problem": Problem(Linear(2), Logistic()),
        "initial": initial,
        "stages": (Stage(rule, 100),),
        "grid": Grid(points=tuple(range(101))),
        "observables": SEEN,
        "form": form,
    }
    return Experiment("vit", "test", {}, **{**parts, **changes})


def weights_of(plan):
    from attnflow.models.forms.initial import draw_weights

    with precise():
        weights = draw_weights(plan.initial, 2, TASK.embed, key=jax.random.key(5))
        return {name: np.asarray(array) for name, array in weights.items()}


# At a width of 60 the 12 tokens begin in 24 directions, and the test in more.
@pytest.mark.parametrize(
    ("values", "rule", "width"),
    [
        pytest.param("vector", "decay", 60, marks=pytest.mark.slow),
        pytest.param("fixed output", "descent", 60, marks=pytest.mark.slow),
        ("trained output", "decay", 60),
        pytest.param("trained output", "descent", 11, marks=pytest.mark.slow),
        ("neurons", "decay", 11),
    ],
)
def test_tests_are_those_of_plain_weights(values, rule, width):
    parts = {"values": values, "rule": RULES[rule], "width": width}
    weights = weights_of(plan(**parts))
    plain = run(plan("weights", **parts), weights=weights)
    twins = [run(plan("weights", **parts), weights=one_ulp(weights, i)) for i in (1, 2)]
    ours = run(plan(**parts), weights=weights)
    assert abs(plain["test_loss"][0, -1] - plain["test_loss"][0, 0]) > 1e-3
    spread = np.max([largest_difference(plain, t, SEEN) for t in twins], axis=0)
    sizes = np.array([np.abs(plain[name].values).max() for name in SEEN])
    # Sums over coordinates come in other orders, and each step rounds anew.
    ulps = TASK.embed + 3 * np.arange(101)
    rounding = np.finfo(float).eps * sizes[:, None] * ulps
    allowed = np.maximum(10 * spread, rounding)
    ratio = largest_difference(plain, ours, SEEN) / allowed
    assert ratio.max() <= 1, ratio.max(axis=1)


def test_the_test_sees_more_than_the_directions_of_training(monkeypatch):
    """Without the part that does not move, the comparison above would fail."""
    parts = {"width": 60}
    weights = weights_of(plan(**parts))
    whole = run(plan(**parts), weights=weights)

    def nothing(*arguments):
        return 0 * beyond(*arguments)

    beyond = token_draws._beyond
    monkeypatch.setattr(token_draws, "_beyond", nothing)
    short = run(plan(**parts), weights=weights)
    # The same program on other numbers, none of which is one of training.
    np.testing.assert_array_equal(whole["loss"], short["loss"])
    assert np.abs(whole["test_loss"] - short["test_loss"]).max() > 1e-6


@pytest.mark.parametrize("values", VALUES)
def test_the_kernel_is_that_of_transport(values):
    rates = {"scores": 0.3, "values": 2.0}
    kernels = {}
    with precise():
        for form in ("tokens", "transport"):
            experiment = plan(form, values, task=replace(TASK, test_samples=0))
            experiment = replace(experiment, observables=("loss",))
            system, state = prepare(
                experiment, [3], None, weights_of(experiment)
            ).members[0]
            kernels[form] = np.asarray(tangent_kernel(system, state, rates=rates))
    size = np.abs(kernels["transport"]).max()
    np.testing.assert_allclose(kernels["tokens"], kernels["transport"], 0, 1e-13 * size)
    assert np.linalg.eigvalsh(kernels["tokens"]).min() > 0


WATCHED = (
    "pair_score",
    "pair_value",
    "test_margin",
    "test_attention",
    "test_pair_value",
    "key_square",
    "query_square",
    "key_weight_change",
    "query_weight_change",
    "readout_gain",
    "vocabulary_value",
    "pooled_token",
)


@pytest.mark.parametrize(
    "values", mostly_slow(["fixed output", "trained output"], "trained output")
)
def test_observables_are_those_of_plain_weights(values):
    parts = {"values": values, "width": 60, "observables": WATCHED}
    weights = weights_of(plan(**parts))
    plain, ours = (
        run(plan(form, **parts), weights=weights) for form in ("weights", "tokens")
    )
    for name in WATCHED:
        size = np.abs(plain[name].values).max()
        error = np.abs(plain[name].values - ours[name].values).max()
        # A hundred steps of three ulps, and the sums over coordinates.
        assert error <= 400 * np.finfo(float).eps * size, name
    assert (plain["key_weight_change"][0, -1] > 0).all()


def test_a_change_of_weights_is_not_told_under_decay():
    experiment = plan(rule=RULES["decay"], observables=("loss", "key_weight_change"))
    assert not run(experiment)["recorded"].values[0, 1:].any()


def test_settings_share_what_they_draw_and_nothing_else():
    """One seed at two sizes of the signal: the same from a fresh cache as in turns."""
    plans = [plan(task=replace(TASK, signal=size)) for size in (2.0, 3.0)]
    plans = [replace(p, initial=replace(p.initial, draw="auto")) for p in plans]
    in_turns = [run(p) for p in plans]
    token_draws._drawn.cache_clear()
    for experiment, before in zip(plans[::-1], in_turns[::-1], strict=True):
        again = run(experiment)
        token_draws._drawn.cache_clear()
        for name in SEEN:
            np.testing.assert_array_equal(again[name], before[name])
    assert not np.array_equal(in_turns[0]["loss"], in_turns[1]["loss"])


def test_the_law_of_a_draw_without_weights():
    """Scores of normal weights have variance |x|²|y|² omega⁴/width at the start."""
    initial = Initial(10**6, 0.5, Vector(0.0), "bartlett")
    task = replace(TASK, classes="equal", samples=4)
    experiment = plan(
        task=task,
        initial=initial,
        observables=("score",),
        grid=Grid(points=(0.0,)),
    )
    experiment = replace(experiment, stages=(Stage(GradientDescent(0.1), 1),))
    scores = run(experiment, seeds=range(40))["score"].values[:, 0]
    with precise():
        data = task.sequences(key=jax.random.key(0))
    noise = np.asarray(data.scale)[2:] ** 2 * (TASK.embed - 2)
    size = np.sqrt(noise[:, None] * noise) * 0.25 / 1e3
    ratio = scores[:, :, 2:, 2:] / size
    # 40 seeds × 2 heads × 100 pairs; squares of tokens themselves vary by a quarter.
    assert np.mean(ratio**2) == pytest.approx(1, abs=0.15)


def test_auto_takes_tokens_where_each_stands_in_one_sample():
    dataset = run(plan("auto"))
    assert dataset.attrs["form"] == "tokens"
    assert (
        run(
            plan(
                "auto",
                rule=Flow(),
                stages=(Stage(Flow(), 1.0),),
                grid=Grid(points=(0.0, 1.0)),
            )
        ).attrs["form"]
        == "transport"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": Adam(0.1)}, "does not commute with rotations"),
        ({"stages": (Stage(Flow(), 1.0),)}, "form='transport' or 'gram'"),
        (
            {"initial": Initial(11, 0.4, Neurons(7, 4, 0.3, 0.3, follow=True))},
            "not known to form='tokens'",
        ),
        ({"initial": Initial(11, 0.4, Vector(), merged=True)}, "merged"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(ValueError, match=message):
        run(plan(**changes))


def test_an_event_ends_a_descent_where_it_is_met():
    """At the first step whose loss is below the level, and not one beside it."""
    level = 0.4
    stages = (Stage(RULES["descent"], Reach("loss", level, 100.0, "down")),)
    dataset = run(plan(stages=stages))
    free = run(plan())
    loss = free["loss"].values[0]
    step = int(np.argmax(loss <= level))
    assert 2 < step < 99
    assert float(dataset["end_time"][0]) == step
    # To wait for an event is another program. A step sums over 40 coordinates, 11
    # directions of keys, 3 tokens and 5 samples of 9 pairs.
    assert_same_to_rounding(
        dataset["loss"].values[0, : step + 1],
        loss[: step + 1],
        roundings=2 * (40 + 11 + 3 + 45),
        steps=step,
    )
