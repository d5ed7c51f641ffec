"""What curvature refuses, and in which words."""

import jax
import jax.numpy as jnp
import pytest

import attnflow
from attnflow.data import MixtureTask
from attnflow.models.forms import Initial, build, symmetry_of
from attnflow.models.forms.weights import AbstractWeights
from attnflow.models.problem import Logistic, Problem, ReluPair
from attnflow.models.systems import Training
from attnflow.observables.curvature import (
    Widths,
    hessian,
    hessian_spectrum,
    linearised,
    sharpness,
    tangent_kernel,
    widths_of,
)
from attnflow.observables.curvature.local import local_part
from tests.observables.curvature.full import BOTH, VALUES, systems


class Unheard(AbstractWeights):
    """A part that curvature has never heard of."""

    def table(self, state):
        return state


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize(
    "ask", [hessian, hessian_spectrum, sharpness, tangent_kernel, linearised]
)
def test_quotients_hold_too_little(ask):
    task = MixtureTask(population="orbits")
    initial = Initial(width="infinite", omega=0.3)
    data = task.sequences()
    form, state = build(
        "quotient",
        data,
        initial,
        heads=2,
        key=jax.random.key(0),
        symmetry=symmetry_of(task.symmetry, data),
    )
    problem = Problem(ReluPair(0.5), Logistic())
    system = Training(form, problem, data, data.probability, BOTH)
    with pytest.raises(ValueError, match="population='exact'"):
        ask(system, state)


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize(
    ("form", "widths", "message"),
    [
        ("gram", Widths(), "keys and queries is not known"),
        ("transport", Widths(11), "values is not known"),
        ("transport", Widths(3, 7), "given as 3, but their state has 8 rows"),
    ],
)
def test_widths_that_are_missing_or_too_small(form, widths, message):
    _, by_form = systems(VALUES["neurons"])
    with pytest.raises(ValueError, match=message):
        hessian(*by_form[form], widths)


@pytest.mark.usefixtures("precise")
def test_a_gram_matrix_of_too_high_a_rank():
    _, by_form = systems(VALUES["neurons"])
    with pytest.raises(Exception, match="higher rank than the width allows"):
        jax.block_until_ready(hessian(*by_form["gram"], Widths(3, 7)))


def test_widths_come_from_the_law_of_the_weights():
    chain = Initial(width=11, values=VALUES["neurons"])
    assert widths_of(chain) == Widths(11, 7)
    assert widths_of(Initial(width="infinite")) == Widths("infinite")


def test_a_part_that_nobody_registered():
    with pytest.raises(ValueError, match="curvature of Unheard is not known"):
        local_part(Unheard(), jnp.zeros(1), 3)


def test_single_precision():
    with attnflow.precise():
        initial, by_form = systems(VALUES["vector"])
    with pytest.raises(RuntimeError, match="float32"):
        sharpness(*by_form["gram"], widths_of(initial))
