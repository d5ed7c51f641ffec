"""Setting (a) at full size: the sign state against the full closed form."""

import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers.signgd.experiments import train
from attnflow.papers.signgd.settings import Train

STATES = ("value", "key_neuron", "query_neuron")


@pytest.mark.slow
def test_every_sign_of_every_state_at_every_step():
    """d = 2000, 2000 steps, two seeds: 17 million signs of inner products."""
    plan = {"test_samples": 0, "dense": 2000, "record": (*STATES, "zero_signs")}
    state, full = (
        run(train(Train(form=form, **plan)), seeds=(0, 1))
        for form in ("signs", "coordinates")
    )
    assert state.sizes["time"] == 2001
    for name in STATES:
        ours, theirs = state[name].values, full[name].values
        assert np.array_equal(np.sign(ours), np.sign(theirs)), name
        # 2000 steps, each rounded once, of products of the order of ten.
        assert np.abs(ours - theirs).max() <= 2000 * 2.2e-16 * 10
    assert float(state.zero_signs.sum()) == 0
