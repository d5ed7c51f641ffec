"""Claims on Section 6's insights (a) to (c): in C, and carried over to Q and J."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow.claims import All, Claim, Falling, Kind, Rising, Verdict
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import by_run, entropy, last
from attnflow.papers.scansnap.stages import ATTENTION_SNAP, SLOW_GROWTH
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

SCALES = (1.0, 10.0, 100.0, 1000.0)
RISING = (1.0, 2.0, 5.0, 10.0, 20.0)
FIGURE_9 = {
    f"C, {rate:g}": ev.flow("figure9", score_rate=rate, value_rate=rate)
    for rate in (0.1, 0.3, 1.0, 3.0)
}
FIXED = f"{ev.SMALL}, t = 10³, η_Y = η_Z = 1, 10, 100, 1000"
RAISED = f"{ev.SMALL}, t = 10⁵, η_Z = 1, η_Y = 1, 2, 5, 10, 20"
LAST = {"holes": "it reads only the last record"}


def scaled(letter: str) -> dict[str, Request]:
    """Requests with both rates raised at η_Y/η_Z = 1, until the same time."""
    return {
        f"{letter}, {scale:g}": ev.small(letter, until=1e3, score_rate=scale, ratio=1.0)
        for scale in SCALES
    }


def by_ratio(letter: str) -> dict[str, Request]:
    """Requests with η_Y raised at η_Z = 1."""
    return {
        f"{letter}, {ratio:g}": ev.small(letter, until=1e5, score_rate=1.0, ratio=ratio)
        for ratio in RISING
    }


def _drive(run: xr.Dataset) -> xr.DataArray:
    return last(run["drive_integral"])


def _snap(run: xr.Dataset) -> np.ndarray:
    return ATTENTION_SNAP(run).times


def _slow(run: xr.Dataset) -> np.ndarray:
    return SLOW_GROWTH(run).times


_claim = partial(Claim, kind=Kind.UNIVERSAL, expected=Verdict.HOLDS, source=ev.FLOW_RUN)
_scalar = partial(_claim, system=ev.C, under=("Eq. 13",))
_attention = partial(_claim, system=ev.Q, under=("Eq. 13",), survives=LAST)
CLAIMS = (
    _scalar(
        id="E-6a",
        place="Section 6, insight (a)",
        statement="A larger η_Y at fixed η_Z brings the transition earlier.",
        needs=ev.FIGURE_3_C,
        judge=All(
            (
                Falling("time of the fastest score", _snap, unit="log"),
                Falling("time of growth slower than t", _slow, unit="log"),
            ),
            also={"time of the fastest score": by_run(_snap)},
        ),
        predicate="at each increase of η_Y",
        settings=ev.FIGURE_3,
        survives={"cut": "the transition is at a few K/η_Y, and the runs go to 10⁴"},
    ),
    _claim(
        id="E-R-6a",
        place="Section 6, insight (a), in Q and for training",
        statement="A larger η_Y at fixed η_Z brings the snap of attention earlier in Q "
        "and in training.",
        under=("Eq. 13",),
        system=f"{ev.Q}; and {ev.J}",
        needs={**ev.FIGURE_3_J, **ev.FIGURE_3_Q},
        judge=All(
            tuple(
                Falling(
                    f"{letter}, time of the fastest score",
                    _snap,
                    unit="log",
                    of=(f"{letter}, *",),
                )
                for letter in ("J", "Q")
            ),
            also={"time of the fastest score": by_run(_snap)},
        ),
        predicate="of the dominant token, at each increase of η_Y",
        settings=ev.FIGURE_3,
        origin="ours",
        survives={"cut": "the snap is at a few K/η_Y, and the runs go to 10⁴"},
    ),
    _scalar(
        id="E-6b",
        place="Section 6, insight (b); Figure 9",
        statement="Larger η_Y and η_Z at a fixed ratio give a larger B at the same "
        "time.",
        needs=FIGURE_9,
        judge=All((Rising("B", _drive),), also={"B": by_run(_drive)}),
        predicate="at t = 10⁵, at each increase of the rates",
        settings="K = 10, M = 1000, η_Y = η_Z = 0.1, 0.3, 1, 3",
        survives=LAST,
    ),
    _attention(
        id="E-6b-H",
        place="Section 6, insight (b)",
        statement="Larger η_Y and η_Z at a fixed ratio give sparser attention.",
        needs=scaled("Q"),
        judge=All((Falling("H(DT)", entropy),), also={"H(DT)": by_run(entropy)}),
        predicate="in Q, at each increase of the rates",
        settings=FIXED,
    ),
    _scalar(
        id="E-6c",
        place="Section 6, insight (c); Figure 3",
        statement="At fixed η_Z a larger η_Y gives a smaller B.",
        needs=ev.FIGURE_3_C,
        judge=All((Falling("B", _drive),), also={"B": by_run(_drive)}),
        predicate="at t = 10⁵, at each increase of η_Y",
        settings=ev.FIGURE_3,
        survives=LAST,
    ),
    _attention(
        id="E-6c-H",
        place="Section 6, insight (c)",
        statement="At fixed η_Z a larger η_Y gives denser attention.",
        needs=by_ratio("Q"),
        judge=All((Rising("H(DT)", entropy),), also={"H(DT)": by_run(entropy)}),
        predicate="in Q, at each increase of η_Y",
        settings=RAISED,
    ),
)
