"""Random classes and random Gram matrices, one draw per seed."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.computations import RandomClasses, RandomGrams
from attnflow.papers.scansnap.experiments import general_flows
from attnflow.papers.scansnap.settings import Given
from attnflow.papers.scansnap.systems.modified_updates import random_features

System: TypeAlias = Literal["J", "Q"]
COURSE = ("score", "score_velocity", "gram")


def random_classes(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Fates of tokens in Q and, by η_Y/η_Z, in J, with one common token.

    Over all records after the first: `slowest_distinct`, the least velocity of a
    distinct token, `fastest_common`, the largest of the common one, both over the
    largest speed of any token then. Of Q: `least_drive`, the least ξ_n/γ, and
    `weakest` and `strongest`, the least and the largest |λ_i(E)|.
    """
    sizes = RandomClasses(**setting)
    cases: list[tuple[System, float]] = [
        ("Q", sizes.quasi_static_ratio),
        *(("J", ratio) for ratio in sizes.ratios),
    ]
    tables = [draw_table(sizes, seed) for seed in seeds]
    by_seed = [[_fates(sizes, table, *case) for case in cases] for table in tables]
    fates = {
        name: (("seed", "case"), np.array([[c[name] for c in row] for row in by_seed]))
        for name in ("slowest_distinct", "fastest_common")
    }
    quasi = {
        name: ("seed", np.array([row[0][name] for row in by_seed]))
        for name in ("least_drive", "weakest", "strongest")
    }
    names = [f"{system}, {ratio:g}" for system, ratio in cases]
    return xr.Dataset(fates | quasi, {"case": names})


def draw_table(sizes: RandomClasses, seed: int) -> np.ndarray:
    """Table P(l | n) with one common token, and distinct tokens of each class."""
    draw = np.random.default_rng(seed)
    K, distinct = sizes.classes, sizes.distinct
    table = np.zeros((K, 1 + K * distinct))
    for n in range(K):
        table[n, 0] = draw.uniform(*sizes.common)
        weights = draw.uniform(0.1, 1.0, distinct)
        table[n, 1 + n * distinct : 1 + (n + 1) * distinct] = (
            (1 - table[n, 0]) * weights / weights.sum()
        )
    return table


def _fates(
    sizes: RandomClasses, table: np.ndarray, system: System, ratio: float
) -> dict[str, float]:
    record = (*COURSE, "drive", "attention_speed") if system == "Q" else COURSE
    plan = Given(
        system=system,
        classes=len(table),
        probability=tuple(table.ravel().tolist()),
        vocabulary=sizes.vocabulary,
        value_rate=sizes.value_rate,
        score_rate=sizes.value_rate / ratio,
        until=sizes.until,
        records=sizes.records,
        record=record,
    )
    course = run(general_flows(plan), seeds=(0,)).isel(seed=0, time=slice(1, None))
    velocity = course["score_velocity"].isel(query=0).values
    # Rows of the run are in the order of the table's columns.
    scaled = velocity / np.abs(velocity).max(axis=1, keepdims=True)
    eigenvalues = np.abs(np.linalg.eigvalsh(course["gram"].values - np.eye(len(table))))
    return {
        "slowest_distinct": scaled[:, 1 : table.shape[1]].min(),
        "fastest_common": scaled[:, 0].max(),
        "least_drive": _least_drive(course) if system == "Q" else np.nan,
        "weakest": eigenvalues.min(),
        "strongest": eigenvalues.max(),
    }


def _least_drive(course: xr.Dataset) -> float:
    return float((course["drive"] / course["attention_speed"]).min())


def random_grams(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Gram matrices FᵀF of random non-negative features with |λ₁(E)| < 1."""
    sizes = RandomGrams(**setting)
    K, M = sizes.classes, sizes.vocabulary
    grams = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        while True:
            features = random_features(draw, K, M)
            gram = features.T @ features
            if np.abs(np.linalg.eigvalsh(gram - np.eye(K))).max() < 1:
                break
        grams.append(gram)
    return xr.Dataset({"gram": (("seed", "class", "other_class"), np.array(grams))})
