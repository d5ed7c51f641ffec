"""Linear separability with a certificate either way, and that of one ReLU layer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from attnflow.claims.statistics.margin import max_margin
from attnflow.schema.installation import scipy

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

_UNIT = float(np.finfo(np.float64).eps) / 2.0
# Elimination over the rationals costs dim³ operations on ever longer numbers.
_LARGEST_RATIONAL_SYSTEM = 48
_MOST_SWITCHES = 16


@dataclass(frozen=True)
class Separation:
    """The answer of `linear_separable` with its certificate.

    **Arguments:**

    - `separable`: the answer.
    - `proven`: whether the certificate was checked beyond rounding, so that the
      answer is a theorem about these floating-point numbers.
    - `direction`: w with x_i·w > 0 for all features (and ≥ 0 for the weak ones), or
      `None`.
    - `combination`: p ≥ 0 over the features, then over the weak ones, with
      Σ p_i x_i = 0 and sum 1 over the features, or `None`.
    - `residual`: the least x_i·w / |w|, or |Σ p_i x_i|, of the features scaled to
      a largest entry in [1, 2).
    """

    separable: bool
    proven: bool
    direction: Float[np.ndarray, " dim"] | None
    combination: Float[np.ndarray, " samples"] | None
    residual: float


def linear_separable(
    features: Float[np.ndarray, "samples dim"],
    weak: Float[np.ndarray, "weak dim"] | None = None,
) -> Separation:
    """Whether some w has x_i·w > 0 for every row of `features` (and `weak` w ≥ 0).

    By Motzkin's theorem (Gordan's, where `weak` is empty) exactly one of these holds:

        some w:          features · w > 0 and weak · w ≥ 0;
        some p, q ≥ 0:   p ≠ 0 and features' p + weak' q = 0.

    Both are linear programmes (HiGHS), whose tolerance is 1e-7; the certificate is
    then checked without it. The first by the rigorous bound |fl(x·w) − x·w| ≤
    γ |x|·|w|; the second by solving for p and q over the rationals on the support
    that the programme found. Where neither check succeeds the nearest point of the
    hull decides to a few ulps, and `proven` is false: for example, where features are
    non-separable as real numbers, but not once rounded.

    **Arguments:**

    - `features`: shape (samples, dim), finite; labels enter as signs, y_i x_i.
    - `weak`: rows that need only be on the closed side.

    `linear_separable(np.array([[1.0, 0.0], [-1.0, 0.0]])).separable` is `False`.

    ??? cite

        T. S. Motzkin, Beiträge zur Theorie der linearen Ungleichungen, Basel (1936).
    """
    strict, strict_scale = _normalised(features)
    if len(strict) == 0:
        raise ValueError("There are no features: give at least one row.")
    loose, loose_scale = _normalised(np.empty((0, strict.shape[1])))
    if weak is not None:
        loose, loose_scale = _normalised(weak)
    answer = _decide(strict, loose)
    combination = answer.combination
    if combination is None:
        return answer
    scale = np.append(strict_scale, loose_scale)
    weights = np.ldexp(combination, scale - scale[combination > 0].max())
    weights = weights / weights[: len(strict)].sum()
    return replace(answer, combination=weights)


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

        f_i = Σ_u output_u · a_iu · z_iu,   with labels_i · f_i > 0 for all i.

    `tied` adds (2a_iu − 1) z_iu ≥ 0: the pattern must be the one that θ produces, so
    that f is the network. Then the task has a solution if and only if one of the
    patterns has. Untied patterns answer another question (features frozen by some
    other θ), and more of them are separable.

    **Arguments:**

    - `rows`: shape (samples, units, parameters); a bias is a parameter whose entries
      are 1.
    - `labels`: ±1 per sample; `output`: the read-out weight of each unit.

    **Returns:** 2^(samples · units) patterns, at most 2^16, as an iterator.
    """
    samples, units, _ = rows.shape
    if samples * units > _MOST_SWITCHES:
        raise ValueError(
            f"{samples} samples of {units} units have 2^{samples * units} patterns: "
            f"use fewer samples, so that there are at most 2^{_MOST_SWITCHES}."
        )
    for bits in itertools.product((False, True), repeat=samples * units):
        active = np.array(bits).reshape(samples, units)
        outputs = np.einsum("i,u,iu,iup->ip", labels, output, active, rows)
        signs = np.where(active, 1.0, -1.0)[..., None] * rows
        weak = signs.reshape(samples * units, -1) if tied else None
        yield Pattern(active, linear_separable(outputs, weak))


def _decide(strict: np.ndarray, loose: np.ndarray) -> Separation:
    """The answer for normalised rows: programmes first, the hull where they end."""
    direction = _direction(strict, loose)
    if direction is not None and _separates(direction, strict, loose):
        return _yes(direction, strict, proven=True)
    combination = _combination(strict, loose)
    exact = _rational_combination(strict, loose, combination)
    if exact is not None:
        return _no(exact, strict, loose, proven=True)
    if len(loose) == 0:
        # The margin is below the programmes' tolerance.
        margin = max_margin(strict)
        if margin.direction is not None:
            proven = _separates(margin.direction, strict, loose)
            return _yes(margin.direction, strict, proven=proven)
        exact = _rational_combination(strict, loose, margin.combination)
        combination = margin.combination if exact is None else exact
        return _no(combination, strict, loose, proven=exact is not None)
    if combination is not None:
        return _no(combination, strict, loose, proven=False)
    if direction is not None:
        return _yes(direction, strict, proven=False)
    raise RuntimeError("HiGHS solved neither programme: please report these rows.")


