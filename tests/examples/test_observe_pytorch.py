import numpy as np
import pytest

pytest.importorskip("torch")

import attnflow as af

pytestmark = pytest.mark.cpus

EXAMPLE = "observe_pytorch"
STEPS = 120
# Plain weights compile sooner, and record no gradients by coordinate.
SMALL = {"form": "weights", "embed": 200, "test_samples": 20, "steps": STEPS}
SMALL |= {"dense": 0, "every": 20}
SERIES = ("loss", "margin", "value", "key_neuron", "query_neuron", "attention")


@pytest.fixture(scope="module")
def theirs(example):
    return example.observed(**SMALL)


@pytest.fixture(scope="module")
def ours(example):
    return af.run(example.EXPERIMENT, store=False, **SMALL)


def test_pytorch_and_our_own_run_agree_to_rounding(example, theirs, ours):
    """Three ulps of each step, as PyTorch and our forms in the oracle tests."""
    assert theirs["time"].values.tolist() == ours["time"].values.tolist()
    for name in (*SERIES, "test_loss"):
        error = float(example.gap(theirs, ours, name).max())
        assert error <= 3 * np.finfo(float).eps * STEPS, name
    assert example.parting(theirs, ours) == STEPS


def test_a_wrong_loop_is_seen(example, ours):
    worse = example.observed(rate=1.01e-4, **SMALL)
    assert example.parting(worse, ours) == 0.0


def test_it_is_judged_beyond_the_paper_s_sizes(theirs):
    claims = af.paper("signgd").claims
    overlap, late = claims.verify("C-R-overlap", "C-T3.2-lin", run=theirs)
    assert (str(overlap.scope), str(late.scope)) == ("beyond", "beyond")
    # The claim about late training finds no late records here.
    assert str(late.verdict) == "unchecked"


@pytest.mark.slow
def test_claims_of_the_paper_hold_for_the_loop(example):
    theirs, ours = example.observed(), af.run(example.EXPERIMENT)
    last = example.parting(theirs, ours)
    assert 350 <= last < 2000
    early = slice(0, last)
    gradients = example.gap(theirs, ours, "log_mean_key_gradient").sel(time=early)
    assert float(gradients.max()) <= 1e-12
    assert float(example.gap(theirs, ours, "loss")[-1]) <= 1e-11
    for row in af.paper("signgd").claims.verify(*example.CLAIMS, run=theirs):
        assert (str(row.verdict), str(row.scope)) == ("holds", "experiment")
