"""Claims on noisy digits (Section 3.2, Appendix B.1): test and training losses."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.digit_runs import MAP, RULES, SHARES
from attnflow.schema import last
from attnflow.schema.declarations import Evidence
from attnflow.schema.installation import xr

TRAINED = 0.05
NEARLY = 0.1
"""Twice the printed training loss."""
WEAK = tuple(share for share in SHARES if share > 0.4)
"""The λ at which noise is weak; set on seed 0."""


def _losses(name: str, *runs: xr.Dataset) -> xr.DataArray:
    """A loss at the end of training, by λ and seed."""
    return xr.concat([last(run, name) for run in runs], "scaled_snr")


def _lead(*runs: xr.Dataset) -> xr.DataArray:
    """Another rule's test loss over gradient descent's, by λ and seed.

    The runs of the other rule come first.
    """
    half = len(runs) // 2
    return _losses("test_loss", *runs[:half]) / _losses("test_loss", *runs[half:])


def _names(rule: str, shares: tuple[float, ...] = SHARES) -> tuple[str, ...]:
    return tuple(f"{rule} {share:g}" for share in shares)


def _leads(other: str, shares: tuple[float, ...] = SHARES) -> c.AtLeast:
    return c.AtLeast(
        f"{other}'s test loss over descent's, λ = {shares[0]:g} to {shares[-1]:g}",
        _lead,
        1.0,
        unit="log",
        together=True,
        of=(*_names(other, shares), *_names("GD", shares)),
    )


def _trained(rule: str, bound: float, shares: tuple[float, ...] = SHARES) -> c.AtMost:
    return c.AtMost(
        f"{rule}'s training loss, λ = {shares[0]:g} to {shares[-1]:g}",
        partial(_losses, "loss"),
        bound,
        unit="log",
        together=True,
        of=_names(rule, shares),
    )


STRONGEST = ("SignGD 0.2", "GD 0.2")


def _leads_at(names: tuple[str, str], evidence: Evidence) -> list[float]:
    """log2 of a rule's test loss over gradient descent's, over seeds."""
    return c.look.extent(np.log2(_lead(*(evidence[name] for name in names))))


_claim = partial(
    c.Claim,
    kind=c.Kind.OBSERVATION,
    under=(),
    system="the two-layer transformer on patches of noisy digits, all weights trained, "
    "full batch",
    needs=MAP,
    settings="Appendix B.1: 2000 images of 3 and 7, border 7, patches 7 × 7, d = 49, "
    "m_k = m_v = 10, σ_0 = 0.1/√d; SignGD and Adam for 200 steps at 0.01, gradient "
    "descent for 500 steps at 0.1 to 1; λ = 0.2 … 1. Unspecified in the paper: pixels "
    "standardised by MNIST's mean and standard deviation, fresh noise on test images, "
    "β2 = 0.999",
)
CLAIMS = (
    _claim(
        id="C-MNIST",
        place="Section 3.2; Figure 2d",
        statement="On noisy digits gradient descent has a lower test loss than SignGD "
        "at every scaled SNR.",
        needs={name: MAP[name] for name in (*_names("SignGD"), *_names("GD"))},
        judge=c.All(
            (_leads("SignGD"),),
            also={"at λ = 0.2, log2": partial(_leads_at, STRONGEST)},
        ),
        expected=c.Verdict.FAILS,
        source=(
            "our runs, seeds 203–205. Its correction formerly was about Adam, which "
            "now has its own claim, C-MNIST-adam"
        ),
        correction=c.Correction(
            c.CorrectionKind.OPPOSITE,
            "Under the strongest noise, λ = 0.2, SignGD has the lower test loss; "
            "under weaker noise either may be lower.",
            c.AtMost(
                "SignGD's test loss over descent's at λ = 0.2",
                _lead,
                1.0,
                unit="log",
                together=True,
                of=STRONGEST,
            ),
        ),
        mends=c.named(
            mutate.both(
                *(mutate.scale(n, "test_loss", 100.0) for n in _names("SignGD"))
            )
        ),
        witness=c.Witness(
            "witnesses/noisy_digits.py",
            {"SignGD's test loss over descent's, log2": ("at λ = 0.2, log2", 1)},
        ),
    ),
    _claim(
        id="C-MNIST-adam",
        place="Section 3.2; Figure 2d",
        statement="On noisy digits gradient descent has a lower test loss than Adam at "
        "every scaled SNR.",
        needs={name: MAP[name] for name in (*_names("Adam"), *_names("GD"))},
        judge=c.All(
            (_leads("Adam"),),
            also={"at λ = 1, log2": partial(_leads_at, ("Adam 1", "GD 1"))},
        ),
        expected=c.Verdict.INCONCLUSIVE,
        source="our runs, seeds 203–205. The correction is the part of a statement set "
        "on seed 0 that held in six runs of six (seeds 200–202 and those judged)",
        correction=c.Correction(
            c.CorrectionKind.WEAKER,
            "This holds from λ = 0.5 on. Under stronger noise either may be lower.",
            _leads("Adam", WEAK),
        ),
        witness=c.Witness(
            "witnesses/noisy_digits.py",
            {"Adam's test loss over descent's, log2": ("at λ = 1, log2", 1)},
        ),
    ),
    _claim(
        id="C-MNIST-train",
        place="Appendix B.1",
        statement="In all settings on noisy digits the training loss ends below 0.05.",
        judge=c.All(
            tuple(_trained(rule, TRAINED) for rule in RULES),
            also={
                "SignGD's at λ = 0.2 over 0.05, log2": lambda e: c.look.extent(
                    np.log2(last(e[STRONGEST[0]], "loss") / TRAINED)
                )
            },
        ),
        expected=c.Verdict.FAILS,
        source="our runs, seeds 203–205; the correction was set on seed 0. Pixel "
        "scales tried: from 0 to 1, where only Adam's loss ends below 0.05; "
        "standardised, where most do, and which is judged; standardised after noise "
        "was added, where SignGD and gradient descent hardly train; from 0 to 255, "
        "where nothing trains",
        correction=c.Correction(
            c.CorrectionKind.WEAKER,
            "Adam's training loss ends below 0.05 at every λ, and those of descent "
            "and, from λ = 0.3 on, SignGD below 0.1; at λ = 0.2 SignGD's stays above "
            "0.05.",
            c.All(
                (
                    _trained("Adam", TRAINED),
                    _trained("GD", NEARLY),
                    _trained("SignGD", NEARLY, SHARES[1:]),
                    c.AtLeast(
                        "SignGD's training loss at λ = 0.2",
                        lambda run: last(run, "loss"),
                        TRAINED,
                        unit="log",
                        of=_names("SignGD", SHARES[:1]),
                    ),
                )
            ),
        ),
        mends=c.named(mutate.scale(mutate.EVERY, "loss", 0.01)),
        witness=c.Witness(
            "witnesses/noisy_digits.py",
            {
                "SignGD's training loss over 0.05, log2": (
                    "SignGD's at λ = 0.2 over 0.05, log2",
                    1,
                )
            },
        ),
    ),
)
