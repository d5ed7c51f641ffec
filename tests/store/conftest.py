import json

import numpy as np
import pytest
import xarray as xr


def make_run(id="0123456789abcdef", *, seeds=2, outcome="finished", **attrs):
    """A small run that follows the schema, with texts, truth values and gaps."""
    times = np.array([0.0, 1.0, 10.0])
    loss = np.linspace(0.7, 0.1, 3) + 0.01 * np.arange(seeds)[:, None]
    recorded = np.ones((seeds, 3), bool)
    recorded[-1, 2] = seeds == 1
    loss[~recorded] = np.nan
    run = xr.Dataset(
        {
            "loss": (("seed", "time"), loss),
            "attention": (("seed", "time", "token"), np.ones((seeds, 3, 2))),
            "recorded": (("seed", "time"), recorded),
            "outcome": ("seed", np.array([outcome] * seeds)),
            "end_time": ("seed", np.full(seeds, 10.0)),
            "drift": ("seed", np.linspace(1e-12, 2e-12, seeds)),
        },
        coords={"seed": np.arange(seeds), "time": times, "token": ["mu1", "common"]},
        attrs={
            "paper": "toy",
            "experiment": "flow",
            "id": id,
            "setting": json.dumps({"width": 4}),
            "form": "transport",
            "form_reason": "cheapest exact",
            "rule": "flow",
            "versions": "{}",
            "platform": "test",
            "wall_seconds": 1.5,
            "compile_seconds": 0.5,
            "citation": "toy2024",
            **attrs,
        },
    )
    run["time"].attrs["units"] = "seconds"
    return run


@pytest.fixture
def run():
    return make_run()
