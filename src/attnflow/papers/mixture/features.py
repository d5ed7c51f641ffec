"""Attention features of the paper's equation 2, and their margin (numpy only)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow.claims.statistics import max_margin

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def attention_features(
    reads: Float[np.ndarray, "samples heads tokens"],
    active: Bool[np.ndarray, "samples heads"],
    bias: float,
) -> Float[np.ndarray, "samples features"]:
    """Attention features `F(X) = (a₊ q₊, −a₋ q₋, b (a₊ − a₋))`, `f = (w₊, w₋, 1) · F`.

    `reads` holds q, the attention-weighted sum of tokens that each head reads from each
    sample; `active` says which ReLUs are on.
    """
    on = active.astype(float)
    return np.concatenate(
        [
            on[:, :1] * reads[:, 0],
            -on[:, 1:] * reads[:, 1],
            bias * (on[:, :1] - on[:, 1:]),
        ],
        axis=1,
    )


def feature_margin(
    reads: Float[np.ndarray, "samples heads tokens"],
    heads: Float[np.ndarray, "samples heads"],
    label: Float[np.ndarray, " samples"],
    bias: float,
) -> float:
    """Margin `max_{|w| = 1} min_X y w · F(X)`, with ReLUs on where `heads + b > 0`."""
    features = attention_features(reads, heads + bias > 0, bias)
    return max_margin(label[:, None] * features).value
