"""Attention of clean and of wrongly labelled samples."""

import xarray as xr

from attnflow import Exhibit
from attnflow.figures.exhibits import Course, Line, Panels
from selection.claims import SMALL, noisy


def clean(run: xr.Dataset) -> xr.DataArray:
    relevant = run["attention"].isel(head=0, query_position=0, key_position=0)
    return relevant.isel(sample=list(range(2, 10))).mean("sample")


ATTENTION = Course(
    title="Attention to the relevant token",
    name="attention",
    y="attention",
    lines=(
        Line("clean", clean, kind="class"),
        Line("wrong", noisy, kind="noise"),
    ),
)
EXHIBITS = (
    Exhibit(
        id="attention",
        kind="figure",
        title="Token selection with label noise",
        caption="Attention to the relevant token, over steps of descent.",
        needs=SMALL,
        shows=Panels((ATTENTION,)),
        checks={
            "wrong labels end below clean ones": lambda t: (
                t["attention"].ends["wrong"] < t["attention"].ends["clean"]
            )
        },
        silent=("The number of steps is ours.",),
    ),
)
