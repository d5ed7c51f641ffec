"""Lost signs of deeper models, and the claim `C-B6-prec` on synthetic runs."""

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd import PAPER, stages
from attnflow.papers.signgd.claims.deep_precision import MODELS, NEEDS, STEPS
from attnflow.papers.signgd.deep_runs import name_of
from attnflow.testing import check_claim

UNCOVERED = 0.5
HALTS = dict(zip(MODELS, (180.0, 58.0, 42.0, 18.0), strict=True))


def shares(steps, halt):
    """A run whose first layer has no sign from a step on; the second keeps all."""
    time = np.arange(0.0, steps + 1, 2.0)
    first = np.where(time < halt, UNCOVERED, 1.0)
    table = np.stack([first, 0 * first], axis=-1)
    rows = {
        "zero_signs": (("seed", "time", "layer"), np.tile(table, (3, 1, 1))),
        "recorded": (("seed", "time"), np.ones((3, len(time)), bool)),
    }
    return xr.Dataset(
        rows, {"seed": [200, 201, 202], "time": time, "layer": ["1", "2"]}
    )


@pytest.fixture
def evidence():
    """Plain gradients halt where they did on seed 0, rescaled ones ten steps later."""
    return {
        name_of(model, way): shares(STEPS[model], HALTS[model] + later)
        for model in MODELS
        for way, later in (("plain", 0.0), ("rescaled", 10.0))
    }


def test_the_claim_and_its_mutations(evidence):
    assert evidence.keys() == NEEDS.keys()
    check_claim(PAPER.claim("C-B6-prec"), evidence)


def test_signs_are_lost_of_those_that_were_there():
    run = stages.first_layer(shares(40, 18.0))
    lost = stages.lost_signs(run)
    assert lost.sel(time=16).values.tolist() == [0, 0, 0]
    assert lost.sel(time=18).values.tolist() == [1, 1, 1]
    assert (np.abs(stages.signs_end(run).times - 17) <= 1).all()
    half = run.assign(zero_signs=run["zero_signs"].clip(max=0.75))
    assert float(stages.lost_signs(half).max()) == pytest.approx(0.5)
    assert np.isnan(stages.signs_end(half).times).all()


def test_rescaled_gradients_that_halt_too_refute_it(evidence):
    """As they would if rounding were not the reason."""
    model = MODELS[1]
    same = {**evidence, name_of(model, "rescaled"): evidence[name_of(model, "plain")]}
    with pytest.raises(AssertionError, match="is fails"):
        check_claim(PAPER.claim("C-B6-prec"), same)
