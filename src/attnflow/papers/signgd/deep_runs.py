"""Requests for runs of deeper models (Tables 4–11, Figures 14 and 15, `C-B6-prec`)."""

from typing import NamedTuple

from attnflow.papers.signgd._types import Overrides
from attnflow.papers.signgd.seeds import PLAN
from attnflow.schema.declarations import Request

PAPERS_SIZE = 2000
PAPERS_RATE = 1e-4
NEAREST = {True: "mean", False: "full"}
"""The reading that is closest to the paper, with and without residual connections."""
PLAIN = "plain float32"
"""Name of that reading when it is trained by plain autograd in float32."""
COURSE = (
    "loss",
    "key_neuron",
    "query_neuron",
    "attention",
    "zero_signs",
    "log_mean_key_gradient",
    "log_mean_query_gradient",
)


class Blocks(NamedTuple):
    """A model of Appendix B.6: number of layers, with or without MLP and residuals."""

    layers: int
    mlp: bool
    residual: bool

    @property
    def name(self) -> str:
        """The model in words."""
        mlp, residual = (
            "with" if has else "without" for has in (self.mlp, self.residual)
        )
        return f"{self.layers} layers, {mlp} MLP, {residual} residual connections"

    @property
    def short(self) -> str:
        """A short name, for titles of panels."""
        return f"{self.layers} layers" + ", MLP" * self.mlp


def models(*, residual: bool) -> tuple[Blocks, ...]:
    """The four models of Figure 14 (residual) or Figure 15, in the paper's order."""
    return tuple(
        Blocks(layers, mlp, residual) for mlp in (False, True) for layers in (2, 3)
    )


def name_of(blocks: Blocks, reading: str) -> str:
    """The name of a run in the evidence."""
    return f"{blocks.short}, {reading}"


def smaller(embed: int) -> dict[str, float]:
    """Overrides for a smaller d, with a rate that keeps the steps of events."""
    return {"embed": embed, "learning_rate": PAPERS_RATE * PAPERS_SIZE / embed}


QUICK = {**smaller(400), "steps": 400}


def course(blocks: Blocks, way: str, *, size: Overrides) -> Request:
    """A run of a model at some size, by a reading or in plain float32."""
    precision = {"scaled": False, "precision": "float32"} if way == PLAIN else {}
    reading = NEAREST[blocks.residual] if way == PLAIN else way
    overrides = {**blocks._asdict(), "reading": reading, "record": COURSE, **precision}
    return Request("stack", {**overrides, **size}, seeds=1, quick=QUICK)


def rounding(blocks: Blocks, *, scaled: bool, size: Overrides) -> Request:
    """A run of a model in float32 that records how many gradients are exactly zero."""
    overrides = {
        **blocks._asdict(),
        "scaled": scaled,
        "precision": "float32",
        "every": 2,
        "record": ("loss", "zero_signs"),
    }
    return Request("stack", {**overrides, **size}, seeds=PLAN[3:6])
