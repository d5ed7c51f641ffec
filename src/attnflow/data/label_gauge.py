"""Samples of signal and noise tokens, over a vocabulary in label gauge.

A sample with label y holds `y·mu` and noise tokens; `mu` and every `y·noise` come first
in the vocabulary, then those opposites that samples with label −1 hold.
"""

import math
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import Array

from attnflow.data.sequences import Sequences, sequences

Classes = Literal["equal", "drawn"]


def check_counts(samples: int, test_samples: int, classes: Classes) -> None:
    """Refuse numbers of samples that cannot be drawn."""
    if classes not in ("equal", "drawn"):
        raise ValueError(f"classes is {classes!r}: use 'equal' or 'drawn'.")
    if classes == "equal" and (samples < 2 or samples % 2):
        raise ValueError(
            f"samples is {samples}; equal classes need an even number, 2 at least. "
            f"Use samples={max(samples + samples % 2, 2)}, or classes='drawn'."
        )
    if samples < 1:
        raise ValueError(f"samples is {samples}: draw at least 1.")
    if test_samples < 0:
        raise ValueError(f"test_samples is {test_samples}: use 0 for none, or more.")


def check_noise(noise: float | None) -> None:
    """Refuse a standard deviation with which there is no noise."""
    if noise is not None and not 0 < noise < math.inf:
        raise ValueError(
            f"noise is {noise}; the standard deviation of a noise coordinate must be "
            "positive and finite, for noise tokens would vanish otherwise. Leave it "
            "out for 2/sqrt(support)."
        )


class DrawnNoise:
    """What tasks of signal and drawn noise share; they have these fields."""

    support: int
    noise: float | None

    @property
    def deviation(self) -> float:
        """Standard deviation of a noise coordinate: tokens of norm 2 unless given."""
        return 2 / math.sqrt(self.support) if self.noise is None else self.noise

    @property
    def symmetry(self) -> None:
        """A drawn training set has no symmetry."""
        return None

    @property
    def random(self) -> bool:
        """The noise depends on the seed."""
        return True


def generator(key: Array | None) -> np.random.Generator:
    """A stream of random numbers from a key: no shape of it is compiled."""
    assert key is not None
    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def draw_labels(
    samples: int, classes: Classes, draw: np.random.Generator
) -> np.ndarray:
    """Labels: one half +1 and then the other −1, or each drawn for itself."""
    if classes == "equal":
        return np.repeat([1.0, -1.0], samples // 2)
    return draw.choice([1.0, -1.0], samples)


def in_label_gauge(
    gauged: np.ndarray,
    label: np.ndarray,
    *,
    signals: int,
    every_opposite: bool,
    columns: np.ndarray | None = None,
) -> Sequences:
    """Training samples from `gauged`, the rows `mu` and `y·noise` sample by sample.

    `every_opposite` puts opposites that no sample holds into the vocabulary too, so
    that it is the same for all drawn labels. `columns` are those of the gauged rows.
    """
    noises = (len(gauged) - 1) // len(label)
    owners = np.concatenate([[label.min()], np.repeat(label, noises)])
    opposite = np.flatnonzero(every_opposite | (owners < 0))
    place = np.zeros(len(gauged), int)
    place[opposite] = len(gauged) + np.arange(len(opposite))
    own = 1 + np.arange(len(label) * noises).reshape(len(label), noises)
    held = np.concatenate([np.zeros((len(label), signals), int), own], axis=1)
    names = ["mu", *noise_names(len(label), noises)]
    return sequences(
        np.concatenate([gauged, -gauged[opposite]]),
        np.where(label[:, None] > 0, held, place[held]),
        label,
        names=[*names, *(f"-{names[i]}" for i in opposite)],
        shown=range(len(gauged)),
        columns=None
        if columns is None
        else np.concatenate([columns, -columns[opposite]]),
    )


def fresh(
    tokens: np.ndarray, label: np.ndarray, *, signals: int, **rest: Any
) -> Sequences:
    """Test samples from the rows `mu`, `-mu` and their noise, sample by sample."""
    count = len(label)
    noises = (len(tokens) - 2) // count
    own = 2 + np.arange(count * noises).reshape(count, noises)
    signal = np.where(label[:, None] > 0, 0, 1).repeat(signals, axis=1)
    return sequences(
        tokens,
        np.concatenate([signal, own], axis=1),
        label,
        names=["mu", "-mu", *noise_names(count, noises)],
        shown=(0,),
        **rest,
    )


def noise_names(samples: int, noises: int) -> list[str]:
    """Names of noise tokens, numbered within a sample where it has several."""
    if noises == 1:
        return [f"noise{i + 1}" for i in range(samples)]
    return [f"noise{i + 1}.{j + 1}" for i in range(samples) for j in range(noises)]
