"""Maps of what training comes to, over numbers of samples and SNRs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments import run_cells
from attnflow.papers.vit.experiments import train
from attnflow.papers.vit.settings import END, Train

AXES = ("samples", "snr_low", "snr_high", "snr_count")


def phase_map(
    setting: Mapping[str, Any],
    seeds: list[int],
    progress: Callable[[float, str], None] | None = None,
) -> xr.Dataset:
    """Losses and accuracy at the end of every cell, and the steps that it took."""
    counts = [int(n) for n in setting["samples"]]
    ratios = np.linspace(setting["snr_low"], setting["snr_high"], setting["snr_count"])
    shared = {name: value for name, value in setting.items() if name not in AXES}
    plans = [
        train(
            Train(
                samples=count,
                snr=float(ratio),
                room=_room(count),
                records=0,
                record=END,
                **shared,
            )
        )
        for count in counts
        for ratio in ratios
    ]
    found = run_cells(plans, seeds=seeds, progress=progress)
    shape = len(seeds), len(counts), len(ratios)
    dims = "seed", "samples", "snr"
    return xr.Dataset(
        {name: (dims, found[name].values.reshape(shape)) for name in found.data_vars},
        {"seed": list(seeds), "samples": counts, "snr": ratios},
    )


def _room(count: int) -> int:
    """How many samples cells are drawn with, so that few programs are compiled.

    A program takes a second or two to compile, and a step costs as the cube of the
    room: with few samples a larger one costs nothing, with many it costs more than it
    spares.
    """
    step = 4 if count <= 16 else 2
    return max(8, -(-count // step) * step)
