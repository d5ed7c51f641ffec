"""Conformance: a system that is written by hand, held to plain weights."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from attnflow.experiments import Experiment, SystemExperiment, run

Arrays = Mapping[str, np.ndarray]


def check_conformance(
    ours: Experiment | SystemExperiment,
    plain: Experiment | SystemExperiment,
    weights: Arrays,
    *,
    translate: Callable[[Arrays], Arrays] = dict,
    names: Sequence[str] = ("loss",),
    twins: int = 3,
) -> None:
    """Raise if a system deviates from plain weights anywhere along a trajectory.

    **Arguments:**

    - `ours`, `plain`: experiments with the same records; `plain` should have
      `form="weights"`, or be a `LossModel` that writes the loss out.
    - `weights`: initial weights of `plain`; `translate` makes those of `ours` of them.
    - `names`: what is compared, at every record.

    The bound is ten times the spread of `twins` of the plain run that start one ulp
    apart, and of one rounding: no computation in float64 can be asked for more.
    """
    reference = run(plain, weights=weights)
    found = run(ours, weights=translate(weights))
    others = [run(plain, weights=_one_ulp(weights, n)) for n in range(twins)]
    for name in names:
        size = float(np.abs(reference[name]).max())
        spread = np.max([_so_far(t[name], reference[name]) for t in others], axis=0)
        bound = 10 * np.maximum(spread, np.finfo(float).eps * size)
        error = _so_far(found[name], reference[name])
        worst = int((error / bound).argmax())
        assert (error <= bound).all(), (
            f"{name} is {error[worst]:.3g} from plain weights at the record "
            f"{reference['time'].values[worst]:g}, where twins one ulp apart allow "
            f"{bound[worst]:.3g}."
        )
        moved = np.abs(reference[name][0, -1] - reference[name][0, 0]).max()
        assert float(moved) > 1e3 * bound[-1], f"{name} hardly moves: train for longer."


def _so_far(one: object, other: object) -> np.ndarray:
    """The largest difference up to each record."""
    gap = np.abs(np.asarray(one)[0] - np.asarray(other)[0])
    return np.maximum.accumulate(gap.reshape(len(gap), -1).max(axis=1))


def _one_ulp(weights: Arrays, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {
        n: np.nextafter(w, np.where(draw.random(np.shape(w)) < 0.5, np.inf, -np.inf))
        for n, w in weights.items()
    }
