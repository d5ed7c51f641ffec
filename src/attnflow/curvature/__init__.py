"""Curvature of the full model, at any width, from the state of a reduced form."""

from attnflow.curvature.hessian import Hessian as Hessian
from attnflow.curvature.hessian import Spectrum as Spectrum
from attnflow.curvature.hessian import hessian as hessian
from attnflow.curvature.hessian import hessian_spectrum as hessian_spectrum
from attnflow.curvature.hessian import sharpness as sharpness
from attnflow.curvature.kernel import tangent_kernel as tangent_kernel
from attnflow.curvature.linearised import Linearised as Linearised
from attnflow.curvature.linearised import linearised as linearised
from attnflow.curvature.stability import (
    gauss_newton_sharpness as gauss_newton_sharpness,
)
from attnflow.curvature.stability import output_curvature as output_curvature
from attnflow.curvature.stability import stable_step as stable_step
from attnflow.curvature.widths import Widths as Widths
from attnflow.curvature.widths import widths_of as widths_of
