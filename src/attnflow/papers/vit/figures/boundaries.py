"""The boundary of a map: where the mean test loss falls below Figure 1b's cut."""

from __future__ import annotations

import numpy as np

from attnflow.claims.statistics import Boundary, agreement, best_constant, fit_boundary
from attnflow.papers.vit._types import Values
from attnflow.schema.libraries import xr

CUT = 0.2
"""Test loss at which Figure 1b cuts the map."""
CURVE = 1000.0
"""N · SNR² along the paper's curve."""
EXPONENT = -0.5
"""Exponent of SNR in N along that curve."""
CURVE_LABEL = rf"$N\cdot$SNR$^2 = {CURVE:g}$ (paper)"
DIMS = ("seed", "samples", "snr")


def losses(run: xr.Dataset) -> xr.DataArray:
    """Test losses of a map, with dims in the order of `DIMS`."""
    return run["test_loss"].transpose(*DIMS)


def mean_map(run: xr.Dataset) -> xr.DataArray:
    """The mean test loss over seeds."""
    return losses(run).mean("seed")


def strength(run: xr.Dataset) -> xr.DataArray:
    """N · SNR² of every cell."""
    return (run["samples"] * run["snr"] ** 2).transpose(*DIMS[1:])


def below_curve(snr: np.ndarray, count: np.ndarray) -> np.ndarray:
    """1000 − N · SNR²: positive below the paper's curve, where the loss is high."""
    return CURVE - count * snr**2


def boundary(run: xr.Dataset) -> Boundary:
    """Boundary of the mean map and of every seed, with its fitted power law."""
    return fit_boundary(
        run["samples"].values,
        run["snr"].values,
        losses(run).values,
        CUT,
        generator=np.random.default_rng(0),
    )


def agreeing(run: xr.Dataset, constant: float = CURVE) -> float:
    """Share of cells on the predicted side of N · SNR² = constant."""
    return agreement(strength(run).values, above(run).values, constant)


def above(run: xr.Dataset) -> xr.DataArray:
    """Figure 1b's map: whether the mean test loss is above the cut."""
    return mean_map(run) > CUT


def law(run: xr.Dataset) -> Values:
    """Power law of a map's boundary, to compare with the paper's −1/2 and 1000."""
    fit = boundary(run)
    return {
        "exponent of SNR in N": fit.exponent,
        "exponent, 95% over seeds": ends(fit.exponent_interval),
        "N·SNR²": fit.constant,
        "N·SNR², 95% over seeds": ends(fit.constant_interval),
        "N·SNR² that parts most cells": best_constant(
            strength(run).values.ravel(), above(run).values.ravel()
        ),
        "cells that agree with 1000": agreeing(run),
        "seeds": run.sizes["seed"],
    }


def ends(interval: tuple[float, float]) -> dict[str, float]:
    """Both ends of an interval by name."""
    return {"low": interval[0], "high": interval[1]}


def along(run: xr.Dataset, factor: float = 1.0) -> dict[str, float]:
    """N · SNR² where the mean map crosses the cut, for each N at which it does."""
    counts = run["samples"].values
    constants = factor * counts * boundary(run).places ** 2
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


PRINTED = {"exponent of SNR in N": EXPONENT, "N·SNR²": CURVE}
TOLERANCE = 0.25
"""About a cell of the map. At the boundary N · SNR² of neighbours differs by 28%; one
cell more at its one end than at the other is 0.11 of the exponent."""
