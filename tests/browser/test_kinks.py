"""Flows that come to a halt: at a kink that they slide along, they end and say so."""

import json
import subprocess

import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.browser.explorer.plan import plans, stage_values
from attnflow.browser.kernel import compile_stage
from attnflow.browser.simulate import Player, Simulation
from attnflow.browser.trace import StageFunctions
from attnflow.schema.dataset import Outcome
from attnflow.training import Stage, precise
from attnflow.training.halts import PATIENCE
from attnflow.training.rules import Flow
from tests.browser.node import NODE
from tests.browser.test_player import PLAYER

KINK = 1.2
STOP = 100.0


def flow_towards(kink, width, until=STOP, **rule):
    """`dx/dt = −tanh((x − kink)/width)` from 2 on: a kink if the width is tiny.

    A second variable counts time, so that the state never rests.
    """

    def velocity(inputs, time, state):
        x, _ = state["x"]
        slope = -jnp.tanh((x - kink) / width)
        return {"x": jnp.stack([slope, jnp.ones_like(slope)])}

    def observe(inputs, state):
        return {"x": state["x"]}

    with precise():
        state = {"x": jnp.array([2.0, 0.0])}
        stage = Stage(Flow(**rule), until)
        return StageFunctions(
            stage, {}, state, state, velocity, observe, None, lambda inputs: None, ()
        )


def simulated(stage, times):
    with precise():
        kernel = compile_stage(stage)
    rows = {"x": np.full((len(times), 2), np.nan)}
    simulation = Simulation(times, rows, np.zeros(len(times), bool))
    player = Player(kernel, stage, 0.0, None)
    player.run(simulation)
    return kernel, simulation


def steps_of(simulation):
    """Steps of dopri8, after two evaluations for the length of the first one."""
    return (simulation.evaluations - 2) / 13


@pytest.mark.parametrize("clock", ["linear", "log"])
def test_a_flow_along_a_kink_ends_and_keeps_its_records(clock):
    times = np.linspace(0.0, STOP, 201)
    stage = flow_towards(KINK, 1e-12, clock=clock)
    _, simulation = simulated(stage, times)
    assert simulation.outcome is Outcome.OUT_OF_STEPS
    # It meets the kink at time 0.8.
    assert simulation.ends == [pytest.approx(2.0 - KINK, abs=1e-3)]
    assert simulation.recorded.sum() == 2
    assert PATIENCE <= steps_of(simulation) <= 2 * PATIENCE


def test_a_stiff_flow_that_its_steps_can_finish_goes_on():
    """Short steps alone are no halt, where the steps that are left lead to the end."""
    times = np.linspace(0.0, 1.6, 5)
    _, simulation = simulated(flow_towards(KINK, 1e-5, 1.6, rtol=1e-6), times)
    assert simulation.outcome is Outcome.FINISHED
    assert steps_of(simulation) > 5 * PATIENCE
    np.testing.assert_allclose(simulation.rows["x"][2:, 0], KINK, atol=1e-4)
    few = flow_towards(KINK, 1e-5, 1.6, rtol=1e-6, max_steps=5 * int(PATIENCE))
    _, simulation = simulated(few, times)
    assert simulation.outcome is Outcome.OUT_OF_STEPS
    assert steps_of(simulation) <= 2 * PATIENCE


def test_the_page_says_at_which_time_a_flow_ends(tmp_path):
    stage = flow_towards(KINK, 1e-12)
    kernel, simulation = simulated(stage, np.linspace(0.0, STOP, 11))
    job = {
        "stages": plans([kernel]),
        "times": np.linspace(0.0, STOP, 11).tolist(),
        "values": [stage_values(kernel, stage)],
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    script = f"""
      const {{ Player, MESSAGES }} = require({json.dumps(str(PLAYER))});
      const job = JSON.parse(require("fs").readFileSync(process.argv[1]));
      const player = new Player(job.stages);
      let last;
      for (const part of player.play(job.times, job.values)) last = part;
      console.log(JSON.stringify([last.end, MESSAGES[last.outcome](last)]));
    """
    command = [NODE, "-e", script, str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, check=True)
    end, message = json.loads(done.stdout)
    assert end == simulation.ends[0]
    assert f"ends at time {end:.4g}" in message and "kink" in message
