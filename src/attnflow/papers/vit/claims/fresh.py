"""Lemmas 5.5, D.8 and D.9: margins, attention and values of test samples."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims import evidence as ev
from attnflow.papers.vit.claims import measures as m
from attnflow.schema.dims import KEY_POSITION, QUERY_POSITION
from attnflow.schema.installation import xr

TEST = "test_sample"
LOW = 0.05
"""Share of test points below the quantile."""


def _low_margin(run: xr.Dataset) -> xr.DataArray:
    """5% quantile of test margins where the training loss reaches each ε."""
    margins = m.at_losses(run, "test_margin")
    return margins.quantile(LOW, TEST, skipna=False).drop_vars("quantile")


def _attention(run: xr.Dataset) -> xr.DataArray:
    """Attention of a fresh signal to itself at T3, times 2M."""
    last = m.at_target(run, "test_attention")
    own = last.isel({QUERY_POSITION: m.SIGNAL, KEY_POSITION: m.SIGNAL})
    return own * 2 * m.size_of(run).length


def _noise_values(run: xr.Dataset) -> xr.DataArray:
    """|V| of fresh noise at T3."""
    return abs(m.at_target(run, "test_pair_value").isel({KEY_POSITION: slice(1, None)}))


def _spreads(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """By ε: deviation of fresh strong noise's values, and the mean |V| of signals."""
    values = m.at_losses(run, "test_pair_value").isel(head=0)
    signal = abs(values.isel({KEY_POSITION: m.SIGNAL})).mean(TEST)
    return values.isel({KEY_POSITION: m.STRONG}).std(TEST), signal


def _leak(run: xr.Dataset) -> xr.DataArray:
    """Deviation of strong noise's values over √2σ̃_p/‖μ‖ times the signal's."""
    size = m.size_of(run)
    deviation, signal = _spreads(run)
    return deviation / (np.sqrt(2) * size.strong / size.signal * signal)


SMALL = c.AtMost("|V| of fresh noise at T3", _noise_values, 1.0)
CLAIMS = (
    ev.appendix_claim(
        id="D-Lem5.5",
        place="Lemma 5.5",
        statement=(
            "At T3 the margins of all but a few test points are at least log(C/ε)/C' "
            "− 1."
        ),
        kind=c.Kind.ASYMPTOTIC,
        under=ev.UNDER["benign"],
        needs={"benign": ev.APPENDIX_RUNS["benign"]},
        judge=c.All(
            (
                c.Line(
                    "margin of the lowest 5% in log(1/ε)",
                    lambda run: xr.DataArray(-np.log(ev.TARGETS), dims=m.INVERSE),
                    _low_margin,
                    0.5,
                    0.3,
                ),
                c.Rising("margin of the lowest 5%", _low_margin, m.INVERSE),
            )
        ),
        predicate=(
            "of 100 test points, ε = 0.1 … 0.001; with the proof's C' of about 2M² = "
            "32 the bound would grow by 0.03 for each factor e in 1/ε"
        ),
    ),
    ev.sampled_claim(
        id="D-LemD.8",
        place="Lemma D.8",
        statement=(
            "At T3 the signal of a fresh sample pays attention of at least 1/(2M) to "
            "itself."
        ),
        under=ev.UNDER["benign"],
        needs={
            "benign": ev.SAMPLED_RUNS["benign"],
            "benign, appendix": ev.APPENDIX_RUNS["benign"],
        },
        judge=c.AtLeast("attention of μ to μ at T3 over 1/(2M)", _attention, 1.0),
        predicate="every test point, at the theory's sizes and at Appendix A's",
        source="our runs, seeds 200–209 (theory's sizes) and 200–204 (Appendix A)",
        survives=ev.ENDS_ALONE,
    ),
    ev.sampled_claim(
        id="D-LemD.9",
        place="Lemma D.9",
        statement="At T3 values of fresh noise are at most 1.",
        under=ev.UNDER["benign"],
        needs={"benign": ev.SAMPLED_RUNS["benign"]},
        judge=SMALL,
        source="our runs, seeds 200–209 (0.0002 on seeds 0–4)",
        inert={"test_pair_value_at_end": "at 0.0002, ten times as much is below 1"},
        mutations=c.named(mutate.add("benign", "test_pair_value_at_end", 2.0)),
        survives=ev.ENDS_ALONE,
    ),
    ev.appendix_claim(
        id="D-LemD.9-paper",
        place="Lemma D.9; Appendix A",
        statement="At T3 values of fresh noise are at most 1 with Appendix A's noise, "
        "which is not projected.",
        under=ev.UNDER["benign"],
        needs={"benign": ev.APPENDIX_RUNS["benign"]},
        judge=SMALL,
        predicate="all noise tokens of 100 test points, T3 at ε = 0.001",
        expected=c.Verdict.FAILS,
        source="our runs, seeds 200–204 (0.87 to 1.22 on seeds 0–4); that the "
        "deviation grows was added to the correction with results in view",
        correction=c.Correction(
            c.CorrectionKind.OPPOSITE,
            "Noise that is not projected contains a share of the signals: the values "
            "of fresh strong noise have a standard deviation of √2σ̃_p/‖μ‖ times the "
            "signal's value, and grow with it beyond every bound.",
            c.All(
                (
                    # The deviation of 100 normal numbers is known to 7%: four times.
                    c.Near(
                        "deviation, in √2σ̃_p‖μ‖^−1 of the signal's",
                        lambda run: _leak(run).isel({m.INVERSE: -1}),
                        1.0,
                        0.28,
                    ),
                    c.Rising("deviation", lambda run: _spreads(run)[0], m.INVERSE),
                )
            ),
        ),
        mends=c.named(mutate.scale("benign", "test_pair_value_at_end", 0.1)),
        witness=c.Witness(
            "witnesses/appendix.py",
            {"benign leak": ("deviation, in √2σ̃_p‖μ‖^−1 of the signal's", 1)},
        ),
    ),
)
