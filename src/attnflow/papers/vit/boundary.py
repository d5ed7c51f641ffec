"""The boundary of Figure 1's map: where the mean test loss falls below its cut."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.claims.statistics import Boundary, agreement, best_constant, fit_boundary
from attnflow.papers.vit._types import Values
from attnflow.schema.installation import xr

CUT = 0.2
"""Test loss at which Figure 1b cuts the map."""
CURVE = 1000.0
"""N · SNR² along the paper's curve."""
EXPONENT = -0.5
"""Exponent of SNR in N along that curve."""
PRINTED = {"exponent of SNR in N": EXPONENT, "N·SNR²": CURVE}
TOLERANCE = 0.25
"""About a cell of the map. At the boundary N · SNR² of neighbours differs by 28%; one
cell more at its one end than at the other is 0.11 of the exponent."""


def losses(run: xr.Dataset) -> xr.DataArray:
    """Test losses of a map: dims seed, samples and SNR."""
    return run["test_loss"].transpose("seed", "samples", "snr")


def mean(table: xr.DataArray) -> xr.DataArray:
    """The mean test loss over seeds."""
    return table.mean("seed")


def above(table: xr.DataArray) -> xr.DataArray:
    """Figure 1b's map: whether the mean test loss is above the cut."""
    return mean(table) > CUT


def strength(table: xr.DataArray) -> xr.DataArray:
    """N · SNR² of every cell."""
    return (table["samples"] * table["snr"] ** 2).transpose("samples", "snr")


def strong_ratio(run: xr.Dataset) -> float:
    """σ_p²/σ̃_p²: N‖μ‖²/(σ̃_p²d) over N · SNR²."""
    setting = schema.setting_of(run)
    return (setting["sigma_p"] / setting["sigma_strong"]) ** 2


def fit(table: xr.DataArray) -> Boundary:
    """Boundary of the mean map and of every seed, with its fitted power law."""
    return fit_boundary(
        table["samples"].values,
        table["snr"].values,
        table.values,
        CUT,
        generator=np.random.default_rng(0),
    )


def agreeing(table: xr.DataArray) -> float:
    """Share of cells on the predicted side of the paper's curve."""
    return agreement(strength(table).values, above(table).values, CURVE)


def parting(table: xr.DataArray) -> float:
    """The N · SNR² that parts most cells above the cut from those below."""
    return best_constant(strength(table).values.ravel(), above(table).values.ravel())


def law(table: xr.DataArray) -> Values:
    """Power law of a map's boundary, to compare with the paper's −1/2 and 1000."""
    line = fit(table)
    return {
        "exponent of SNR in N": line.exponent,
        "exponent, 95% over seeds": _ends(line.exponent_interval),
        "N·SNR²": line.constant,
        "N·SNR², 95% over seeds": _ends(line.constant_interval),
        "N·SNR² that parts most cells": parting(table),
        "cells that agree with 1000": agreeing(table),
        "seeds": table.sizes["seed"],
    }


def _ends(interval: tuple[float, float]) -> dict[str, float]:
    return {"low": interval[0], "high": interval[1]}


def along(table: xr.DataArray, factor: float = 1.0) -> dict[str, float]:
    """N · SNR² where the mean map crosses the cut, for each N at which it does."""
    counts = table["samples"].values
    constants = factor * counts * fit(table).places ** 2
    return {
        f"N = {count:g}": float(number)
        for count, number in zip(counts, constants, strict=True)
        if np.isfinite(number)
    }


def steps(run: xr.Dataset) -> dict[str, float]:
    """Number of steps until the training loss is ε, over cells and seeds."""
    counts = run["end_time"].values
    return {
        "least": float(counts.min()),
        "median": float(np.median(counts)),
        "most": float(counts.max()),
    }
