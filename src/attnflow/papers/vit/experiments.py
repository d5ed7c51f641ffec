"""From the settings of `vit` to experiments of the core."""

import math
from typing import Any

import numpy as np

from attnflow.data.noisy_patches import NoisyPatchesTask
from attnflow.experiments import Builder, Computation, Experiment
from attnflow.models.forms import Chain, Initial, Vector
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.papers.vit import settings
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import GradientDescent

BUILD = Builder("vit", "vit2024")


def train(setting: settings.Train) -> Experiment:
    """Section 6 and Appendix A: weights as PyTorch draws them."""
    size = sizes(setting)
    return _experiment(
        setting,
        size,
        task=_task(
            setting,
            size,
            projected=setting.projected,
            draw=setting.draw,
            shown=setting.shown,
            room=setting.room,
        ),
        initial=Initial(
            setting.key_width,
            size.sigma_h * math.sqrt(setting.key_width),
            _values(setting, size),
            law=setting.law,
        ),
    )


def theory(setting: settings.Theory) -> Experiment:
    """The theory's own sizes, where neither d nor d_h has vectors.

    With ‖w_O‖ = 1 fixed, the values move as those of one vector do.
    """
    size = sizes(setting)
    return _experiment(
        setting,
        size,
        task=_task(setting, size, draw="sampled"),
        initial=Initial(
            setting.key_width,
            size.sigma_h * math.sqrt(setting.key_width),
            Vector(size.sigma_v),
            draw="bartlett",
        ),
    )


def phase_map(setting: settings.Map) -> Computation:
    """A cell for every number of samples and every SNR."""
    return BUILD.computation(setting, "attnflow.papers.vit.maps:phase_map")


def _values(setting: settings.Train, size: Sizes) -> Chain:
    """W_V, and w_O in one of its readings."""
    width = setting.value_width
    # Where its norm is to be 1, w_O is half +1/√d_v and half −1/√d_v: its direction
    # is nothing to normal W_V, and next to nothing to uniform ones.
    unit = setting.readout == "unit-fixed"
    return Chain(
        width,
        size.sigma_v,
        output_scale=math.sqrt(size.gain / width),
        trained=size.trained,
        law=setting.law,
        output="banks" if unit else "law",
    )


def _task(
    setting: settings.Train | settings.Theory, size: Sizes, **rest: Any
) -> NoisyPatchesTask:
    return NoisyPatchesTask(
        samples=size.samples,
        length=size.length,
        embed=size.embed,
        signal=size.signal,
        weak=size.weak,
        strong=size.strong,
        classes=setting.classes,
        cells=setting.cells,
        test_samples=setting.test_samples,
        **rest,
    )


def recorded_steps(setting: settings.Train | settings.Theory) -> tuple[float, ...]:
    """Each step up to `dense`, and then fewer and fewer; without records the last."""
    if not setting.records:
        return (float(setting.steps),)
    first = min(max(setting.dense, 1), setting.steps)
    late = np.rint(np.geomspace(first, setting.steps, setting.records))
    kept = {*range(first + 1), *late.astype(int).tolist()}
    return tuple(float(step) for step in sorted(kept))


def _experiment(
    setting: settings.Train | settings.Theory, size: Sizes, **parts: Any
) -> Experiment:
    until = Reach("loss", size.target, float(setting.steps), "down")
    left_out = () if setting.test_samples else ("test_",)
    return BUILD.experiment(
        setting,
        problem=Problem(Linear(1), Logistic()),
        stages=(Stage(GradientDescent(size.learning_rate), until),),
        grid=Grid(points=recorded_steps(setting)),
        observables=tuple(n for n in setting.record if not n.startswith(left_out)),
        form=setting.form,
        **parts,
    )
