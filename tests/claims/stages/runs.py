"""Small runs that follow the schema, with series that are known in closed form."""

import json

import numpy as np
import xarray as xr


def make_run(time=None, seeds=(0, 1, 2), setting=None):
    """Seeds reach things later by a factor 1, 2, 3; seed 2 ends at half time."""
    time = np.linspace(0.0, 10.0, 101) if time is None else np.asarray(time, float)
    pace = 1.0 + np.arange(len(seeds))[:, None]
    growth = time / pace
    recorded = np.ones(growth.shape, bool)
    recorded[2:, time > time[-1] / 2] = False
    heads, keys = ["+", "-"], ["c1", "v1"]
    sign = np.array([1.0, -1.0])
    entry = np.array([1.0, 0.5])
    score = growth[..., None, None] * sign[:, None] * entry
    losses = np.stack([np.exp(-growth), np.exp(-growth / 4)], axis=-1)
    gap = ~recorded
    growth, score, losses = growth.copy(), score.copy(), losses.copy()
    growth[gap], score[gap], losses[gap] = np.nan, np.nan, np.nan
    return xr.Dataset(
        {
            "growth": (("seed", "time"), growth),
            "score": (("seed", "time", "head", "key"), score),
            "loss_by_group": (("seed", "time", "group"), losses),
            "numbered": (("seed", "time", "width"), score[..., 0]),
            "bare": (("seed", "time", "place"), score[..., 0]),
            "recorded": (("seed", "time"), recorded),
            "outcome": ("seed", np.array(["finished"] * len(seeds))),
            "end_time": ("seed", np.full(len(seeds), time[-1])),
        },
        coords={
            "seed": list(seeds),
            "time": time,
            "head": heads,
            "key": keys,
            "group": ["consistent", "conflicting"],
            "width": [8, 64],
        },
        attrs={"setting": json.dumps(setting or {"omega": 0.1})},
    )
