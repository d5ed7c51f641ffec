"""The drift of what gradient flow conserves, as a module, against Python's own."""

import jax
import numpy as np
import pytest

from attnflow.browser.explorer import knobs
from attnflow.browser.explorer.drift import drift_of
from attnflow.browser.explorer.variants import traced
from attnflow.browser.host import Instance
from attnflow.browser.trace import named
from attnflow.observables.conserved import drift
from attnflow.papers import paper


def test_the_module_computes_the_drift_between_two_states():
    recipe = paper("mixture").recipe("figure1")
    names = knobs.number_names(recipe.setting)
    setup = traced(recipe, recipe.setting, names).setup
    made = drift_of(setup)
    assert made is not None
    module, said = made
    stage = setup.stages[0]
    draw = np.random.default_rng(0)
    after = jax.tree.map(
        lambda x: np.asarray(x) + 0.1 * draw.normal(size=x.shape), stage.state
    )
    states = {"before": named(stage.state), "after": named(after)}
    inputs = dict(named(stage.inputs))
    instance = Instance(module.module)
    for read, field in zip(said["reads"], module.arrays, strict=True):
        part = read["part"]
        array = inputs[read["name"]] if part == "inputs" else states[part][read["n"]][1]
        instance.heap[field.cells] = np.asarray(array, float).ravel()
    instance.call("prepare")
    expected = drift(stage.system(stage.inputs).form, stage.state, after)
    assert expected > 1e-3
    mine = instance.heap[module.outputs[0].cell]
    assert mine == pytest.approx(expected, rel=1e-12)
