"""Curvature of the full model, at any width, from the state of a reduced form."""

from attnflow.models.forms.widths import Widths as Widths
from attnflow.models.forms.widths import widths_of as widths_of
from attnflow.observables.curvature.hessian import Hessian as Hessian
from attnflow.observables.curvature.hessian import Spectrum as Spectrum
from attnflow.observables.curvature.hessian import hessian as hessian
from attnflow.observables.curvature.hessian import hessian_spectrum as hessian_spectrum
from attnflow.observables.curvature.hessian import sharpness as sharpness
from attnflow.observables.curvature.kernel import Linearised as Linearised
from attnflow.observables.curvature.kernel import linearised as linearised
from attnflow.observables.curvature.kernel import output_curvature as output_curvature
from attnflow.observables.curvature.kernel import tangent_kernel as tangent_kernel
from attnflow.observables.curvature.stability import (
    gauss_newton_sharpness as gauss_newton_sharpness,
)
