"""Claims of a paper that speak of an experiment, with recorded verdicts."""

from typing import Any

from attnflow.claims.judges import All, InOrder
from attnflow.claims.stages import Stage
from attnflow.papers.base import Paper

Json = dict[str, Any]


def claims_of(paper: Paper, id: str) -> list[Json]:
    """The claims that need a run of this experiment.

    A claim is live where its judge is an order of stages, which a page can detect.
    """
    return [
        _claim(claim)
        for claim in paper.claims
        if any(request.experiment == id for request in claim.needs.values())
    ]


def _claim(claim: Any) -> Json:
    correction = claim.correction
    judge, partial = _orders(claim.judge)
    return {
        "id": claim.id,
        "place": claim.place,
        "statement": claim.statement,
        "kind": str(claim.kind),
        "origin": claim.origin,
        "verdict": str(claim.expected),
        "reading": str(claim.expected),
        "scope": None,
        "corrected": None
        if correction is None
        else {
            "kind": str(correction.kind),
            "statement": correction.statement,
            "verdict": str(correction.expected),
        },
        "live": bool(judge),
        "judge": judge or None,
        "partial": partial,
        "map": None,
    }


def _orders(judge: Any) -> tuple[list[Json], bool]:
    """Orders of stages that a page can judge, and whether that is a part of it."""
    parts = judge.parts if isinstance(judge, All) else (judge,)
    plain = [p for p in parts if isinstance(p, InOrder) and _is_plain(p)]
    orders = [
        {
            "groups": [list(group) for group in part.groups],
            "never": list(part.never),
            "stages": {n: _detector(stage) for n, stage in part.stages.items()},
        }
        for part in plain
    ]
    return orders, len(plain) < len(parts)


def _is_plain(order: InOrder) -> bool:
    return all(
        isinstance(s.series, str)
        and not callable(s.level)
        and s.detector in ("first", "last", "settled", "largest", "least", "plateau")
        for s in order.stages.values()
    )


def _detector(stage: Stage) -> Json:
    return {
        "selector": stage.series,
        "kind": stage.detector,
        "level": {"value": float(stage.level)},  # pyright: ignore[reportArgumentType] # not callable
        "direction": stage.direction,
        "clock": stage.clock,
        "scale": stage.scale,
        "atEnd": stage.at_end,
    }
