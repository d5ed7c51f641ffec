import sys

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.models.forms import Initial
from attnflow.papers.mixture import formulas
from attnflow.schema.dataset import Outcome
from attnflow.training import Grid, Reach, Stage, solution
from attnflow.training.flows import flow
from attnflow.training.programs import stack
from attnflow.training.rules import Flow
from attnflow.training.solver import LeanDopri8
from attnflow.training.system import CODES
from tests.core import experiment, given_weights, largest_difference

INFINITE = Initial(width="infinite", omega=0.1)


class System(eqx.Module):
    """`dx/dt = −rate · x`, whose solution is known."""

    rate: jnp.ndarray

    def velocity(self, t, state):
        return -self.rate * state


def decay_leg(rule, stop, times, event=None):
    systems = [System(jnp.array(rate)) for rate in (1.0, 2.0)]
    system, axes = stack(systems)
    return flow(
        system,
        axes,
        jnp.ones((2, 1)),
        rule=rule,
        start=np.zeros(2),
        stop=np.full(2, stop),
        times=np.asarray(times),
        observe=_observe,
        event=event,
    )


def _observe(system, state):
    return {"x": state[0]}


def _below_a_tenth(system, state):
    return 0.1 - state[0]


def test_seeds_may_step_together_or_one_by_one(precise, monkeypatch):
    """Many small ones do the former; the numbers are the same, and so are the ends."""
    # By its name: the package has the function under it.
    module = sys.modules["attnflow.training.flows"]
    rule = Flow(rtol=1e-10, atol=1e-12)
    apart = decay_leg(rule, 20.0, np.linspace(0.0, 1.0, 3))
    together = []
    monkeypatch.setattr(module, "FEW", 1)
    monkeypatch.setattr(module, "_side_by_side", _heard(module._side_by_side, together))
    # More times, since the same ones would compile nothing anew.
    joined = decay_leg(rule, 20.0, np.linspace(0.0, 1.0, 5))
    assert together == [True]
    np.testing.assert_array_equal(joined.code, apart.code)
    # Steps differ, and so do errors: by the tolerance, over about a hundred steps.
    np.testing.assert_allclose(joined.end, apart.end, rtol=1e-8)
    np.testing.assert_allclose(joined.rows["x"][:, ::2], apart.rows["x"], rtol=1e-8)


def test_many_seeds_of_which_some_reach_an_event(precise, monkeypatch):
    monkeypatch.setattr(sys.modules["attnflow.training.flows"], "FEW", 1)
    leg = decay_leg(Flow(rtol=1e-12), 1.5, np.linspace(0.0, 1.0, 7), _below_a_tenth)
    outcomes = [CODES[int(c)] for c in leg.code]
    assert outcomes == [Outcome.EVENT_NOT_REACHED, Outcome.EVENT]
    np.testing.assert_allclose(leg.end, [1.5, np.log(10) / 2], rtol=1e-10)


def _heard(function, answers):
    def heard(*arguments):
        answers.append(function(*arguments))
        return answers[-1]

    return heard


@pytest.mark.parametrize("clock", ["linear", "log"])
@pytest.mark.parametrize("solver", ["dopri8", "tsit5"])
def test_recorded_values_are_the_solution(clock, solver, precise):
    times = np.linspace(0, 20, 41)
    rule = Flow(rtol=1e-11, clock=clock, solver=solver)
    leg = decay_leg(rule, 20.0, times)
    exact = np.exp(-np.outer([1.0, 2.0], times))
    # Far below atol = 1e-16 the controller asks for nothing.
    np.testing.assert_allclose(leg.rows["x"], exact, rtol=1e-9, atol=1e-15)
    assert [CODES[int(c)] for c in leg.code] == [Outcome.FINISHED] * 2


def test_events_are_found_per_seed(precise):
    leg = decay_leg(Flow(rtol=1e-12), 20.0, [0.0, 1.0], _below_a_tenth)
    np.testing.assert_allclose(leg.end, np.log(10) / np.array([1, 2]), rtol=1e-10)
    assert [CODES[int(c)] for c in leg.code] == [Outcome.EVENT] * 2


@pytest.mark.parametrize("level", [1.0, 1.5])
@pytest.mark.parametrize("clock", ["linear", "log"])
def test_a_stage_that_begins_on_its_level_or_beyond_ends_there(precise, clock, level):
    """As a descent does; diffrax looks for a change of sign."""
    rule = Flow(rtol=1e-12, clock=clock)
    leg = decay_leg(rule, 20.0, [0.0, 1.0], lambda _, state: level - state[0])
    np.testing.assert_array_equal(leg.end, [0.0, 0.0])
    assert [CODES[int(c)] for c in leg.code] == [Outcome.EVENT] * 2
    np.testing.assert_array_equal(leg.end_row["x"], [1.0, 1.0])
    np.testing.assert_array_equal(np.asarray(leg.rows["x"])[:, 0], [1.0, 1.0])


