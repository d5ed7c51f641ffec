"""Losses of merged and of separate weights."""

from attnflow import Exhibit
from attnflow.figures.exhibits import Course, Line, Panels
from linear_icl.claims import MERGED, SEPARATE


def _panel(title: str, name: str) -> Course:
    lines = (Line("loss", "loss", run=name, kind="signal"),)
    return Course(title=title, name=name, y="loss", lines=lines)


EXHIBITS = (
    Exhibit(
        id="losses",
        kind="figure",
        title="Linear attention in context",
        caption="Population losses of merged and of separate key–query weights.",
        needs={"merged": MERGED["run"], "separate": SEPARATE["run"]},
        shows=Panels(
            (_panel("Merged", "merged"), _panel("Separate, rank 1", "separate"))
        ),
        checks={"it falls below 1/2": lambda t: t["merged"].ends["loss"] < 0.5},
        silent=("Initial scale and steps are ours.",),
    ),
)
