"""Initial tables, initial weights and batches of next-token training."""

from functools import lru_cache

import numpy as np
from jaxtyping import Array

from attnflow.data.class_counts import Counts, draw_counts, published_draws
from attnflow.data.sequence_classes import SequenceClasses
from attnflow.data.token_sequences import on_device
from attnflow.experiments.record import Arrays
from attnflow.models.forms.token_classes import TokenClassForm

STREAMS = ("data", "weights")


def generator_of(seed: int, stream: str) -> np.random.Generator:
    """One of the streams of random numbers of a seed."""
    return np.random.default_rng([seed, STREAMS.index(stream)])


def initial_tables(
    widths: dict[str, float], task: SequenceClasses, seed: int, drawn: Arrays | None
) -> dict[str, np.ndarray]:
    """Initial tables over all kinds, uniform on ± the widths; drawn already or not."""
    if drawn is not None:
        # The published layers are uniform on ±1/√M.
        unit = np.sqrt(task.vocabulary)
        return {name: w * unit * drawn[name] for name, w in widths.items()}
    generator = generator_of(seed, "weights")
    shape = (task.kinds, task.kinds)
    return {n: w * generator.uniform(-1, 1, shape) for n, w in widths.items()}


# A seed's draws serve all learning rates of a sweep.
@lru_cache(maxsize=64)
def batches(
    task: SequenceClasses, seed: int, steps: int, batch: int, length: int, stream: str
) -> tuple[Arrays | None, Counts]:
    """Initial tables, where the stream has them, and the batches of one seed."""
    # One batch more than steps, for the loss after the last step.
    sizes = {"steps": steps + 1, "batch": batch, "length": length}
    if stream == "published":
        return published_draws(task, seed, **sizes)
    generator = generator_of(seed, "data")
    return None, draw_counts(task, **sizes, generator=generator)


def check_rates(scores: float, values: float) -> None:
    """Refuse learning rates that are negative, or both zero."""
    if not (0 <= scores < np.inf and 0 <= values < np.inf) or scores + values == 0:
        raise ValueError(
            f"The learning rates are {scores} for the scores and {values} for the "
            "values: they must not be negative, nor both zero, as nothing moves then."
        )


def checked_weights(
    weights: Arrays, task: SequenceClasses
) -> dict[str, dict[str, Array]]:
    """Plain weights of the user, if their shapes fit."""
    names = {"values": ("U", "W_V"), "scores": ("W_Q", "W_K")}
    shapes = {n: np.shape(weights.get(n, ())) for part in names.values() for n in part}
    embed = (shapes["U"] or (0,))[-1]
    allowed = dict.fromkeys(shapes, (embed, embed)) | {"U": (task.vocabulary, embed)}
    if shapes != allowed:
        raise ValueError(
            f"The weights have the shapes {shapes}: give U of shape "
            f"({task.vocabulary}, d), and W_Q, W_K and W_V of shape (d, d)."
        )
    return {
        part: {name: on_device(np.asarray(weights[name], float)) for name in each}
        for part, each in names.items()
    }


def checked_tables(
    tables: Arrays, task: SequenceClasses, form: TokenClassForm
) -> dict[str, np.ndarray]:
    """Initial tables of the user, if a form can hold them."""
    size = task.vocabulary if form.name == "joint" else task.kinds
    shapes = {n: np.shape(tables.get(n, ())) for n in ("scores", "values")}
    if set(shapes.values()) != {(size, size)}:
        raise ValueError(
            f"The initial tables have the shapes {shapes}: give scores and values, "
            f"both of shape {(size, size)}."
        )
    if form.name not in ("joint", "active"):
        raise ValueError(
            f"form_name={form.name!r} keeps one row or column for several tokens, "
            "which given tables may tell apart: use form_name='active' or 'joint'."
        )
    return {name: np.asarray(tables[name], float) for name in shapes}


def refuse_tables(tables: Arrays | None) -> None:
    """Refuse initial tables where all begins at zero."""
    if tables is not None:
        raise ValueError(
            "form_name='symmetric' begins at zero, and initial tables were given: use "
            "form_name='active' or 'joint'."
        )
