"""The boundary of a map: where the mean test loss falls below Figure 1b's cut."""

from typing import Any

import numpy as np
import xarray as xr

from attnflow.measures import Boundary, agreement, best_constant, fit_boundary

CUT = 0.2
"""At which Figure 1b cuts the test loss."""
CURVE = 1000.0
"""N · SNR² along the paper's curve."""
EXPONENT = -0.5
"""Of SNR in N along it."""
DIMS = ("seed", "samples", "snr")


def losses(run: xr.Dataset) -> xr.DataArray:
    """Test losses in the order of `DIMS`."""
    return run["test_loss"].transpose(*DIMS)


def mean_map(run: xr.Dataset) -> xr.DataArray:
    """The mean test loss over seeds."""
    return losses(run).mean("seed")


def strength(run: xr.Dataset) -> xr.DataArray:
    """N · SNR² of every cell."""
    return (run["samples"] * run["snr"] ** 2).transpose(*DIMS[1:])


def boundary(run: xr.Dataset) -> Boundary:
    """The boundary of the mean map and of every seed, with its power law."""
    return fit_boundary(
        run["samples"].values,
        run["snr"].values,
        losses(run).values,
        CUT,
        generator=np.random.default_rng(0),
    )


def agreeing(run: xr.Dataset, constant: float = CURVE) -> float:
    """The share of cells on the side of N · SNR² = constant that they should be on."""
    return agreement(strength(run).values, above(run).values, constant)


def above(run: xr.Dataset) -> xr.DataArray:
    """The map of Figure 1b: whether the mean test loss is above the cut."""
    return mean_map(run) > CUT


def law(run: xr.Dataset) -> dict[str, Any]:
    """The numbers of a boundary, beside which the paper prints −1/2 and 1000."""
    fit = boundary(run)
    return {
        "exponent of SNR in N": fit.exponent,
        "exponent, 95% over seeds": list(fit.exponent_interval),
        "N·SNR²": fit.constant,
        "N·SNR², 95% over seeds": list(fit.constant_interval),
        "N·SNR² that parts most cells": best_constant(
            strength(run).values.ravel(), above(run).values.ravel()
        ),
        "cells that agree with 1000": agreeing(run),
        "seeds": run.sizes["seed"],
    }


def steps(run: xr.Dataset) -> dict[str, float]:
    """Steps of gradient descent until the training loss is ε, over cells and seeds."""
    taken = run["end_time"].values
    return {
        "least": float(taken.min()),
        "median": float(np.median(taken)),
        "most": float(taken.max()),
    }


PRINTED = {"exponent of SNR in N": EXPONENT, "N·SNR²": CURVE}
TOLERANCE = 0.1
"""An exponent within −0.5 ± 0.05 and a constant within 10%: about what ten seeds and
steps of 1.4 in SNR can tell."""
