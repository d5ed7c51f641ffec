"""The margin of the best tokens."""

import numpy as np

from attnflow import Exhibit
from attnflow.figures.exhibits import Course, Line, Panels
from maxmargin.claims import NORMALISED, margin

EXHIBITS = (
    Exhibit(
        id="direction",
        kind="figure",
        title="The margin of the best tokens",
        caption="The smallest lead of a best token, over steps of descent.",
        needs=NORMALISED,
        shows=Panels(
            (
                Course(
                    title="Normalised descent",
                    name="margin",
                    y="margin",
                    lines=(Line("margin", margin, kind="signal"),),
                ),
            )
        ),
        checks={"the margin grows": lambda t: np.ptp(margin(t.runs["run"]).values) > 1},
        silent=("The seeds are ours.",),
    ),
)
