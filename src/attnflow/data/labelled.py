"""Samples as plain arrays, which networks of any depth read."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from attnflow.data.sequences import Sequences


class LabelledTokens(NamedTuple):
    """Samples: `tokens` (samples, length, …) and `label`."""

    tokens: np.ndarray
    label: np.ndarray


@dataclass(frozen=True)
class SequenceTokens:
    """A task of sequences, its samples spelled out token by token.

    Its shown tokens are those on which first layers are looked at.
    """

    task: Any

    def training(self, seed: int) -> LabelledTokens:
        """The samples to train on."""
        return _spelled(self._drawn(seed))

    def test(self, seed: int) -> LabelledTokens:
        """The samples to test on."""
        found = self.task.test_sequences(key=_key(seed, 2))
        if found is None:
            raise ValueError(
                "The task has no test samples: give it some, as in test_samples=100."
            )
        return _spelled(found)

    def shown(self, seed: int) -> np.ndarray:
        """AbstractPresentable tokens (tokens, embed)."""
        data = self._drawn(seed)
        return np.asarray(data.tokens)[list(data.shown)]

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The names of shown tokens, which are the same for every seed."""
        return tuple(self._drawn(0).shown_names)

    def _drawn(self, seed: int) -> Sequences:
        return self.task.sequences(key=_key(seed, 0))


def _spelled(data: Sequences) -> LabelledTokens:
    tokens = np.asarray(data.tokens)[np.asarray(data.key)]
    return LabelledTokens(tokens, np.asarray(data.label))


def _key(seed: int, stream: int) -> Any:
    # As shallow experiments number their streams, so that samples are theirs.
    return jax.random.fold_in(jax.random.key(seed), stream)
