"""Figures 3 and 4: scores, attention and values during training, in both regimes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.vit._types import Regime, Values
from attnflow.papers.vit.figures.runs import (
    APPENDIX_SILENT,
    LITERAL,
    TRAINED,
    appendix,
)
from attnflow.papers.vit.stages import STAGES, values_at
from attnflow.schema.declarations import Exhibit, Predicates
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE
from attnflow.schema.installation import xr

QUERIES = (HEAD, QUERY_POSITION)
PANELS: dict[str, tuple[str, Callable[[xr.Dataset], xr.DataArray]]] = {
    "scores": (
        r"score $x_l^{\top}W_QW_K^{\top}x_j$, mean over $l$",
        lambda run: run["pair_score"].mean(QUERIES),
    ),
    "attention": (
        r"attention to $x_j$, mean over $l$",
        lambda run: run["attention"].mean(QUERIES),
    ),
    "values": (r"value $y\,x_j^{\top}W_Vw_O$", values_at),
}
"""By panel: the name of its axis, and a table of samples and positions over time."""
TOKENS = {
    "μ": ("signal", slice(0, 1), r"$\mu$"),
    "ξ_2": ("noise", slice(1, 2), r"$\xi_2$"),
    "ξ_3 and further": ("other", slice(2, None), r"$\xi_{3..}$"),
}
"""By token: its kind, which gives the colour, positions and symbol."""
SIGNAL, STRONG, WEAK = TOKENS
READINGS = {
    "w_O trained": (TRAINED, "$w_O$ trained"),
    "w_O fixed": (LITERAL, "$w_O$ fixed"),
}
"""By reading of w_O, as Figure 1 needs it and as the theory has it: its name."""
SYMBOLS = {"T1": "$T_1$", "T2": "$T_2$", "T_att": r"$T_{\mathrm{att}}$", "T3": "$T_3$"}


def _of_token(run: xr.Dataset, panel: str, positions: slice) -> xr.DataArray:
    return PANELS[panel][1](run).isel({KEY_POSITION: positions})


def _course(panel: str, regime: Regime, reading: str) -> Course:
    return Course(
        title=f"{panel.capitalize()}, {READINGS[reading][1]}",
        name=f"{panel}, {reading}",
        x="step of gradient descent" if reading == [*READINGS][-1] else "",
        y=PANELS[panel][0],
        scales=("log", "linear"),
        lines=tuple(
            Line(
                name,
                partial(_of_token, panel=panel, positions=positions),
                run=reading,
                label=symbol,
                kind=kind,
                middle="mean",
                whole=True,
            )
            for name, (kind, positions, symbol) in TOKENS.items()
        ),
        marks=STAGES[regime],
        symbols=SYMBOLS,
    )


def end(panel: Series, token: str) -> xr.DataArray:
    """The mean over samples at the end of training, by seed."""
    return panel.ends[token].mean((SAMPLE, KEY_POSITION))


def values(table: Tables) -> Values:
    """Final means, and detected ends of stages, by reading of w_O."""
    return {
        reading: {
            "at the end": {
                panel: {
                    token: float(end(table[f"{panel}, {reading}"], token).mean())
                    for token in TOKENS
                }
                for panel in PANELS
            },
            "stages, in steps": {
                name: event.median
                for name, event in table[f"scores, {reading}"].marks.items()
                if event.median is not None
            },
        }
        for reading in READINGS
    }


def _both(
    panel: str, predicate: Callable[[Series], xr.DataArray]
) -> Callable[[Tables], list[xr.DataArray]]:
    """Whether it is true of a panel in both readings of w_O."""
    return lambda t: [predicate(t[f"{panel}, {reading}"]) for reading in READINGS]


def _above(first: str, second: str) -> Callable[[Series], xr.DataArray]:
    return lambda panel: end(panel, first) > end(panel, second)


def _stated(winner: str, loser: str) -> Predicates:
    return {
        f"{panel} of {winner} grow faster than those of {loser}: they end above": _both(
            panel, _above(winner, loser)
        )
        for panel in ("scores", "values")
    } | {
        f"more and more attention is paid to {winner}: it ends above the start": _both(
            "attention", lambda panel: end(panel, winner) > _begin(panel, winner)
        )
    }


def _checks(winner: str) -> Predicates:
    return {
        f"{panel}: {winner} ends above weak noise, in every seed": _both(
            panel, _above(winner, WEAK)
        )
        for panel in PANELS
    } | {
        "attention is uniform at the start": lambda t: [
            abs(_begin(t[f"attention, {n}"], winner) - 1 / run.sizes[KEY_POSITION])
            < 0.01
            for n, run in t.runs.items()
        ],
        f"with w_O fixed {winner} has all attention at the end (0.95 or more), with "
        "w_O trained not (0.75 at most)": lambda t: (
            (end(t["attention, w_O fixed"], winner) > 0.95)
            & (end(t["attention, w_O trained"], winner) < 0.75)
        ),
    }


def _begin(panel: Series, token: str) -> xr.DataArray:
    """Mean attention to a token before training."""
    return panel[token].isel(time=0).mean()


def _figure(number: int, regime: Regime, caption: str) -> Exhibit:
    winner, loser = (SIGNAL, STRONG) if regime == "benign" else (STRONG, SIGNAL)
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: scores, attention and values, {regime} overfitting",
        caption=(
            f"{caption} M = 4, d = 2048, d_h = 1024, d_v = 256, σ_p = 0.05, σ̃_p = 1. "
            "Means over samples, queries and three seeds; bands are their range (of "
            "means over queries). Values are multiplied by the label. Dotted: "
            "ends of stages as detected (median over seeds): T2 when the largest "
            "value is 0.1, T_att when mean attention to the winner is 0.9, T1 when "
            "its value is 3M times all others of its sample, T3 when training ends. "
            "Above, w_O is trained with the other weights, the reading that gives "
            "Figure 1 its boundary: training ends before attention is sparse. Below, "
            "w_O is fixed, as in the theory."
        ),
        needs={name: appendix(regime, of[0]) for name, of in READINGS.items()},
        shows=Panels(
            tuple(_course(panel, regime, n) for n in READINGS for panel in PANELS),
            columns=3,
            size=(12.6, 7.8),
        ),
        values=values,
        stated={"Appendix A, Experiments results": _stated(winner, loser)},
        checks=_checks(winner),
        silent=APPENDIX_SILENT,
    )


FIGURE3 = _figure(
    3,
    "benign",
    "Scores, attention and values over steps at N = 16 and ‖μ‖ = 25, where the "
    "signal wins. T1 is not reached: noise that is not projected off the signals has "
    "a part of their value.",
)
FIGURE4 = _figure(
    4,
    "harmful",
    (
        "Scores, attention and values over steps at N = 10 and ‖μ‖ = 15, where the "
        "strong noise token wins and is memorised."
    ),
)
