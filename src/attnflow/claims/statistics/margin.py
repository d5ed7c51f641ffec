"""Largest margins of linear classifiers, from features or from a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Margin:
    """A largest margin with its certificates.

    **Arguments:**

    - `value`: the margin, attained by `direction`; 0 where no direction separates.
    - `direction`: the unit w, or `None` where no direction separates.
    - `combination`: p ≥ 0 with sum 1. No margin exceeds |Σ p_i x_i|, so it bounds
      the margin from above, and shows by a vanishing norm that nothing separates.
    - `upper`: |Σ p_i x_i|.
    """

    value: float
    direction: Float[np.ndarray, " dim"] | None
    combination: Float[np.ndarray, " samples"]
    upper: float

    @property
    def separable(self) -> bool:
        """Whether some direction has every feature on its positive side."""
        return self.direction is not None


def max_margin(features: Float[np.ndarray, "samples dim"]) -> Margin:
    """The largest margin, max_{|w|=1} min_i w·x_i, of the rows x_i of `features`.

    By duality it is the distance of their convex hull from 0,

        max_{|w|=1} min_i w·x_i = min { |Σ p_i x_i| : p ≥ 0, Σ p_i = 1 },

    as long as that is positive. Labels enter as signs: give y_i x_i.

    The nearest point of the hull is found by Wolfe's active-set method on the
    features themselves. The absolute error is a few ulps of max |x_i|, so that a
    margin of 1e-12 relative to the features still has three digits. Neither the Gram
    matrix does that (it squares the margin: nothing is left below 1e-8) nor least
    distance programming by `scipy.optimize.nnls` (its multipliers have the size of
    the squared margin and fall below its stopping tolerance at the same place).

    **Returns:** the value and the certificates of both sides, `value <= margin <=
    upper` up to rounding.

    !!! example

        ```python
        max_margin(np.array([[1.0, 1.0], [1.0, -1.0]])).value  # 1.0
        max_margin(np.array([[1.0, 0.0], [-1.0, 0.0]])).value  # 0.0
        ```

    ??? cite

        P. Wolfe, Finding the nearest point in a polytope, Math. Programming 11
        (1976) 128–149.
    """
    x = np.asarray(features, dtype=np.float64)
    if x.ndim != 2 or x.shape[0] == 0 or x.shape[1] == 0:
        raise ValueError(
            f"The features have shape {np.shape(features)}: give (samples, dim) with "
            "at least one of each."
        )
    if not np.isfinite(x).all():
        raise ValueError("Some features are not finite: drop those samples first.")
    support, weights, nearest = _nearest_point(x)
    combination = np.zeros(len(x))
    combination[support] = np.clip(weights, 0.0, None)
    combination /= combination.sum()
    upper = float(np.linalg.norm(combination @ x))
    length = float(np.linalg.norm(nearest))
    if length <= _rounding(x):
        return Margin(0.0, None, combination, upper)
    direction = nearest / length
    value = float((x @ direction).min())
    if value <= 0.0:
        return Margin(0.0, None, combination, upper)
    return Margin(value, direction, combination, upper)


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
    kernel: Float[np.ndarray, "samples samples"], labels: Float[np.ndarray, " samples"]
) -> HardMargin:
    """The hard-margin classifier without bias of samples with these inner products.

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
        machine = hard_margin(np.array([[1.0, 1.0], [1.0, 5.0]]), np.array([1.0, -1.0]))
        machine.norm_squared  # 2.0
        machine.dual  # array([1.5, 0.5])
        ```
    """
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
    features = signs[:, None] * _factor(gram)
    margin = max_margin(features)
    # Rounding moves eigenvalues, which are squared lengths, by a few ulps of the
    # largest, and so lengths by the square root of that.
    least = np.sqrt(len(gram) * _EPS * gram.diagonal().max())
    if margin.direction is None or margin.value <= least:
        heaviest = np.argsort(-margin.combination, kind="stable")[:5]
        listed = ", ".join(f"{margin.combination[i]:.3g} of {i}" for i in heaviest)
        raise ValueError(
            "No direction separates these samples by a margin that can be told from 0: "
            f"a mixture of their labels times features has length {margin.upper:.3g} "
            f"(its heaviest samples are {listed}). Check the labels, or drop samples."
        )
    dual = margin.combination / margin.upper**2
    margins = signs * (gram @ (signs * dual))
    return HardMargin(1 / margin.value**2, dual, margins)


def _rounding(x: np.ndarray) -> float:
    """The length below which the nearest point is 0 up to rounding."""
    return 4 * _EPS * max(x.shape) ** 0.5 * float(np.linalg.norm(x, axis=1).max())


def _nearest_point(x: np.ndarray) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Support, weights and value of the point of conv(rows of x) nearest to 0."""
    norms = np.linalg.norm(x, axis=1)
    support, weights = [int(norms.argmin())], np.ones(1)
    shortest = np.inf
    for _ in range(100 * sum(x.shape)):
        support, weights, nearest = _shrink(x, support, weights)
        length = float(np.linalg.norm(nearest))
        slack = x @ nearest - length**2
        entering = int(slack.argmin())
        rounding = 4 * _EPS * x.shape[1] * norms[entering] * length
        solved = length <= _rounding(x) or slack[entering] >= -rounding
        if solved or entering in support or length >= shortest:
            return support, weights, nearest
        shortest = length
        support, weights = [*support, entering], np.append(weights, 0.0)
    raise RuntimeError(
        f"The nearest point of {x.shape[0]} features was not found in "
        f"{100 * sum(x.shape)} steps: please report these features."
    )


def _shrink(
    x: np.ndarray, support: list[int], weights: np.ndarray
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Drop points until the affine hull's nearest point lies in the convex hull."""
    while True:
        target, nearest = _affine_nearest(x[support])
        if (target > 0.0).all() or len(support) == 1:
            return support, target, nearest
        falling = np.flatnonzero(target <= 0.0)
        gaps = weights[falling] - target[falling]
        # A point that enters with weight 0 and falls at once leaves at once.
        reach = np.divide(weights[falling], gaps, out=gaps * 0.0, where=gaps > 0.0)
        leaving = int(falling[reach.argmin()])
        weights = weights + reach.min() * (target - weights)
        keep = [i for i in range(len(support)) if i != leaving]
        support, weights = [support[i] for i in keep], weights[keep]


def _affine_nearest(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Barycentric weights and value of the affine hull's point nearest to 0.

    |x_0 + D'μ| is minimised over μ, with the differences D from x_0 (not with the
    points: those are nearly dependent where the margin is small). The residual is
    projected twice, so that it is orthogonal to D to its own relative precision.
    """
    base, differences = points[0], points[1:] - points[0]
    if len(differences) == 0:
        return np.ones(1), base
    q, r = np.linalg.qr(differences.T)
    nearest = base - q @ (q.T @ base)
    nearest = nearest - q @ (q.T @ nearest)
    mu = np.linalg.lstsq(r, -(q.T @ base), rcond=None)[0]
    return np.concatenate([[1.0 - mu.sum()], mu]), nearest


def _factor(gram: np.ndarray) -> np.ndarray:
    """Rows whose inner products are `gram`."""
    values, vectors = np.linalg.eigh(gram)
    rounding = len(gram) * _EPS * float(np.abs(values).max())
    if values[0] < -4 * rounding:
        raise ValueError(
            f"The kernel's least eigenvalue is {values[0]:.3g}: inner products have "
            "none below 0. Give the Gram matrix of the samples, without labels."
        )
    # An eigenvalue of the size of rounding errors would add a direction in which
    # everything is separable.
    return vectors * np.sqrt(np.where(values > rounding, values, 0.0))
