"""The transformer of paper D by PyTorch beside ours, step by step, in every form."""

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from attnflow.experiments import members, run
from attnflow.papers.vit import PAPER
from tests.core import some_slow
from tests.oracle import vit_torch

pytestmark = pytest.mark.cpus

SEED = 3
FORMS = ("weights", "transport", "gram", "tokens")
SIZES: dict[str, Any] = {
    "samples": 4,
    "length": 4,
    "embed": 48,
    "key_width": 24,
    "value_width": 12,
    "sigma_strong": 1.0,
    "test_samples": 6,
    "classes": "equal",
    "steps": 400,
    "dense": 400,
}
SEEN = ("loss", "test_loss", "score", "value")
NAMES = ("W_Q", "W_K", "W_V")


def plan(form, **changes):
    recipe = PAPER.recipe("figure1")
    setting = recipe.with_overrides({**SIZES, "form": form, "record": SEEN, **changes})
    return recipe.experiment(setting)


def raw(data):
    return np.asarray(data.tokens)[np.asarray(data.key)], np.asarray(data.label)


def ours(weights):
    """The same weights in our shapes, `(heads, width, embed)`."""
    made = {name: weights[name].T[None] for name in NAMES}
    return {**made, "w_O": weights["w_O"][None]}


def relative(found, wanted):
    """The largest error of an entry over the largest entry of the whole run."""
    return np.abs(found - wanted).max() / np.abs(wanted).max()


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize(
    ("form", "readout"),
    some_slow(
        product(FORMS, ("default16-trained", "default-fixed")),
        lambda form, readout: form == "weights" or readout == "default16-trained",
    ),
)
def test_ours_is_theirs_step_by_step(form, readout):
    made = plan(form, readout=readout, snr=12.0)
    data = members.samples_of(made, SEED, None)
    other = members.test_samples_of(made, SEED, None)
    weights = vit_torch.draw_weights(embed=48, key_width=24, value_width=12, seed=SEED)
    if readout == "default-fixed":
        weights["w_O"] *= 16
    course = vit_torch.train(
        weights,
        raw(data),
        raw(other),
        rate=0.1,
        steps=400,
        trained=readout.endswith("trained"),
        target=0.01,
    )
    found = run(made, weights=ours(weights), seeds=[SEED])
    steps = len(course.loss) - 1
    # Long enough for the loss to fall to its target, where both stop.
    assert float(found["end_time"][0]) == steps and 5 < steps < 400
    seen = {n: found[n].values[0, : steps + 1] for n in SEEN}
    keys = np.asarray(data.key)
    table = seen["score"][:, 0]
    pairs = table[:, keys[:, None, :], keys[:, :, None]]
    errors = {
        "loss": relative(seen["loss"], course.loss),
        "test_loss": relative(seen["test_loss"], course.test_loss),
        "score": relative(pairs, course.score),
        "value": relative(seen["value"][:, 0][:, keys], course.value),
    }
    # Three ulps of each step: ten times what we met.
    assert max(errors.values()) <= 3 * np.finfo(float).eps * steps, errors


def test_the_oracles_gradient_is_that_of_a_difference():
    """On one entry of each weight: h = 1e-6 leaves 1e-9 of the central difference."""
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((3, 4, 10)), np.array([1.0, -1.0, 1.0])
    weights = vit_torch.draw_weights(
        embed=10, key_width=6, value_width=5, divisor=1.0, seed=0
    )
    moved = vit_torch.train(
        weights, (x, y), (x, y), rate=1.0, steps=1, trained=True
    ).weights
    samples = tuple(torch.tensor(a) for a in (x, y))
    for name, weight in weights.items():
        place = (2,) * weight.ndim
        losses = []
        for sign in (1, -1):
            shifted = {n: torch.tensor(w) for n, w in weights.items()}
            shifted[name][place] += sign * 1e-6
            losses.append(vit_torch.mean_loss(shifted, *samples).item())
        slope = (losses[0] - losses[1]) / 2e-6
        assert weight[place] - moved[name][place] == pytest.approx(slope, abs=1e-8)


def test_initial_weights_are_pytorchs_over_sixteen():
    made = vit_torch.draw_weights(embed=400, key_width=50, value_width=30, seed=1)
    for name, fan_in in (("W_Q", 400), ("W_K", 400), ("W_V", 400), ("w_O", 30)):
        bound = 1 / np.sqrt(fan_in) / 16
        assert 0.9 * bound < np.abs(made[name]).max() <= bound


def test_a_fixed_readout_stays():
    draw = np.random.default_rng(0)
    samples = draw.standard_normal((2, 3, 40)), np.array([1.0, -1.0])
    start = vit_torch.draw_weights(embed=40, key_width=5, value_width=3, seed=1)
    course = vit_torch.train(start, samples, samples, rate=0.1, steps=2, trained=False)
    np.testing.assert_array_equal(course.weights["w_O"], start["w_O"])
    for name in NAMES:
        assert not np.array_equal(course.weights[name], start[name])
