"""Experiments of `vit`, built from their settings."""

import math
from typing import Literal

import numpy as np

from attnflow.data.noisy_patches import NoisyPatchesTask
from attnflow.experiments import Builder, Computation, Experiment
from attnflow.models.forms import Chain, Initial, Vector
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.papers.vit import settings
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import trained_by

BUILD = Builder("vit", "vit2024")


def train(setting: settings.Train) -> Experiment:
    """Experiment of Section 6 or Appendix A, with PyTorch's initialisation."""
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
    """Experiment at the theory's sizes, where vectors in d or d_h are not stored.

    With ‖w_O‖ = 1 fixed, only the vector W_V w_O enters.
    """
    size = sizes(setting)
    return _experiment(
        setting,
        size,
        unit=setting.rate * size.least if size.flow else 1.0,
        task=_task(setting, size, draw="sampled"),
        initial=Initial(
            setting.key_width,
            size.sigma_h * math.sqrt(setting.key_width),
            Vector(size.sigma_v),
            draw="bartlett",
        ),
    )


def phase_map(setting: settings.Map) -> Computation:
    """Computation of Figure 1's map: a cell for each number of samples and SNR."""
    return BUILD.computation(setting, "attnflow.papers.vit.maps:phase_map")


def updates(setting: settings.Updates) -> Computation:
    """Computation of Appendix B's update rules beside autograd."""
    return BUILD.computation(setting, "attnflow.papers.vit.appendices:update_rules")


def draws(setting: settings.Draws) -> Computation:
    """Computation of how often Appendix C's bounds are violated."""
    return BUILD.computation(setting, "attnflow.papers.vit.appendices:initial_draws")


def _values(setting: settings.Train, size: Sizes) -> Chain:
    """Initial W_V and w_O, by the reading of w_O."""
    width = setting.value_width
    # With norm 1, half of w_O is +1/√d_v and half −1/√d_v: its direction does not
    # matter for normal W_V, and hardly for uniform ones.
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
    setting: settings.Train | settings.Theory,
    size: Sizes,
    *,
    draw: Literal["explicit", "sampled"],
    projected: bool = True,
    shown: Literal["all", "first"] = "all",
    room: int | None = None,
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
        draw=draw,
        projected=projected,
        shown=shown,
        room=room,
    )


def recorded_steps(setting: settings.Train | settings.Theory) -> tuple[float, ...]:
    """Steps to record: all up to `dense`, then log-spaced; the last if `records=0`."""
    if not setting.records:
        return (float(setting.steps),)
    first = min(max(setting.dense, 1), setting.steps)
    late = np.rint(np.geomspace(first, setting.steps, setting.records))
    steps = {*range(first + 1), *late.astype(int).tolist()}
    return tuple(float(step) for step in sorted(steps))


def _experiment(
    setting: settings.Train | settings.Theory,
    size: Sizes,
    *,
    task: NoisyPatchesTask,
    initial: Initial,
    unit: float = 1.0,
) -> Experiment:
    """Training by the setting's rule, whose `unit` is that of steps and records."""
    rule = trained_by(setting, learning_rate=size.learning_rate, interpolate=True)
    # A flow's crossing is known to 1e-13 of its time: its end is beyond ε, not above.
    level = size.target * (1 - 1e-9 * size.flow)
    until = Reach("loss", level, setting.steps * unit, "down")
    left_out = () if setting.test_samples else ("test_",)
    return BUILD.experiment(
        setting,
        problem=Problem(Linear(1), Logistic()),
        stages=(Stage(until=until, **rule),),
        grid=Grid(points=tuple(unit * step for step in recorded_steps(setting))),
        observables=tuple(n for n in setting.record if not n.startswith(left_out)),
        form=setting.form,
        task=task,
        initial=initial,
    )
