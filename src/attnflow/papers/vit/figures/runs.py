"""The runs that the figures share: one request for each, whoever draws from it."""

from collections.abc import Mapping
from typing import Any

from attnflow.schema.declarations import Request

READOUTS = {
    "default16-trained": "default / 16, trained",
    "default-fixed": "default, fixed",
    "unit-fixed": "norm 1, fixed",
    "default16-fixed": "default / 16, fixed",
}
"""Readings of w_O in Section 6, the one that we take first, the literal one last."""
TRAINED = "default16-trained"
LITERAL = "default16-fixed"
MAP_SEEDS = 10

SMALLER: Mapping[str, Any] = {
    "length": 4,
    "embed": 256,
    "key_width": 128,
    "value_width": 128,
    "samples": (6, 8, 10, 12),
    "snr_low": 3.0,
    "snr_high": 18.0,
    "snr_count": 8,
}
"""For `--quick`: smaller samples in fewer dimensions, around the same curve. These
numbers of samples need two compiled programs."""


def phase_map(readout: str = TRAINED) -> Request:
    """Figure 1's map; of the literal reading, whose cells take long, a few cells."""
    own: dict[str, Any] = {"readout": readout}
    if readout == LITERAL:
        own |= {"samples": (4, 12, 20), "snr_count": 4}
        return Request("map", own, seeds=2, quick=SMALLER)
    seeds = MAP_SEEDS if readout == TRAINED else 3
    return Request("map", own, seeds=seeds, quick=SMALLER)


EQUAL = Request("map", {"classes": "equal"}, seeds=4, quick=SMALLER)
"""Figure 1's map with as many samples of one class as of the other."""


def strong_noise(sigma: float, length: int) -> Request:
    """The map around the boundary with another strong noise, of another length.

    Classes are equal: how many samples of each are drawn would blur the boundary.
    """
    own = {
        "classes": "equal",
        "sigma_strong": sigma,
        "length": length,
        "samples": (8, 12, 16),
        "snr_low": 1.25 * sigma,
        "snr_high": 3.75 * sigma,
        "snr_count": 9,
    }
    widths = ("embed", "key_width", "value_width")
    less = {name: SMALLER[name] for name in widths}
    less |= {"length": length // 2, "samples": (8,), "snr_count": 6}
    return Request("map", own, seeds=3, quick=less)


COURSE = ("loss", "label", "value", "attention", "pair_score")


def appendix(regime: str) -> Request:
    """Appendix A's runs, with scores at the positions of samples."""
    own = {"record": COURSE, "steps": 8000, "test_samples": 0}
    # With as many samples both regimes are one compiled program.
    alike = {"samples": 16, "signal": 12.0} if regime == "harmful" else {}
    return Request(f"appendix-{regime}", own, seeds=3, quick=alike)


def theory(regime: str) -> Request:
    """The runs at sizes of Condition 4.1."""
    own = {"record": COURSE[:-1], "steps": 8000, "test_samples": 0}
    return Request(f"theory-{regime}", own, seeds=3)


ENDS = ("loss", "test_loss", "test_accuracy", "test_margin")


def harmful(readout: str) -> Request:
    """Appendix A's harmful setting with another reading of w_O, at the end alone."""
    own = {"readout": readout, "record": ENDS, "records": 0, "test_samples": 300}
    return Request("appendix-harmful", own, seeds=5, quick={"test_samples": 100})


SEEDS_SILENT = "Seeds are not stated. Ours are 0, 1, …"
READOUT_SILENT = (
    "What w_O is in Section 6 is not stated: whether it begins at PyTorch's default "
    "over 16 as the rest does, and whether it is trained. We train it with the rest; "
    "figure `readings` has the alternatives."
)
MAP_SILENT = (
    READOUT_SILENT,
    "The spacing of the map is not stated. N = 2, 4, …, 20, and 12 SNRs evenly from "
    "0.16 to 15.6.",
    SEEDS_SILENT + " Cells of a seed share their random numbers.",
    "Labels are drawn one by one, as in Definition 3.1: small training sets may have "
    "one class. Figure `readings` has equal classes too.",
)
APPENDIX_SILENT = (
    "Appendix A has a setting similar to Section 6's, and says no more of η, ε and "
    "the initial weights. We take those of Section 6, with w_O fixed as in the theory.",
    SEEDS_SILENT,
)
