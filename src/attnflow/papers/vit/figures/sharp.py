"""Test loss over N · SNR², inside the whole of Condition 4.1 (ours)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Curve, Curves, Panels, Tables
from attnflow.papers.vit.figures.runs import SEEDS_SILENT
from attnflow.papers.vit.sizes import inside, sizes
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import SEED, STAGE
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRENGTHS = (0.1, 1.0, 10.0, 30.0, 60.0, 100.0, 150.0, 300.0, 1e3, 1e4, 1e5)
TARGETS = (0.018, 0.0018)
NAMES = tuple(f"ε = {target:g}" for target in TARGETS)
SAMPLES = 64
LINES = {1.0: "hypotheses of both theorems", 12000.0: "proof of Lemma 5.2"}
"""N · SNR² that the theorems and the proof need: 1 (read), and 60M²C_p²."""


def _request(strength: float, target: float) -> Request:
    setting = inside(SAMPLES, strength, target)
    return Request(
        "theory-benign", setting, seeds=3, quick={"samples": 16}, quick_seeds=1
    )


def _losses(evidence: Evidence, target: float) -> xr.DataArray:
    """Test losses where the training loss is ε, by N · SNR² and seed."""
    runs = [evidence[f"{s:g}, {target:g}"] for s in STRENGTHS]
    rows = [run["test_loss_at_end"].isel({STAGE: -1}, drop=True) for run in runs]
    strengths = [sizes(schema.setting_of(run)).strength for run in runs]
    return xr.concat(rows, xr.DataArray(strengths, dims="strength", name="strength"))


def _name_lines(ax: Axes, table: object) -> None:
    theme = figures.current_theme()
    for place, text in LINES.items():
        ax.axvline(place, color=theme.colour("theory"), lw=1.1, ls=(0, (4, 2.2)))
        ax.annotate(
            text,
            (place, 0.3),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            rotation=90,
            color=theme.muted,
            size="small",
        )


def crossing(losses: xr.DataArray) -> float:
    """N · SNR² at which the mean test loss falls through half of log 2."""
    mean, level = losses.mean(SEED).values, np.log(2) / 2
    after = int(np.argmax(mean < level))
    if not (mean < level).any() or after == 0:
        return float("nan")
    logs = np.log(losses["strength"].values[[after, after - 1]])
    return float(np.exp(np.interp(level, mean[[after, after - 1]], logs)))


def values(table: Tables) -> dict[str, dict[str, float]]:
    """Where each curve crosses half of log 2, and its ends."""
    rows = {name: table["losses"][name] for name in NAMES}
    return {
        name: {
            "N·SNR² at half of log 2": crossing(losses),
            **{
                f"N·SNR² = {s:g}": float(losses.sel(strength=s).mean())
                for s in losses["strength"].values
            },
        }
        for name, losses in rows.items()
    }


SHARP = Exhibit(
    id="sharp",
    kind="figure",
    title="How sharp the condition on N·SNR² is",
    caption=(
        "Test loss over N·SNR² when the training loss is ε, by gradient flow at "
        "sizes that meet all of Condition 4.1 (N = 64, M = 2, C_p² = 50, d_h = "
        "SNR^±4N²/ε², d = N²d_h/ε²; three seeds). Dashed: N·SNR² = 1, where the "
        "hypotheses of Theorem 4.1 (the test loss is o(1)) and of Theorem 4.2 (it is "
        "Θ(1)) are both met with their constants read as 1; and 60M²C_p² = 12000, "
        "above which the printed T1 of Lemma 5.2 is positive. The transition lies "
        "between them, near 82 = 1.6C_p², a constant that Ω(1) hides."
    ),
    needs={f"{s:g}, {e:g}": _request(s, e) for s in STRENGTHS for e in TARGETS},
    shows=Panels(
        (
            Curves(
                name="losses",
                x=r"$N\cdot$SNR$^2$",
                y="test loss where the training loss is ε",
                scales=("log", "linear"),
                ylim=(0, 0.75),
                curves=tuple(
                    Curve(
                        name,
                        partial(_losses, target=target),
                        kind="noise",
                        ramp=(number, len(TARGETS)),
                    )
                    for number, (name, target) in enumerate(
                        zip(NAMES, TARGETS, strict=True)
                    )
                ),
                levels={"log 2": float(np.log(2))},
                names="lower left",
                finish=_name_lines,
            ),
        ),
        size=(7.6, 4.6),
    ),
    values=values,
    checks={
        "at N·SNR² = 1 the test loss is that of a guess (0.65 or more)": lambda t: [
            losses.where(losses["strength"] == 1.0).max() > 0.65
            for losses in t["losses"].values()
        ],
        "it falls to a quarter of that only above C_p² = 50": lambda t: [
            losses.where(losses["strength"] <= 50.0).min() > np.log(2) / 4
            for losses in t["losses"].values()
        ],
    },
    silent=(
        "The paper gives no constant in N·SNR² = Ω(1) or N^−1·SNR^−2 = Ω(1).",
        SEEDS_SILENT,
    ),
)
