"""Labels with noise, in a training set or in a whole population."""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data.changed import AbstractChanged
from attnflow.data.sequences import Sequences

Twins = tuple[np.ndarray, np.ndarray]
PER_SAMPLE = ("key", "mass", "query", "query_weight", "label", "group", "payload")


@dataclass(frozen=True)
class NoisyLabels(AbstractChanged):
    """Samples of another task, whose labels are wrong for some time or by some amount.

    **Arguments:**

    - `task`: the other task. Its test samples keep their labels.
    - `flip`: the probability with which a label has the other sign.
    - `deviation`: the standard deviation of what is added to labels.

    In a drawn training set labels are drawn once. In a population every sample is
    there with each of its labels, by their probabilities: a flip makes two of it, and
    so does an addition, of `±deviation`. Under the squared loss that is the population
    for additions of every law with this deviation. Noise that is drawn afresh at each
    step of a descent is `Batches(…, flip=…)`.
    """

    task: Any
    flip: float = 0.0
    deviation: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.flip <= 1:
            raise ValueError(
                f"flip is {self.flip}: a probability lies in [0, 1]. Use flip=0.1."
            )
        if not 0 <= self.deviation < float("inf"):
            raise ValueError(
                f"deviation is {self.deviation}: a standard deviation is finite and "
                "not negative. Use deviation=0.1."
            )

    @property
    def symmetry(self) -> Any:
        """That of the other task: labels of one orbit are wrong alike."""
        return self.task.symmetry

    def changed(self, data: Sequences, *, key: Array | None) -> Sequences:
        """The samples with their noisy labels."""
        if self.task.random:
            assert key is not None
            return replace(data, label=self._drawn(data.label, key))
        for chance, label in self._twins(data.label):
            data = _doubled(data, chance, label)
        return data

    def changed_test(self, data: Sequences, *, key: Array | None) -> Sequences:
        """Test samples as they are."""
        return data

    def _drawn(self, label: Array, key: Array) -> Array:
        keys = jax.random.split(key)
        wrong = jax.random.bernoulli(keys[0], self.flip, label.shape)
        added = self.deviation * jax.random.normal(keys[1], label.shape, jnp.float64)
        return jnp.where(wrong, -label, label) + added

    def _twins(self, label: Array) -> list[tuple[float, Twins]]:
        """Chances of the second of two labels, noise by noise."""
        made, own = [], np.asarray(label)
        if self.flip:
            made.append((self.flip, (own, -own)))
            own = np.concatenate([own, -own])
        if self.deviation:
            made.append((0.5, (own + self.deviation, own - self.deviation)))
        return made


def _doubled(data: Sequences, chance: float, labels: Twins) -> Sequences:
    """Every sample twice, with one of two labels each."""
    arrays = {name: getattr(data, name) for name in PER_SAMPLE}
    twice = {n: np.concatenate([a, a]) for n, a in arrays.items() if a is not None}
    weight = np.asarray(data.probability)
    twice["label"] = np.concatenate(labels)
    twice["probability"] = np.concatenate([(1 - chance) * weight, chance * weight])
    return replace(data, **{n: jax.device_put(a) for n, a in twice.items()})