def _yes(direction: np.ndarray, strict: np.ndarray, *, proven: bool) -> Separation:
    residual = float((strict @ direction).min() / np.linalg.norm(direction))
    return Separation(True, proven, direction, None, residual)


def _no(
    combination: np.ndarray, strict: np.ndarray, loose: np.ndarray, *, proven: bool
) -> Separation:
    rows = np.concatenate([strict, loose])
    residual = float(np.linalg.norm(combination @ rows))
    return Separation(False, proven, None, combination, residual)


def _normalised(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled exactly to largest entries in [1, 2), with the exponents of two."""
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"The rows have shape {rows.shape}: give (samples, dim).")
    if not np.isfinite(rows).all():
        raise ValueError("Some features are not finite: drop those samples first.")
    _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
    exponents = np.where(rows.any(axis=1), 1 - exponents, 0)
    return np.ldexp(rows, exponents[:, None]), exponents


def _direction(strict: np.ndarray, loose: np.ndarray) -> np.ndarray | None:
    """The w in the unit cube with the largest t such that strict·w ≥ t, loose·w ≥ 0.

    The first attempt asks t of the loose rows too: such a w survives rounding.
    """
    dim = strict.shape[1]
    for share in (1.0, 0.0) if len(loose) else (1.0,):
        slack = np.concatenate([np.ones(len(strict)), np.full(len(loose), share)])
        rows = np.concatenate([strict, loose])
        solution = scipy.optimize.linprog(
            np.append(np.zeros(dim), -1.0),
            A_ub=np.hstack([-rows, slack[:, None]]),
            b_ub=np.zeros(len(rows)),
            bounds=[(-1.0, 1.0)] * dim + [(None, 1.0)],
            method="highs-ds",
        )
        if solution.status == 0 and solution.x[-1] > 1e-9:
            return solution.x[:-1]
    return None


def _separates(direction: np.ndarray, strict: np.ndarray, loose: np.ndarray) -> bool:
    """Whether strict·w > 0 and loose·w ≥ 0 in spite of every rounding."""
    steps = strict.shape[1] + 2
    bound = steps * _UNIT / (1.0 - steps * _UNIT)
    error = 2.0 * bound * (np.abs(strict) @ np.abs(direction))
    loose_error = 2.0 * bound * (np.abs(loose) @ np.abs(direction))
    clear = (strict @ direction > error).all()
    return bool(clear and (loose @ direction >= loose_error).all())


def _combination(strict: np.ndarray, loose: np.ndarray) -> np.ndarray | None:
    """A vertex of {p, q ≥ 0: strict'p + loose'q = 0, Σ p = 1}, if there is one."""
    rows = np.concatenate([strict, loose])
    total = np.append(np.ones(len(strict)), np.zeros(len(loose)))
    solution = scipy.optimize.linprog(
        np.zeros(len(rows)),
        A_eq=np.vstack([rows.T, total]),
        b_eq=np.append(np.zeros(rows.shape[1]), 1.0),
        method="highs-ds",
    )
    return solution.x if solution.status == 0 else None


def _rational_combination(
    strict: np.ndarray, loose: np.ndarray, combination: np.ndarray | None
) -> np.ndarray | None:
    """The combination solved exactly on its support, if it is still nonnegative."""
    if combination is None:
        return None
    rows = np.concatenate([strict, loose])
    # The programme's own zeros are exact; the second threshold drops its rounding.
    for threshold in (0.0, 1e-9):
        support = np.flatnonzero(combination > threshold)
        if not 0 < len(support) <= _LARGEST_RATIONAL_SYSTEM:
            continue
        # Σ p_i x_i = 0 over the support, and Σ p_i = 1 over its features.
        matrix = [[Fraction(float(v)) for v in column] for column in rows[support].T]
        matrix.append([Fraction(int(i < len(strict))) for i in support])
        right = [Fraction(0)] * rows.shape[1] + [Fraction(1)]
        solution = _solve_exactly(matrix, right)
        if solution is not None and min(solution) >= 0:
            exact = np.zeros(len(rows))
            exact[support] = [float(v) for v in solution]
            return exact
    return None


def _solve_exactly(
    matrix: list[list[Fraction]], right: list[Fraction]
) -> list[Fraction] | None:
    """The solution of a consistent system of full column rank, else `None`."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    unknowns = len(matrix[0])
    for column in range(unknowns):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                factor = row[column] / head[column]
                rows[i] = [a - factor * b for a, b in zip(row, head, strict=True)]
    if any(row[-1] for row in rows[unknowns:]):
        return None
    return [rows[i][-1] / rows[i][i] for i in range(unknowns)]
