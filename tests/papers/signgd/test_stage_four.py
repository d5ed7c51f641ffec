"""T4⁻ and T4⁺ as printed, and moves at every step, on a run that is written down.

One neuron and three samples at a rate of 1: signals are ±(t + 1), and noise of norm 10
is ±(10t + 1). The third sample is outvoted; its key turns at step 20, its query at 35.
"""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd.claims import stage_four
from attnflow.papers.signgd.settings import Train

TIMES = np.arange(81.0)
TURNS = {"key_neuron": 20, "query_neuron": 35}
NAMES = ["mu", "noise1", "noise2", "noise3"]


def grown(turn):
    """Noise that grows, of which the last turns at a step."""
    noise = 10 * TIMES + 1
    last = np.where(turn >= TIMES, -noise, -(10 * turn + 1) + 10 * (TIMES - turn))
    return [noise, noise, last]


def written(*, tied=False):
    """The run; where the vote is tied, the third sample's query noise is doubled."""
    second = 1 / (1 + np.exp((TIMES / 10) ** 2))
    tables = {
        "query_neuron": np.stack([TIMES + 1, *grown(TURNS["query_neuron"])], axis=-1),
        "key_neuron": np.stack([-TIMES - 1, *grown(TURNS["key_neuron"])], axis=-1),
        "value": np.stack([2 * TIMES, *[20 * TIMES] * 3], axis=-1),
    }
    if tied:
        tables["query_neuron"][:, 3] *= 2
    rows = [np.stack([s, 1 - s], -1) for s in (np.full_like(second, 0.5), second)]
    attention = np.broadcast_to(
        np.stack(rows, axis=1)[:, None, None], (len(TIMES), 3, 1, 2, 2)
    )
    dims = {"value": ("head", "token")}
    rows = {
        name: (
            ("seed", "time", *dims.get(name, ("head", "neuron", "token"))),
            table[None, :, None] if name == "value" else table[None, :, None, None],
        )
        for name, table in tables.items()
    }
    places = ("sample", "head", "query_position", "key_position")
    rows["attention"] = (("seed", "time", *places), attention[None].copy())
    rows["recorded"] = (("seed", "time"), np.ones((1, len(TIMES)), bool))
    setting = vars(Train(embed=400, samples=3, learning_rate=1.0))
    return xr.Dataset(
        rows,
        {"seed": [0], "time": TIMES, "token": NAMES},
        {"setting": json.dumps(setting)},
    )


def holds(step):
    """(29) and (30) at a step."""
    weight = np.exp((step / 10) ** 2) / (1 + np.exp((step / 10) ** 2)) ** 2
    noise, signal = 10 * step + 1, step + 1
    return weight * noise >= 1.5 * signal and weight * noise >= 0.5 * signal


def test_the_end_of_dominance():
    (end,) = stage_four.t4_minus(written()).values
    last = max(step for step in range(3, 81) if holds(step))
    assert last <= end <= last + 1


def test_a_tied_vote_ends_it_at_once():
    """T3 is step 3."""
    run = written(tied=True)
    assert stage_four.t4_minus(run).item() <= 3.0


def test_the_last_pair_that_yields():
    run = written()
    (end,) = stage_four.t4_plus(run).values
    weight = np.exp((TIMES / 10) ** 2) / (1 + np.exp((TIMES / 10) ** 2)) ** 2
    above = weight * (10 * TIMES + 1) / (TIMES + 1) * 4 > 0.5
    twice = 2 * stage_four.t4_minus(run).item()
    early = twice >= TIMES
    assert end == TIMES[above & early].max()


def test_moves_of_every_step():
    run = written()
    keys = stage_four.noise_moves(run, "key_neuron").isel(seed=0, head=0, neuron=0)
    assert keys.sel(token="noise1").values == pytest.approx(1.0)
    turned = np.where(TIMES[:-1] < 20, -1.0, 1.0)
    assert keys.sel(token="noise3").values == pytest.approx(turned)
    outward = stage_four.signal_outward(run, "key_neuron")
    assert outward.values == pytest.approx(1.0)


def test_when_noise_follows_the_signal():
    run = written()
    assert stage_four.last_against(run, "key_neuron").item() == 20.0
    assert stage_four.last_against(run, "query_neuron").item() == 35.0
    assert stage_four.first_inward(run, "query_neuron").item() == 35.0


def test_what_ends_too_early_is_not_known():
    run = written().isel(time=slice(0, 30))
    assert np.isnan(stage_four.last_against(run, "key_neuron").item())
    assert np.isnan(stage_four.first_inward(run, "query_neuron").item())
