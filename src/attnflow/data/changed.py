"""Tasks whose samples are those of another task, changed."""

import abc
from typing import Any

import jax
from jaxtyping import Array

from attnflow.data.sequences import Sequences

# What a change draws must be independent of what the task draws with the same key.
OWN_STREAM = 101


class AbstractChanged(abc.ABC):
    """A task around another one, which is its field `task`.

    The other task draws what it would draw by itself, so that runs with and without the
    change compare sample by sample.
    """

    task: Any

    @abc.abstractmethod
    def changed(self, data: Sequences, *, key: Array | None) -> Sequences:
        """Samples of the other task after the change; `key` is for what it draws."""

    @abc.abstractmethod
    def changed_test(self, data: Sequences, *, key: Array | None) -> Sequences:
        """Test samples of the other task likewise."""

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return self.task.random

    @property
    def symmetry(self) -> None:
        """None: orbits of the other task are refused."""
        return None

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """The samples."""
        return self.changed(self.task.sequences(key=key), key=_own(key))

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Samples to test on, where the other task has some."""
        data = self.task.test_sequences(key=key)
        return None if data is None else self.changed_test(data, key=_own(key))


def _own(key: Array | None) -> Array | None:
    return None if key is None else jax.random.fold_in(key, OWN_STREAM)


def refuse_orbits(task: Any, what: str) -> None:
    """Raise where a task gives one sample per orbit of a symmetry."""
    if task.symmetry is not None:
        raise ValueError(
            f"{type(task).__name__} gives one sample per orbit of a symmetry, of which "
            f"{what} knows nothing. Use all samples, as by population='exact'."
        )


def refuse_columns(data: Sequences, what: str) -> None:
    """Raise where data tell sums of coordinates in the place of vectors."""
    if data.columns is not None:
        raise ValueError(
            f"These data tell what a sign step adds to each token and not the tokens' "
            f"coordinates, to which {what} would add some. Use explicit vectors."
        )
