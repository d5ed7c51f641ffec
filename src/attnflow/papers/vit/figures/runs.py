"""Requests for the runs that the figures share."""

from collections.abc import Mapping

from attnflow.papers.vit._types import Field
from attnflow.schema.declarations import Request

READOUTS = {
    "default16-trained": "default / 16, trained",
    "default-fixed": "default, fixed",
    "unit-fixed": "norm 1, fixed",
    "default16-fixed": "default / 16, fixed",
}
"""Readings of w_O in Section 6: ours first, the literal one last."""
TRAINED = "default16-trained"
LITERAL = "default16-fixed"
MAP_SEEDS = 10

SMALLER: Mapping[str, Field] = {
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
    """Request for Figure 1's map; few cells for the literal, slow reading."""
    overrides: dict[str, Field] = {"readout": readout}
    if readout == LITERAL:
        overrides |= {"samples": (4, 12, 20), "snr_count": 4}
        return Request("map", overrides, seeds=2, quick=SMALLER)
    seeds = MAP_SEEDS if readout == TRAINED else 3
    return Request("map", overrides, seeds=seeds, quick=SMALLER)


EQUAL = Request("map", {"classes": "equal"}, seeds=4, quick=SMALLER)
"""Request for Figure 1's map with classes of equal size."""


def strong_noise(sigma: float, length: int) -> Request:
    """Request for the map around its boundary, with other noise and sample length.

    Classes have equal size: random sizes would blur the boundary.
    """
    overrides = {
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
    return Request("map", overrides, seeds=3, quick=less)


COURSE = ("loss", "label", "pair_value", "attention", "pair_score")


def appendix(regime: str, readout: str = LITERAL) -> Request:
    """Request for Appendix A's run, with scores at the positions of samples."""
    overrides = {"record": COURSE, "steps": 8000, "test_samples": 0, "readout": readout}
    # With equal numbers of samples both regimes share one compiled program.
    alike = {"samples": 16, "signal": 12.0} if regime == "harmful" else {}
    return Request(f"appendix-{regime}", overrides, seeds=3, quick=alike)


def theory(regime: str) -> Request:
    """Request for the run at sizes of Condition 4.1."""
    overrides = {"record": COURSE[:-1], "steps": 8000, "test_samples": 0}
    return Request(f"theory-{regime}", overrides, seeds=3)


ENDS = ("loss", "test_loss", "test_accuracy", "test_margin")


def harmful(readout: str) -> Request:
    """Request for Appendix A's harmful run by reading of w_O, recorded at the end."""
    overrides = {"readout": readout, "record": ENDS, "records": 0, "test_samples": 300}
    return Request("appendix-harmful", overrides, seeds=5, quick={"test_samples": 100})


SEEDS_SILENT = "Seeds are not stated. Ours are 0, 1, …"
READOUT_SILENT = (
    "Section 6 does not state how w_O is initialised (PyTorch's default over 16, "
    "like the other weights?) or whether it is trained. We train it with the other "
    "weights; figure `readings` shows the alternatives."
)
MAP_SILENT = (
    READOUT_SILENT,
    "The spacing of the map is not stated. N = 2, 4, …, 20, and 12 SNRs evenly from "
    "0.16 to 15.6.",
    SEEDS_SILENT + " Cells of a seed share their random numbers.",
    "Labels are drawn independently, as in Definition 3.1: small training sets may "
    "have one class. Figure `readings` has equal classes too.",
)
APPENDIX_SILENT = (
    "Appendix A follows a setting similar to Section 6's and does not state η, ε or "
    "the initial weights. We take those of Section 6, with w_O fixed as in the theory; "
    "Figures 3 and 4 have it trained too.",
    SEEDS_SILENT,
)
