"""Runs made by hand: small, and with every dim that figures know."""

import json

import numpy as np
import xarray as xr

TOKENS = ["c1", "c2", "v1", "v2"]
SAMPLES = ["c1 v1 v2", "c1 v1 -v2"]


def make_run(*, seeds=3, count=21, last=2000.0, units="step", id="0123456789abcdef"):
    """A run in which scores between `c1` and `v1` grow after a plateau."""
    noise = 1 + 0.1 * np.arange(seeds)[:, None]
    times = np.linspace(0, last, count)
    growth = noise / (1 + np.exp(-(times - last / 2) / (last / 20)))
    score = np.zeros((seeds, count, 2, 4, 4))
    score[:, :, 0, 0, 2], score[:, :, 0, 0, 3] = growth, -growth
    attention = np.full((seeds, count, 2, 2, 3, 3), 1 / 3)
    rows = ("seed", "time")
    run = xr.Dataset(
        {
            "loss": (rows, 0.7 - 0.6 * growth / noise),
            "loss_by_group": ((*rows, "group"), np.stack([growth, -growth], -1)),
            "score": ((*rows, "head", "key", "query"), score),
            "attention": (
                (*rows, "sample", "head", "query_position", "key_position"),
                attention,
            ),
            "recorded": (rows, np.ones((seeds, count), bool)),
            "outcome": ("seed", np.array(["finished"] * seeds)),
            "end_time": ("seed", np.full(seeds, last)),
            "stage_start": (("seed", "stage"), np.tile([0.0, last / 4], (seeds, 1))),
            "stage_end": (("seed", "stage"), np.tile([last / 4, last], (seeds, 1))),
        },
        coords={
            "seed": np.arange(seeds),
            "time": ("time", times, {"units": units}),
            "head": ["+", "-"],
            "key": TOKENS,
            "query": TOKENS,
            "group": ["consistent", "conflicting"],
            "sample": SAMPLES,
            "stage": ["neurons", "attention"],
        },
    )
    return run.assign_attrs(_attributes(id))


def _attributes(id):
    return {
        "paper": "fake",
        "experiment": "figure1",
        "id": id,
        "setting": json.dumps({"width": 128, "scale": 0.1, "steps": 2000}),
        "form": "gram",
        "form_reason": "the rank is 4",
        "rule": "descent",
        "versions": json.dumps({"attnflow": "0.1.0", "jax": "0.10"}),
        "platform": "test machine",
        "wall_seconds": 1.5,
        "compile_seconds": 0.5,
        "citation": "fake2026",
    }
