"""The hard-margin support vector machine through the origin, from a kernel alone."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attnflow.claims.statistics.margin import Margin, max_margin

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class HardMargin:
    """The shortest w with every margin at least 1, w = Σ_i dual_i y_i x_i.

    **Arguments:**

    - `norm_squared`: |w|², which is also Σ_i dual_i.
    - `dual`: the multipliers, positive on the support vectors alone.
    - `margins`: y_i w·x_i, 1 on the support vectors.
    """

    norm_squared: float
    dual: Float[np.ndarray, " samples"]
    margins: Float[np.ndarray, " samples"]

    @property
    def shares(self) -> Float[np.ndarray, " samples"]:
        """The multipliers as parts of their sum."""
        return self.dual / self.dual.sum()


def hard_margin(
    kernel: Float[np.ndarray, "samples samples"],
    labels: Float[np.ndarray, " samples"],
) -> HardMargin:
    """The hard-margin machine without bias of samples with these inner products.

    It minimises |w|² subject to `y_i w·x_i >= 1`. At the optimum

        dual_i >= 0,   margins_i >= 1,   dual_i (margins_i − 1) = 0,
        margins_i = y_i Σ_j kernel_ij y_j dual_j.

    It is the nearest point of the hull of the y_i x_i to the origin, rescaled; that
    point is found by [`max_margin`][attnflow.claims.statistics.max_margin].

    A kernel may stand for classes of samples that symmetry treats alike. Where n_k
    samples share what class k shares and each has a part of squared length r_k of its
    own, the classes' kernel is what they share plus `diag(r_k / n_k)`, with any real
    n_k, and `dual` sums over a class.

    **Arguments:**

    - `kernel`: `kernel[i, j] = x_i·x_j`: symmetric, with no eigenvalue below 0.
    - `labels`: +1 or −1.

    **Returns:** a `HardMargin`. A kernel squares the margin: below
    1e-8 of the largest |x_i|, samples count as not separable.

    !!! example

        ```python
        found = hard_margin(np.array([[1.0, 1.0], [1.0, 5.0]]), np.array([1.0, -1.0]))
        found.norm_squared  # 2.0
        found.dual  # array([1.5, 0.5])
        ```
    """
    gram, signs = _checked(kernel, labels)
    features = signs[:, None] * _factor(gram)
    found = max_margin(features)
    # Rounding moves eigenvalues, which are squared lengths, by a few ulps of the
    # largest, and so lengths by the square root of that.
    least = np.sqrt(len(gram) * _EPS * gram.diagonal().max())
    if found.direction is None or found.value <= least:
        raise ValueError(_not_separable(found))
    dual = found.combination / found.upper**2
    margins = signs * (gram @ (signs * dual))
    return HardMargin(1 / found.value**2, dual, margins)


def _checked(kernel: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gram, signs = np.asarray(kernel, float), np.asarray(labels, float)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not gram.size:
        raise ValueError(
            f"The kernel has shape {gram.shape}: give the square matrix of the "
            "samples' inner products."
        )
    if not np.isfinite(gram).all():
        raise ValueError("The kernel is not finite everywhere: drop those samples.")
    if np.abs(gram - gram.T).max() > 8 * _EPS * np.abs(gram).max():
        raise ValueError("The kernel is not symmetric: give (kernel + kernel.T) / 2.")
    if signs.shape != gram.shape[:1] or not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError(
            f"The labels are {signs.tolist()}: give +1 or -1 for each of the "
            f"{len(gram)} samples."
        )
    return gram, signs


def _factor(gram: np.ndarray) -> np.ndarray:
    """Rows with the given inner products."""
    values, vectors = np.linalg.eigh(gram)
    rounding = len(gram) * _EPS * float(np.abs(values).max())
    if values[0] < -4 * rounding:
        raise ValueError(
            f"The kernel's least eigenvalue is {values[0]:.3g}: inner products have "
            "none below 0. Give the Gram matrix of the samples, without labels."
        )
    # An eigenvalue of rounding's size would add a direction in which all separate.
    return vectors * np.sqrt(np.where(values > rounding, values, 0.0))


def _not_separable(found: Margin) -> str:
    heaviest = np.argsort(-found.combination, kind="stable")[:5]
    listed = ", ".join(f"{found.combination[i]:.3g} of {i}" for i in heaviest)
    return (
        "No direction separates these samples by a margin that can be told from 0: a "
        f"mixture of their labels times features has length {found.upper:.3g} (its "
        f"heaviest samples are {listed}). Check the labels, or drop samples."
    )
