"""What one layer of ReLUs can do on given inputs: one programme per pattern."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from attnflow.claims.statistics.separation import Separation, linear_separable

_MOST_SWITCHES = 16


@dataclass(frozen=True)
class Pattern:
    """An activation pattern, and whether parameters solve the task with it."""

    active: Bool[np.ndarray, "samples units"]
    separation: Separation


def relu_patterns(
    rows: Float[np.ndarray, "samples units parameters"],
    labels: Float[np.ndarray, " samples"],
    output: Float[np.ndarray, " units"],
    *,
    tied: bool = True,
) -> Iterator[Pattern]:
    """Every activation pattern of one ReLU layer, each with its linear programme.

    With parameters θ, pre-activations z_iu = rows[i, u]·θ and a pattern a_iu ∈ {0, 1},

        f_i = Σ_u output_u · a_iu · z_iu,   asked for: labels_i · f_i > 0 for all i.

    `tied` adds (2a_iu − 1) z_iu ≥ 0: the pattern must be the one that θ produces, so
    that f is the network. Then the task has a solution if and only if one of the
    patterns has. Untied patterns answer another question (features frozen by some
    other θ), and more of them are separable.

    **Arguments:**

    - `rows`: shape (samples, units, parameters); a bias is a parameter whose entries
      are 1.
    - `labels`: ±1 per sample; `output`: the read-out weight of each unit.

    **Returns:**

    2^(samples · units) patterns, at most 2^16, as an iterator.
    """
    samples, units, _ = rows.shape
    if samples * units > _MOST_SWITCHES:
        raise ValueError(
            f"{samples} samples of {units} units have 2^{samples * units} patterns: "
            f"use fewer samples, so that at most 2^{_MOST_SWITCHES} are to be tried."
        )
    for bits in itertools.product((False, True), repeat=samples * units):
        active = np.array(bits).reshape(samples, units)
        outputs = np.einsum("i,u,iu,iup->ip", labels, output, active, rows)
        signs = np.where(active, 1.0, -1.0)[..., None] * rows
        weak = signs.reshape(samples * units, -1) if tied else None
        yield Pattern(active, linear_separable(outputs, weak))
