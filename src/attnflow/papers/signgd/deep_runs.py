"""Runs of deeper models, which tables, figures and a claim share."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from attnflow.papers.signgd.claims.evidence import PLAN
from attnflow.schema.declarations import Request

PAPERS_SIZE = 2000
PAPERS_RATE = 1e-4
NEAREST = {True: "mean", False: "full"}
"""The readings nearest to what is printed, with and without residual connections."""
PLAIN = "plain float32"
"""That reading as autograd in float32 trains it."""
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
    """A model of Appendix B.6."""

    layers: int
    mlp: bool
    residual: bool

    @property
    def name(self) -> str:
        """In words."""
        mlp, residual = (
            "with" if has else "without" for has in (self.mlp, self.residual)
        )
        return f"{self.layers} layers, {mlp} MLP, {residual} residual connections"

    @property
    def short(self) -> str:
        """For titles of panels."""
        return f"{self.layers} layers" + ", MLP" * self.mlp


def models(*, residual: bool) -> tuple[Blocks, ...]:
    """The four models of Figure 14, or of Figure 15, in their order."""
    return tuple(
        Blocks(layers, mlp, residual) for mlp in (False, True) for layers in (2, 3)
    )


def name_of(blocks: Blocks, reading: str) -> str:
    """What evidence calls a run."""
    return f"{blocks.short}, {reading}"


def smaller(embed: int) -> dict[str, Any]:
    """A smaller dimension, at the rate at which events keep their steps."""
    return {"embed": embed, "learning_rate": PAPERS_RATE * PAPERS_SIZE / embed}


QUICK = {**smaller(400), "steps": 400}


def course(blocks: Blocks, way: str, *, size: Mapping[str, Any]) -> Request:
    """A model's course at some size, by a reading or in plain float32."""
    precision = {"scaled": False, "precision": "float32"} if way == PLAIN else {}
    reading = NEAREST[blocks.residual] if way == PLAIN else way
    own = {**blocks._asdict(), "reading": reading, "record": COURSE, **precision}
    return Request("stack", {**own, **size}, seeds=1, quick=QUICK)


def rounding(blocks: Blocks, *, scaled: bool, size: Mapping[str, Any]) -> Request:
    """A model's course in float32, for how many signs its gradients keep."""
    own = {
        **blocks._asdict(),
        "scaled": scaled,
        "precision": "float32",
        "every": 2,
        "record": ("loss", "zero_signs"),
    }
    return Request("stack", {**own, **size}, seeds=PLAN[3:6])