def test_outcomes_say_what_happened(precise):
    late = decay_leg(Flow(), 1.0, [0.0, 1.0], _below_a_tenth)
    outcomes = [CODES[int(c)] for c in late.code]
    assert outcomes == [Outcome.EVENT_NOT_REACHED] * 2
    short = decay_leg(Flow(max_steps=3), 20.0, [0.0, 20.0])
    assert CODES[int(short.code[0])] is Outcome.OUT_OF_STEPS
    assert float(short.rows["x"][0, 0]) == 1.0


class Kink(eqx.Module):
    """`dx/dt = −tanh((x − 1.2)/width)`: a kink if the width is tiny.

    A second number counts time, so that the state never rests.
    """

    width: jnp.ndarray

    def velocity(self, t, state):
        slope = -jnp.tanh((state[0] - 1.2) / self.width)
        return jnp.stack([slope, jnp.ones_like(slope)])


def kink_leg(width, stop, **rule):
    system, axes = stack([Kink(jnp.array(width))])
    spans = {"start": np.zeros(1), "stop": np.array([stop])}
    spans |= {"times": np.linspace(0.0, stop, 5), "observe": _observe}
    state = jnp.array([[2.0, 0.0]])
    return flow(system, axes, state, rule=Flow(**rule), **spans)


@pytest.mark.parametrize("clock", ["linear", "log"])
def test_a_flow_along_a_kink_ends_and_keeps_what_came_before(clock, precise):
    """Without looking for halts, all 200,000 steps lead to time 0.8 + 2e-8."""
    leg = kink_leg(1e-12, 100.0, clock=clock, interpolate=True)
    assert CODES[int(leg.code[0])] is Outcome.OUT_OF_STEPS
    assert float(leg.end[0]) == pytest.approx(0.8, abs=1e-3)
    assert float(leg.rows["x"][0, 0]) == 2.0


def test_a_stiff_flow_that_its_steps_can_finish_goes_on(precise):
    """Short steps alone are no halt, where the steps that are left lead to the end."""
    leg = kink_leg(1e-5, 1.6, rtol=1e-6)
    assert CODES[int(leg.code[0])] is Outcome.FINISHED
    np.testing.assert_allclose(leg.rows["x"][0, 3:], 1.2, atol=1e-4)


def test_float32_is_refused():
    with pytest.raises(RuntimeError, match="float32"):
        decay_leg(Flow(), 1.0, [0.0, 1.0])


@pytest.mark.slow
def test_stage_one_is_the_closed_form():
    """R6, along the whole stage; the switch at T_half is located by an event.

    The claim B-R6, which is judged by the fast tests, has the same runs.
    """
    from attnflow.papers.mixture.experiments import stage_one
    from attnflow.papers.mixture.settings import StageOne

    dataset = run(stage_one(StageOne(T1=100.0, records=201)))
    assert abs(dataset["stage_end"].values[0, 0] - formulas.switch_time(0.5)) < 1e-12
    a, c = formulas.stage_one(dataset["time"].values, 0.5)
    value = dataset["value"].sel(head="+")[0]
    assert np.abs(value.sel(token="v1") - a).max() < 3e-14
    assert np.abs(value.sel(token="c2") - c).max() < 3e-14


def test_the_closed_form_does_not_overflow():
    a, c = formulas.stage_one(np.array([1e3, 1e6, 1e12]), 0.5)
    assert np.isfinite(a).all() and np.isfinite(c).all()
    assert (np.diff(a) > 0).all()


def test_log_time_changes_nothing_but_the_steps():
    changes = {"initial": INFINITE, "until": 100.0}
    plain, log, late = (
        run(experiment(rule=Flow(rtol=1e-11, clock=clock, scale=scale), **changes))
        for clock, scale in (("linear", 1.0), ("log", 1.0), ("log", 1e-3))
    )
    assert largest_difference(plain, log).max() < 1e-9
    assert largest_difference(plain, late).max() < 1e-9


def test_conserved_quantities_hold_along_a_flow_and_not_along_descent():
    weights = given_weights()
    for form in ("weights", "gram"):
        dataset = run(
            experiment(form=form, rule=Flow(rtol=1e-11), until=60.0), weights=weights
        )
        assert float(dataset["drift"][0]) < 1e-9, form
    assert "drift" not in run(experiment(), weights=weights)


