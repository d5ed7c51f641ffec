"""Figure 1's map: final losses over numbers of samples and SNRs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnflow.experiments import run_cells
from attnflow.papers.vit._types import Fields
from attnflow.papers.vit.experiments import train
from attnflow.papers.vit.settings import END, Train
from attnflow.schema.installation import xr

AXES = ("samples", "snr_low", "snr_high", "snr_count")


def phase_map(
    setting: Fields,
    seeds: list[int],
    progress: Callable[[float, str], None] | None = None,
) -> xr.Dataset:
    """Final losses, test accuracy and number of steps of every cell."""
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
    cells = run_cells(plans, seeds=seeds, progress=progress)
    shape = len(seeds), len(counts), len(ratios)
    dims = "seed", "samples", "snr"
    return xr.Dataset(
        {name: (dims, cells[name].values.reshape(shape)) for name in cells.data_vars},
        {"seed": list(seeds), "samples": counts, "snr": ratios},
    )


def _room(count: int) -> int:
    """Number of samples that a cell is padded to, so that few programs are compiled.

    A program takes a second or two to compile, and the cost of a step grows as the
    cube of the room: with few samples padding is free, with many it costs more than
    it saves.
    """
    step = 4 if count <= 12 else 2
    return max(8, -(-count // step) * step)
