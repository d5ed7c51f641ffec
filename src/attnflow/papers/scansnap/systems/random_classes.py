"""Classes and features drawn at random, one set for each seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.scansnap.experiments import given
from attnflow.papers.scansnap.settings import Given
from attnflow.papers.scansnap.systems.modified_updates import random_features

COURSE = ("score", "score_velocity", "gram")


def random_classes(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Fates of tokens in Q and, by η_Y/η_Z, in J, with one common token.

    Over all records after the first: `slowest_distinct`, the least velocity of a
    distinct token, `fastest_common`, the largest of the common one, both over the
    largest speed of any token then. Of Q: `least_drive`, the least ξ_n/γ, and
    `weakest` and `strongest`, the least and the largest |λ_i(E)|.
    """
    cases = [("Q", setting["quasi_static_ratio"])]
    cases += [("J", ratio) for ratio in setting["ratios"]]
    tables = [drawn(setting, seed) for seed in seeds]
    found = [[_fates(setting, table, *case) for case in cases] for table in tables]
    fates = {
        name: (("seed", "case"), np.array([[c[name] for c in one] for one in found]))
        for name in ("slowest_distinct", "fastest_common")
    }
    quasi = {
        name: ("seed", np.array([one[0][name] for one in found]))
        for name in ("least_drive", "weakest", "strongest")
    }
    names = [f"{system}, {ratio:g}" for system, ratio in cases]
    return xr.Dataset(fates | quasi, {"case": names})


def drawn(setting: dict[str, Any], seed: int) -> np.ndarray:
    """P(l | n): one common token, and distinct ones of each class."""
    draw = np.random.default_rng(seed)
    K, own = setting["classes"], setting["distinct"]
    table = np.zeros((K, 1 + K * own))
    for n in range(K):
        table[n, 0] = draw.uniform(*setting["common"])
        weights = draw.uniform(0.1, 1.0, own)
        table[n, 1 + n * own : 1 + (n + 1) * own] = (
            (1 - table[n, 0]) * weights / weights.sum()
        )
    return table


def _fates(
    setting: dict[str, Any], table: np.ndarray, system: Any, ratio: float
) -> dict[str, Any]:
    record = (*COURSE, "drive", "attention_speed") if system == "Q" else COURSE
    plan = Given(
        system=system,
        classes=len(table),
        probability=tuple(table.ravel().tolist()),
        vocabulary=setting["vocabulary"],
        value_rate=setting["value_rate"],
        score_rate=setting["value_rate"] / ratio,
        until=setting["until"],
        records=setting["records"],
        record=record,
    )
    made = run(given(plan), seeds=(0,)).isel(seed=0, time=slice(1, None))
    velocity = made["score_velocity"].isel(query=0).values
    # Rows of the run are in the order of the table's columns.
    scaled = velocity / np.abs(velocity).max(axis=1, keepdims=True)
    sizes = np.abs(np.linalg.eigvalsh(made["gram"].values - np.eye(len(table))))
    return {
        "slowest_distinct": scaled[:, 1 : table.shape[1]].min(),
        "fastest_common": scaled[:, 0].max(),
        "least_drive": _least_drive(made) if system == "Q" else np.nan,
        "weakest": sizes.min(),
        "strongest": sizes.max(),
    }


def _least_drive(course: xr.Dataset) -> float:
    return float((course["drive"] / course["attention_speed"]).min())


def random_grams(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """FᵀF of random features without negative entries, whose |λ₁(E)| is below 1."""
    K, M = setting["classes"], setting["vocabulary"]
    found = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        while True:
            features = random_features(draw, K, M)
            gram = features.T @ features
            if np.abs(np.linalg.eigvalsh(gram - np.eye(K))).max() < 1:
                break
        found.append(gram)
    return xr.Dataset({"gram": (("seed", "class", "other_class"), np.array(found))})
