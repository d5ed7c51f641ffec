"""Drifts vanish on what conserves, and see what does not."""

import numpy as np
from scipy.linalg import expm

from attnflow.conserved.drift import gram_drift, transport_drift, weight_drift


def example(seed=0):
    draw = np.random.default_rng(seed)
    force = draw.standard_normal((3, 3))
    omega = np.block([[np.zeros((3, 3)), force], [force.T, np.zeros((3, 3))]])
    factor = draw.standard_normal((9, 6))
    return factor, omega


def test_a_pseudo_orthogonal_path_conserves_all_three():
    """`exp(Ω)` is where a constant force leads: exactly pseudo-orthogonal."""
    factor, omega = example()
    moved = expm(0.7 * omega)
    before = factor.T @ factor
    after = moved.T @ before @ moved
    assert transport_drift(moved) < 1e-14
    assert gram_drift(before, after) < 1e-13
    states = [
        {"W_K": both[None, :, :3], "W_Q": both[None, :, 3:]}
        for both in (factor, factor @ moved)
    ]
    assert weight_drift(*states) < 1e-13


def test_a_step_of_descent_is_seen():
    factor, omega = example()
    step = np.eye(6) + 0.1 * omega
    assert transport_drift(step) > 1e-3
    before = factor.T @ factor
    assert gram_drift(before, step.T @ before @ step) > 1e-4
    states = [
        {"W_K": both[None, :, :3], "W_Q": both[None, :, 3:]}
        for both in (factor, factor @ step)
    ]
    assert weight_drift(*states) > 1e-3
