"""Figure 2c as a sweep: a finer map than the figure's, which can be resumed."""

from __future__ import annotations

from attnflow.figures.swept import Level, Map
from attnflow.papers.vit.digit_runs import QUICK
from attnflow.papers.vit.figures.digit_map import DIGITS_SILENT
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr


def digit_losses(evidence: Evidence) -> xr.DataArray:
    """Test losses on noisy digits at equal training loss, by N, SNR and seed."""
    return evidence["map"]["test_loss"].transpose("samples", "snr", "seed")


def _checks_digits(evidence: Evidence) -> dict[str, bool]:
    losses = digit_losses(evidence).mean("seed")
    return {
        "every cell has reached the stated training loss": bool(
            (evidence["map"]["outcome"] == Outcome.EVENT.label).all()
        ),
        "with every N the test loss falls from the least SNR to the largest": bool(
            (losses[:, -1] < losses[:, 0]).all()
        ),
        "and at every SNR from the fewest samples to the most": bool(
            (losses[-1] < losses[0]).all()
        ),
    }


DIGITS = Map(
    id="map-mnist",
    title="Figure 2c as a sweep, over the paper's range in 10 × 10 cells",
    caption=(
        "Test loss on noisy digits when the training loss is at most 0.05: the map of "
        "`figure2c`, which has 4 × 5 cells, in steps of 600 samples and of 0.2 in the "
        "SNR, one seed. Dots: where it crosses 1.5; line: a power law through them. "
        "Six minutes of CPU time; an interrupted sweep can be resumed."
    ),
    sweeps={
        "map": SweepRequest(
            "mnist",
            {"samples": "3000..8400:10", "snr": "0.2..2:10"},
            ("test_loss",),
            batch=5,
            quick={**QUICK, "samples": [256, 512], "snr": [0.2, 2.0]},
        )
    },
    table=digit_losses,
    label="test loss",
    names={"snr": "SNR", "samples": "training samples $N$"},
    level=Level(1.5, power=2.0, scale="log"),
    checks=_checks_digits,
    silent=DIGITS_SILENT,
)
