"""Figures 3 and 4: scores, attention and values during training, in both regimes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.vit._types import Regime, Values
from attnflow.papers.vit.figures.runs import APPENDIX_SILENT, appendix
from attnflow.papers.vit.stages import STAGES, values_at
from attnflow.schema.declarations import Exhibit, Predicates
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE
from attnflow.schema.libraries import xr

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
SYMBOLS = {"T1": "$T_1$", "T2": "$T_2$", "T_att": r"$T_{\mathrm{att}}$", "T3": "$T_3$"}


def _of_token(run: xr.Dataset, panel: str, positions: slice) -> xr.DataArray:
    return PANELS[panel][1](run).isel({KEY_POSITION: positions})


def _course(panel: str, regime: Regime) -> Course:
    return Course(
        title=panel.capitalize(),
        name=panel,
        x="step of gradient descent",
        y=PANELS[panel][0],
        scales=("log", "linear"),
        lines=tuple(
            Line(
                name,
                partial(_of_token, panel=panel, positions=positions),
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
    """Final means, and detected ends of stages."""
    times = {name: event.median for name, event in table["scores"].marks.items()}
    return {
        "at the end": {
            name: {token: float(end(panel, token).mean()) for token in TOKENS}
            for name, panel in table.items()
        },
        "stages, in steps": {n: time for n, time in times.items() if time is not None},
    }


def _above(panel: str, first: str, second: str) -> Callable[[Tables], xr.DataArray]:
    return lambda t: end(t[panel], first) > end(t[panel], second)


def _stated(winner: str, loser: str) -> Predicates:
    return {
        f"{panel} of {winner} grow faster than those of {loser}: they end above": (
            _above(panel, winner, loser)
        )
        for panel in ("scores", "values")
    } | {
        f"more and more attention is paid to {winner}: it ends above the start": (
            lambda t: end(t["attention"], winner) > 1 / _length(t)
        )
    }


def _checks(winner: str) -> Predicates:
    return {
        f"{panel}: {winner} ends above weak noise, in every seed": _above(
            panel, winner, WEAK
        )
        for panel in PANELS
    } | {
        f"attention begins even and ends on {winner} (0.95 or more)": lambda t: (
            (abs(_begin(t) - 1 / _length(t)) < 0.01)
            & (end(t["attention"], winner) > 0.95)
        )
    }


def _begin(table: Tables) -> xr.DataArray:
    """Mean attention to the signal before training."""
    return table["attention"][SIGNAL].isel(time=0).mean()


def _length(table: Tables) -> int:
    return table.runs["run"].sizes[KEY_POSITION]


def _figure(number: int, regime: Regime, caption: str) -> Exhibit:
    winner, loser = (SIGNAL, STRONG) if regime == "benign" else (STRONG, SIGNAL)
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: scores, attention and values, {regime} overfitting",
        caption=(
            f"{caption} M = 4, d = 2048, d_h = 1024, d_v = 256, σ_p = 0.05, σ̃_p = 1. "
            "Means over samples, queries and three seeds; bands: from the least to the "
            "largest of them (means over queries). Values times the label. Dotted: "
            "ends of stages as detected (median over seeds), T2 where the largest "
            "value is 0.1, T_att where mean attention to the winner is 0.9, T1 where "
            "its value is 3M times all others of its sample, T3 where training ends."
        ),
        needs={"run": appendix(regime)},
        shows=Panels(
            tuple(_course(panel, regime) for panel in PANELS), size=(12.6, 4.3)
        ),
        values=values,
        stated={"Appendix A, Experiments results": _stated(winner, loser)},
        checks=_checks(winner),
        silent=APPENDIX_SILENT,
    )


FIGURE3 = _figure(
    3,
    "benign",
    "N = 16 and ‖μ‖ = 25: the signal wins. T1 is not reached: noise that is not "
    "projected off the signals shares part of their value.",
)
FIGURE4 = _figure(
    4, "harmful", "N = 10 and ‖μ‖ = 15: the strong noise token wins, and is memorised."
)
