"""One drop, or a plateau for each direction."""

import numpy as np
import xarray as xr

from attnflow import Request, schema
from attnflow.claims import AtLeast, AtMost, Claim, Kind, Verdict

MERGED = {"run": Request("merged")}
SEPARATE = {"run": Request("separate")}
SHARED = {"place": "Experiments", "under": (), "expected": Verdict.HOLDS}
SHARED |= {"kind": Kind.OBSERVATION, "system": "gradient descent on the population"}


def plateaus(run: xr.Dataset) -> np.ndarray:
    """The population's loss after m directions, largest eigenvalues first."""
    setting = schema.setting_of(run)
    n, size = setting["length"], np.arange(setting["dimension"], 0, -1.0)
    size /= size.sum()
    gain = size / (1 + (1 + size.sum() / size) / n)
    return 1 - np.r_[0, np.cumsum(gain)]


def nearness(run: xr.Dataset) -> xr.DataArray:
    levels = xr.DataArray(plateaus(run), dims="plateau")
    gap = abs(run["loss"] / levels - 1).min("plateau", skipna=False)
    return (gap < 0.02).where(gap.notnull()).mean("time", skipna=False)


def drop(run: xr.Dataset) -> xr.DataArray:
    first, last = run["loss"].isel(time=0), run["loss"].isel(time=-1)
    fallen = (first - run["loss"]) / (first - last)
    falls = ((fallen > 0.05) & (fallen < 0.95)).where(fallen.notnull())
    return falls.mean("time", skipna=False)


CLAIMS = (
    Claim(
        id="Lin-plateaus",
        statement="Separate keys and queries of rank 1 stay near the plateaus' losses.",
        needs=SEPARATE,
        judge=AtLeast("share of records near a plateau", nearness, 0.9),
        source="seeds 0 to 3, with results in view: 0.6 became 0.9 (0.98 was seen)",
        **SHARED,
    ),
    Claim(
        id="Lin-abrupt",
        statement="One merged matrix learns in a single drop.",
        needs=MERGED,
        judge=AtMost("share of the time in which the loss falls", drop, 0.25),
        source="the reference trajectory, in view (0.13): 0.5 became 0.25",
        **SHARED,
    ),
)
