"""The steps that the paper marks by round numbers, and what is detected there."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow.claims.stages import Event
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures.readings import three_numbers

Marks = Mapping[str, tuple[float, Callable[[xr.Dataset], Event]]]


MARKS: Marks = {
    "stage I ends": (2.0, stages.values_positive),
    "stage II ends": (10.0, stages.noise_aligned),
    "stage III ends": (40.0, stages.signals_voted),
    "keys turn": (150.0, stages.keys_turn),
    "queries turn": (300.0, stages.queries_turn),
}
"""What the paper prints (Section 3.1), and what we look for."""


def marks(run: xr.Dataset, wanted: Marks = MARKS) -> dict[str, Any]:
    """Median, least and largest first whole step over seeds, of each mark."""
    return {
        name: three_numbers(np.ceil(_never_is_latest(detect(run).times)))
        for name, (_, detect) in wanted.items()
    }


def on_paper(wanted: Marks) -> dict[str, Any]:
    """The printed steps, under the names of the medians."""
    return {name: {"median": printed} for name, (printed, _) in wanted.items()}


def _never_is_latest(times: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(times), np.inf, times)
