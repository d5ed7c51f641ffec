"""Sweeps as the store would give them, from a formula."""

import json

import numpy as np
import xarray as xr

COUNTS = np.arange(4.0, 20.0, 2.0)
RATIOS = np.linspace(4.1, 24.1, 21)


def swept(values, coords, seeds=3, **attrs):
    """A Dataset of one measure over coords and seeds, with a sweep's attributes."""
    dims = (*coords, "seed")
    shape = tuple(len(c) for c in coords.values())
    known = {"cells_computed": int(np.prod(shape)), "cells_full": int(np.prod(shape))}
    return xr.Dataset(
        {
            **{name: (dims, table) for name, table in values.items()},
            "outcome": (dims, np.full((*shape, seeds), "finished", object)),
            "error": (tuple(coords), np.full(shape, "", object)),
        },
        {**coords, "seed": np.arange(seeds)},
        {
            **known,
            "id": "0123456789abcdef",
            "experiment": "figure1",
            "setting": json.dumps({"width": 8}),
            "wall_seconds": 12.5,
            "versions": json.dumps({"jax": "0"}),
            "platform": "here",
            "changed": json.dumps([]),
            **attrs,
        },
    )


def hyperbola(constant=1000.0):
    """A loss that is 1 along N · SNR² = constant, in each seed a little elsewhere."""
    shifts = np.array([-0.05, 0.0, 0.05])
    control = COUNTS[:, None] * RATIOS**2
    loss = constant * np.exp(shifts) / control[..., None]
    return swept({"loss": loss}, {"samples": COUNTS, "snr": RATIOS})
