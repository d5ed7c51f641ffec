"""Requests for the runs that figures share."""

from importlib.util import find_spec

from attnflow.schema.declarations import Request

REPLAYS = find_spec("torch") is not None
"""Whether PyTorch is installed, whose random numbers the published runs used."""
STREAM = "published" if REPLAYS else "own"
SEEDS = tuple(range(1, 11))
"""The seeds of Figures 6, 11 and 12."""
PANELS = (1, 3, 5, 10)
"""Numbers of queries in Figures 6, 11 and 12."""
WHOLE = 3
"""The panel that `--quick` runs in full: it is small and has published numbers."""
SCORE_RATES = (0.5, 1.0, 2.0, 3.0)
RATIOS = (1.0, 2.0, 5.0, 10.0)
"""η_Z and η_Y/η_Z of Figures 6, 11 and 12."""
VALUE_RATES = (0.5, 1.0, 2.0, 5.0, 10.0)
VOCABULARIES = tuple(10**power for power in range(3, 10))
RECORDS = 401
"""Same number for all flows of J, which then share a compiled program."""
FLOW = ("score", "score_velocity", "attention_per_class")
STEPS = (
    *("loss", "batch_loss", "distinct_entropy", "common_mass", "top_share"),
    "attention_per_class",
)


def rate_name(rate: float) -> str:
    """Name of a run in the evidence, such as `η_Y = 0.5`."""
    return f"η_Y = {rate:g}"


def joint(value_rate: float, **overrides: float) -> Request:
    """Request for a flow of J in Figure 3's setting."""
    defaults = {"value_rate": value_rate, "record": FLOW, "records": RECORDS}
    return Request("figure3", defaults | overrides, 1)


def quasi(value_rate: float, **overrides: float) -> Request:
    """Request for a flow of Q in Figure 3's setting."""
    return Request(
        "figure3-q", {"value_rate": value_rate, "record": FLOW, **overrides}, 1
    )


def scalar(value_rate: float, **overrides: float) -> Request:
    """Request for a run of C in Figure 3's setting."""
    return Request("figure3-c", {"value_rate": value_rate, **overrides}, 1)


def syn_small(side: str) -> Request:
    """Request for a run of Figure 4, on the authors' stream if PyTorch is installed."""
    overrides = {"stream": STREAM, "record": STEPS}
    return Request(f"figure4-{side}", overrides, seeds=(2,))


def adam(rate: float) -> Request:
    """Request for a run of Figure 5, with one learning rate for both tables."""
    overrides = {"score_rate": rate, "value_rate": rate, "record": STEPS}
    return Request("figure5", overrides, seeds=3)


def panel_name(queries: int) -> str:
    """Name of a panel of Figure 6, such as `num_last = 3`."""
    return f"num_last = {queries}"


def panel_title(queries: int) -> str:
    """Title of a panel of Figures 6, 11 and 12, all of J."""
    label = f"{queries} {'query' if queries == 1 else 'queries'}"
    return rf"$\mathbf{{J}}$, {label}, $K = {2 * queries}$"


def panel(queries: int) -> Request:
    """Request for a panel of Figure 6; with `--quick`, fewer cells."""
    overrides = {"queries": (queries,), "stream": STREAM}
    if queries == WHOLE:
        return Request("figure6", overrides, SEEDS)
    quick = {"score_rates": (1.0, 3.0), "ratios": (1.0, 2.0, 10.0)}
    return Request("figure6", overrides, SEEDS, quick=quick, quick_seeds=SEEDS[:4])


GRID = {panel_name(queries): panel(queries) for queries in PANELS}
"""All of Figure 6; Figures 11 and 12 use the same runs."""

DECOMPOSITION = Request(
    "decomposition", seeds=5, quick={"score_rates": (0.5, 3.0)}, quick_seeds=2
)

STREAM_SILENT = (
    "Random numbers are not stated. These are the published code's, replayed with its "
    "seeds."
    if REPLAYS
    else "Random numbers are not stated. The published code drew them from PyTorch, "
    "which is not installed here: these runs use numbers of our own, so that printed "
    "digits cannot be compared. pip install 'attnflow[torch]' replays the published "
    "ones."
)
SYN_SMALL_SILENT = (
    "Syn-Small is said to have M = 30. The authors' log has one query for each class, "
    "and with queries and next tokens M = 34.",
    "Weights of tokens are not stated: common 1, distinct evenly from 0.1 to 1.",
)
SYN_MEDIUM_SILENT = (
    "Momentum 0.9, batches of 128 sequences of 128 tokens and 100 steps are not all "
    "stated in the text; they are those of the authors' log.",
    "Initial tables are not stated. Uniform on ±1/√M gives the published numbers.",
    STREAM_SILENT,
)
FIGURE3_SILENT = (
    "The values of η_Y are not stated. Ours are 0.5, 1, 2, 5 and 10.",
    "The probabilities of tokens are not stated. One common token of weight 1, and ten "
    "distinct ones for each class with weights 0.1, …, 1.",
    "Which system was simulated is not stated. All three are shown.",
)
