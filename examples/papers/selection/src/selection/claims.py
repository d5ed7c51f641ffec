"""Statements about a prompt that fits wrong labels."""

import numpy as np
import xarray as xr

from attnflow import Request
from attnflow.claims import AtLeast, Claim, Kind, Verdict

SMALL = {"run": Request("small")}
LAST = {"holes": "it reads the last record alone"}
SHARED = {"needs": SMALL, "place": "Experiments", "under": ()}
SHARED |= {"kind": Kind.OBSERVATION, "system": "gradient descent on W and p"}
SHARED |= {"expected": Verdict.HOLDS}


def noisy(run: xr.Dataset) -> xr.DataArray:
    """Attention of wrongly labelled samples to the relevant token, their mean."""
    relevant = run["attention"].isel(head=0, query_position=0, key_position=0)
    return relevant.isel(sample=[0, 1, 10, 11]).mean("sample", skipna=False)


def turn(run: xr.Dataset) -> xr.DataArray:
    """The smaller of two factors: its rise above the start, its fall below it."""
    first, course = noisy(run).isel(time=0), noisy(run)
    return np.minimum(
        course.max("time", skipna=False) / first, first / course.isel(time=-1)
    )


CLAIMS = (
    Claim(
        id="Sel-fit",
        statement="Training fits every label, the wrong ones too.",
        judge=AtLeast("training accuracy", lambda r: r["accuracy"][:, -1], 1.0),
        source="the reference trajectory; seeds 0 to 5, with results in view",
        survives=LAST,
        **SHARED,
    ),
    Claim(
        id="Sel-benign",
        statement="Fresh samples are still classified right.",
        judge=AtLeast("test accuracy", lambda r: r["test_accuracy"][:, -1], 0.99),
        source="seeds 0 to 5, and 0 and 1 at d = 2000, with results in view",
        survives=LAST,
        **SHARED,
    ),
    Claim(
        id="Sel-turn",
        statement="Wrongly labelled samples attend to the signal first, then to noise.",
        judge=AtLeast("rise and fall of attention", turn, 2.0),
        source="the reference trajectory, with results in view",
        **SHARED,
    ),
)