def test_an_event_of_staged_training_and_its_rows():
    """Rows stop where the last stage ended; what came before is there.

    While attention is uniform, scores of the second stage are the onset formula's.
    """
    stages = (
        Stage(Flow(), 10.0, ("values",), name="1"),
        Stage(
            Flow(),
            Reach("score[+,c1,v1]", 0.5, 5000.0),
            ("scores",),
            "conflicting",
            name="2",
        ),
    )
    grid = Grid(points=(0.0, 10.0, 30.0, 60.0, 4000.0))
    initial = Initial(width="infinite", omega=1e-3)
    dataset = run(experiment(initial=initial, stages=stages, grid=grid))
    end = float(dataset["stage_end"][0, 1])
    score = dataset["score_at_end"].sel(head="+", key="c1", query="v1")
    assert float(score[0, 1]) == pytest.approx(0.5, abs=1e-9)
    inside = dataset["time"].values <= end
    assert inside.tolist() == [True] * 4 + [False]
    np.testing.assert_array_equal(dataset["recorded"].values[0], inside)
    assert np.isfinite(dataset["loss"].values[0][inside]).all()
    assert np.isnan(dataset["loss"].values[0][~inside]).all()
    c = float(dataset["value"].sel(head="+", token="c1")[0, 1])
    score = dataset["score"].sel(head="+", key="c1", query="v1").values[0, 2:4]
    formula = formulas.stage_two_score(np.array([20.0, 50.0]), 1e-3, c)
    # Corrections are of relative order of the scores themselves.
    np.testing.assert_allclose(score, formula, rtol=1e-3)


def _pendulums(t, state, args):
    """Pendulums under a push that moves with time: nonlinear, and not autonomous."""
    push = 0.3 * jnp.sin(0.7 * t)
    return {"angle": state["speed"], "speed": push - jnp.sin(state["angle"])}


def test_lean_steps_are_those_of_diffrax(precise):
    """Along a whole run of equal steps, on them and between; and the errors of each.

    Lengths that the solver chooses differ: after a short first step the error by which
    it chooses is rounding.
    """
    term = dfx.ODETerm(_pendulums)
    state = {"angle": jnp.linspace(0.1, 2.5, 7), "speed": jnp.linspace(-0.2, 0.2, 7)}
    times = jnp.linspace(0.0, 20.0, 23)
    courses, steps = [], []
    for solver in (dfx.Dopri8(), LeanDopri8()):
        solution = dfx.diffeqsolve(
            term, solver, 0.0, 20.0, 0.5, state, saveat=dfx.SaveAt(ts=times)
        )
        courses.append(solution.ys)
        begun = solver.init(term, 0.0, 0.5, state, None)
        steps.append(solver.step(term, 0.0, 0.5, state, None, begun, False)[:3])
    for name in ("angle", "speed"):
        plain, lean = (np.asarray(course[name]) for course in courses)
        assert np.abs(plain[-1] - plain[0]).max() > 1
        np.testing.assert_allclose(plain, lean, rtol=0, atol=1e-12)
    for one, other in zip(*map(jax.tree.leaves, steps), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
    assert max(float(jnp.abs(e).max()) for e in jax.tree.leaves(steps[0][1])) > 1e-10


@pytest.mark.parametrize("event", [None, _below_a_tenth])
def test_records_are_observed_after_the_solve_as_in_it(precise, monkeypatch, event):
    """Seeds that end by an event have no records after it, one way and the other."""
    program = sys.modules["attnflow.training.flows"]._flow
    legs = []
    for room in (solution.ROOM, 0):
        monkeypatch.setattr(solution, "ROOM", room)
        program.ready.clear()
        legs.append(decay_leg(Flow(rtol=1e-10), 3.0, np.linspace(0.0, 4.0, 9), event))
    after, inside = legs
    np.testing.assert_array_equal(after.code, inside.code)
    np.testing.assert_allclose(after.end, inside.end, rtol=1e-9)
    reached = np.isfinite(inside.rows["x"])
    assert reached.all() == (event is None)
    np.testing.assert_array_equal(np.isfinite(after.rows["x"]), reached)
    for rows in ("rows", "end_row"):
        np.testing.assert_allclose(
            getattr(after, rows)["x"], getattr(inside, rows)["x"], rtol=1e-9
        )


@pytest.mark.parametrize("many", [0, 1])
def test_large_states_take_lean_steps(precise, monkeypatch, many):
    """A state of one number is large if none is few."""
    module, told = sys.modules["attnflow.training.flows"], []
    monkeypatch.setattr(module, "MANY", many)
    monkeypatch.setattr(
        solution, "_solver", lambda rule, *, large: told.append(large) or dfx.Dopri8()
    )
    module._flow.ready.clear()
    decay_leg(Flow(), 1.0, [0.0, 1.0])
    assert set(told) == {many == 0}


def test_lean_steps_are_for_dopri8():
    assert isinstance(solution._solver(Flow(), large=True), LeanDopri8)
    assert not isinstance(solution._solver(Flow(), large=False), LeanDopri8)
    assert not isinstance(
        solution._solver(Flow(solver="tsit5"), large=True), LeanDopri8
    )
