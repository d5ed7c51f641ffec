"""Ends of stages that the paper marks by round steps, and their detectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from attnflow.claims.stages import Event
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures.statistics import three_numbers
from attnflow.schema.libraries import xr

Marks: TypeAlias = "Mapping[str, tuple[float, Callable[[xr.Dataset], Event]]]"


MARKS: Marks = {
    "stage I ends": (2.0, stages.values_positive),
    "stage II ends": (10.0, stages.noise_aligned),
    "stage III ends": (40.0, stages.signals_voted),
    "keys turn": (150.0, stages.keys_turn),
    "queries turn": (300.0, stages.queries_turn),
}
"""The printed step (Section 3.1) and the detector of each event."""


def marks(run: xr.Dataset, selection: Marks = MARKS) -> dict[str, dict[str, float]]:
    """The first whole step of each event: median, smallest and largest over seeds."""
    return {
        name: three_numbers(np.ceil(_never_is_latest(detect(run).times)))
        for name, (_, detect) in selection.items()
    }


def on_paper(selection: Marks) -> dict[str, dict[str, float]]:
    """The printed steps, with the keys of `marks`."""
    return {name: {"median": printed} for name, (printed, _) in selection.items()}


def _never_is_latest(times: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(times), np.inf, times)
