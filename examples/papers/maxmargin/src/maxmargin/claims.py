"""Where a prompt goes: the max-margin direction, from differences of scores."""

import numpy as np
import xarray as xr

from attnflow import Request
from attnflow.claims import AtLeast, Claim, Kind, Rising, Verdict

NORMALISED = {"run": Request("normalised")}
DESCENT = {"run": Request("descent", {"steps": 100_000})}
SHARED = {
    "place": "Experiments",
    "system": "descent on a prompt",
    "kind": Kind.OBSERVATION,
    "under": (),
    "expected": Verdict.HOLDS,
}


def margin(run: xr.Dataset) -> xr.DataArray:
    """The smallest lead of the best token's score, over samples and other tokens."""
    scores = run["pair_score"].isel(head=0, query_position=0)
    others = scores[..., 1:].max("key_position", skipna=False)
    return (scores.isel(key_position=0) - others).min("sample", skipna=False)


def growth(run: xr.Dataset) -> np.ndarray:
    """The margin's gain per step of normalised descent, in units of the largest one.

    A prompt of unit length has no larger margin than 1/‖q‖, q the solution of the
    max-margin problem; a step of length η gains at most η/‖q‖.
    """
    last = margin(run)[:, -11:]
    gain = last.diff("time").sum("time", skipna=False) / np.ptp(last["time"].values)
    return gain.values / best_margin(run)


def best_margin(run: xr.Dataset) -> np.ndarray:
    from scipy.optimize import nnls

    from attnflow import schema

    setting = schema.setting_of(run)
    best = []
    for seed in run["seed"].values:
        x = tokens(setting, int(seed))
        gaps = (x[:, :1] - x[:, 1:]).reshape(-1, x.shape[-1])
        # Least distance: min ‖q‖ with gaps q ≥ 1 (Lawson and Hanson, chapter 23).
        stacked = np.vstack([gaps.T, np.ones(len(gaps))])
        last = np.eye(len(stacked))[-1]
        rest = last - stacked @ nnls(stacked, last)[0]
        norm = np.linalg.norm(rest[:-1]) / rest[-1]
        best.append(setting["learning_rate"] / norm)
    return np.array(best)


def tokens(setting: dict, seed: int) -> np.ndarray:
    from attnflow.data import random
    from maxmargin.experiments import PlaneTask
    from maxmargin.settings import Prompt

    key = random.fold_in(random.key(seed), 0)
    data = PlaneTask(Prompt(**setting)).sequences(key=key)
    return data.host_tokens[np.asarray(data.key)]


CLAIMS = (
    Claim(
        id="Margin-normalised",
        statement="Normalised descent moves along the max-margin direction.",
        needs=NORMALISED,
        judge=AtLeast("gain of margin per step / largest possible", growth, 0.99),
        survives={"holes": "it reads the last ten records alone"},
        source="the reference trajectory; seeds 0 to 3, with results in view",
        **SHARED,
    ),
    Claim(
        id="Margin-descent",
        statement="Gradient descent lets the margin grow without end.",
        needs=DESCENT,
        judge=Rising("margin", margin, "time"),
        survives={"cut": "it is true from record to record"},
        source="the reference trajectory; seeds 0 to 3, with results in view",
        **SHARED,
    ),
)
