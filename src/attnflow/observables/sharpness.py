"""Sharpness of the training loss along a run."""

from jaxtyping import Array

from attnflow.observables.curvature import gauss_newton_sharpness
from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(about="top eigenvalue of H^½ K H^½, K the tangent kernel, H = p ∂²l/∂f²")
def tangent_sharpness(view: View) -> Array:  # noqa: D103
    return gauss_newton_sharpness(view.system, view.state)
