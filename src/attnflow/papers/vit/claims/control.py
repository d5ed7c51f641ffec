"""Control parameter of the boundary in Figure 1's map (our claim)."""

import numpy as np

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Scope,
    Slope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import FEW
from attnflow.papers.vit.claims.figure1 import SECTION_6
from attnflow.papers.vit.claims.maps import NOISES, boundary, strong_control

SIGMAS = ("2", "4", "8")


def _middle(values: np.ndarray) -> float:
    """Geometric mean; NaN where a boundary is not known."""
    return float(np.exp(np.mean(np.log(values))))


def _judge(evidence: Evidence) -> Finding:
    controls = {name: _middle(strong_control(run)) for name, run in evidence.items()}
    weak = {name: boundary(run).constant for name, run in evidence.items()}
    strong = [controls[name] for name in SIGMAS]
    growth = Slope(
        tuple(np.log([float(name) for name in SIGMAS]).tolist()),
        tuple(np.log([weak[name] for name in SIGMAS]).tolist()),
        2.0,
        0.3,
        "log N·SNR*² in log σ̃_p",
        seeds=len(FEW),
    )
    return Finding(
        (
            growth,
            Exact(max(strong) / min(strong), 1.5, "N‖μ‖²/(σ̃_p²d) over σ̃_p, change"),
            Exact(
                abs(np.log(controls["M=8"] / controls["4"])),
                float(np.log(1.25)),
                "logarithm of its change from M = 16 to 8",
            ),
        ),
        {"N‖μ‖²/(σ̃_p²d)": controls, "N·SNR²": weak},
    )


CLAIMS = (
    Claim(
        id="D-ctrl",
        place="Figure 1; Theorems 4.1 and 4.2",
        statement="The boundary is one in N‖μ‖²/(σ̃_p²d), with the strong noise, and "
        "not in N·SNR², with the weak one; nor does it move with M as the proofs' "
        "1500M³ does.",
        origin="ours",
        system="full-batch gradient descent, float64, w_O trained",
        needs=NOISES,
        judge=_judge,
        predicate="N·SNR*² grows as σ̃_p to a power within 0.3 of 2 over σ̃_p = 2, 4, "
        "8, where it would be constant if N·SNR² were the control parameter; "
        "N‖μ‖²/(σ̃_p²d) changes by a factor of at most 1.5 there, and by at most 25% "
        "from M = 16 to M = 8, where M³ changes by a factor of 8; N = 8, 12, 16",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–202",
        scope=Scope.EXPERIMENT,
        conditions=f"{SECTION_6}; except for σ̃_p = 2, 8 and M = 8, where C_p is not "
        "5√M (item (10)); w_O trained from the default over 16",
        mutations=named(
            mutate.setting("8", sigma_strong=4.0),
            mutate.scale("M=8", "test_loss", 1.6),
            mutate.constant("2", "test_loss", "snr"),
        ),
    ),
)
