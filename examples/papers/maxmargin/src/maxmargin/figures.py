"""The margin of the best tokens."""

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
        checks={
            "the margin becomes positive": lambda t: t["margin"].ends["margin"] > 0
        },
        silent=("The seeds are ours.",),
    ),
)
