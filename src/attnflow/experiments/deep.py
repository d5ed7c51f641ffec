"""A deep network on data, as the model of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import jax
import numpy as np
from jaxtyping import Array, ArrayLike, PyTree

from attnflow.experiments.record import Arrays
from attnflow.models.deep.layers import DrawnWeights, Network
from attnflow.models.deep.training import PARTS, Batch, DeepTraining, OutputLoss
from attnflow.observables.deep import DEEP
from attnflow.training.rules import Flow, GradientDescent, Rule, SignGD

_MODEL_STREAM = 1
"""Tells these streams of random numbers from those of a seed's data."""
_NAMES = {"token": "shown_names", "word": "words"}
"""The attribute of a task that has the labels of a dim."""


class _Samples(Protocol):
    """Samples: their tokens (vectors, or numbers of words) and their labels."""

    @property
    def tokens(self) -> ArrayLike: ...

    @property
    def label(self) -> ArrayLike: ...


class DeepTask(Protocol):
    """A distribution of samples for deep networks, as a frozen dataclass.

    A task may have `noisy`, which positions hold noise; `shown(seed)`, tokens on which
    observables of the first layer are computed, and their `shown_names`; and `words`,
    the words that its tokens are numbers of.
    """

    def training(self, seed: int) -> _Samples:
        """Samples to train on."""
        ...

    def test(self, seed: int) -> _Samples:
        """Samples to test on."""
        ...


@dataclass(frozen=True)
class DeepModel:
    """A deep network on a task, as the model of a `SystemExperiment`.

    **Arguments:**

    - `batch`: samples of a batch; none for all of them.
    - `in_turn`: batches take samples as they come, in every epoch alike; otherwise each
      epoch has an order of its own.
    - `steps` of training, for which batches are drawn; and one more, whose loss may be
      recorded at the end.
    - `scaled`: rescale forces, for rules that depend on signs alone.
    - `clip`: shorten gradients to this length.
    - `paces`: by the name of a first layer's weights among the values, what their rate
      is as a multiple of all others', for plain gradient descent.
    - `precision`: of weights and samples.
    """

    network: Network
    task: DeepTask
    loss: OutputLoss
    batch: int | None = None
    in_turn: bool = False
    steps: int = 0
    scaled: bool = False
    clip: float | None = None
    paces: tuple[tuple[str, float], ...] = ()
    precision: Literal["float64", "float32"] = "float64"
    system: ClassVar[str] = "all weights of a deep network"
    registry: ClassVar = DEEP

    def __post_init__(self) -> None:
        if self.clip is not None and not self.clip > 0:
            raise ValueError(
                f"clip is {self.clip}: gradients are shortened to a positive length, "
                "as in clip=0.5; leave it out to keep theirs."
            )

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Why these rules cannot be followed; `None` if they can."""
        if any(isinstance(rule, Flow) for rule in rules):
            return "Deep networks move by steps: use a rule of descent, not a Flow."
        if self.scaled and not all(isinstance(rule, SignGD) for rule in rules):
            return (
                "Rescaled forces change the length of a gradient, which only SignGD "
                "does not see: use scaled=False."
            )
        whole = [rule.name for rule in rules if rule.sees == "matrices"]
        if whole:
            return (
                f"{whole[0]} sees the matrices of a gradient, which deep networks hold "
                "layer upon layer: use another rule of descent."
            )
        if self.paces and not all(isinstance(rule, GradientDescent) for rule in rules):
            return (
                "A pace is a rate of its own under GradientDescent alone: use it, or "
                "no pace (hidden_rate=none)."
            )
        return None

    def form(self) -> tuple[str, str]:
        """Deep networks have no reduced form."""
        return "weights", "deep networks have no reduced form"

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Labels of the dims of observables."""
        labels = {
            "layer": tuple(str(k + 1) for k in range(self.network.layers)),
            "head": tuple(str(k + 1) for k in range(self.network.heads)),
        }
        of_task = {dim: getattr(self.task, name, None) for dim, name in _NAMES.items()}
        return labels | {dim: n for dim, n in of_task.items() if n is not None}

    def members(
        self, seeds: Sequence[int], weights: Arrays | None
    ) -> list[tuple[DeepTraining, dict[str, PyTree]]]:
        """The system and the initial state of each seed."""
        if weights is not None:
            raise ValueError(
                "Initial weights cannot be given to a deep network: leave out weights, "
                "and change its settings or the seed."
            )
        return [self._member(seed) for seed in seeds]

    def drift(self, system: PyTree, before: PyTree, after: PyTree) -> float:
        """Nothing is conserved: deep networks are trained by descent alone."""
        raise NotImplementedError("Deep networks have no flow.")

    def _member(self, seed: int) -> tuple[DeepTraining, dict[str, PyTree]]:
        weights, batches, drops = np.random.default_rng((seed, _MODEL_STREAM)).spawn(3)
        samples, test = self.task.training(seed), self.task.test(seed)
        shown = getattr(self.task, "shown", lambda seed: None)(seed)
        noisy = getattr(self.task, "noisy", None)
        system = DeepTraining(
            self.network,
            self.loss,
            self._batch(samples),
            self._batch(test),
            order=self._order(len(np.asarray(samples.label)), batches),
            dropping=_raw_key(drops) if getattr(self.network, "dropout", 0) else None,
            shown=None if shown is None else self._number(shown),
            noisy=None if noisy is None else jax.device_put(np.asarray(noisy, float)),
            scaled=self.scaled,
            clip=self.clip,
            paces=self.paces,
        )
        return system, self.begin(self.network.draw(weights))

    def begin(self, weights: DrawnWeights) -> dict[str, PyTree]:
        """The state before the first step."""
        parts = {name: jax.tree.map(self._number, weights[name]) for name in PARTS}
        return {**parts, "step": jax.device_put(np.asarray(0))}

    def _order(self, count: int, stream: np.random.Generator) -> Array | None:
        if self.batch is None:
            return None
        drawn = None if self.in_turn else stream
        return jax.device_put(epochs(count, self.batch, self.steps + 1, drawn))

    def _batch(self, samples: _Samples) -> Batch:
        return Batch(self._number(samples.tokens), self._number(samples.label))

    def _number(self, values: ArrayLike) -> Array:
        array = np.asarray(values)
        whole = np.issubdtype(array.dtype, np.integer)
        return jax.device_put(array if whole else array.astype(self.precision))


def epochs(
    count: int, batch: int, steps: int, stream: np.random.Generator | None
) -> np.ndarray:
    """Which samples each step takes: whole batches of all, epoch after epoch.

    Orders are drawn from the `stream`; without it samples come as they stand.
    """
    if not 0 < batch <= count:
        raise ValueError(
            f"batch is {batch}: there are {count} samples. Use 1 to {count}, or none "
            "for all samples in every step."
        )
    each = count // batch
    rounds = [
        np.arange(count) if stream is None else stream.permutation(count)
        for _ in range(-(-steps // each))
    ]
    kept = [order[: each * batch].reshape(each, batch) for order in rounds]
    return np.concatenate(kept)[:steps]


def _raw_key(stream: np.random.Generator) -> Array:
    return jax.device_put(stream.integers(2**32, size=2, dtype=np.uint32))
