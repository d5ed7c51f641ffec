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
    """Fates of tokens in Q and, by η_Y/η_Z, in J.

    Over all records after the first: `slowest_distinct`, the least velocity of a
    distinct token with its query, `fastest_common`, the largest of a common one with
    any query, both over the largest speed of any token then with this query; `weakest`
    and `strongest`, the least and the largest |λ_i(E)|. Of Q: `least_drive`, the least
    ξ_n/γ.
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
        for name in ("slowest_distinct", "fastest_common", "weakest", "strongest")
    }
    quasi = {
        "least_drive": ("seed", np.array([row[0]["least_drive"] for row in by_seed]))
    }
    names = [f"{system}, {ratio:g}" for system, ratio in cases]
    return xr.Dataset(fates | quasi, {"case": names})


def draw_table(sizes: RandomClasses, seed: int) -> np.ndarray:
    """Table P(l | n) with common tokens first, then distinct tokens of each class."""
    draw = np.random.default_rng(seed)
    K, shared = sizes.classes, sizes.shared
    table = np.zeros((K, shared + K * sizes.distinct))
    for n in range(K):
        common = draw.uniform(*sizes.common)
        weights = draw.uniform(0.1, 1.0, sizes.distinct)
        table[n, _own(sizes, n)] = (1 - common) * weights / weights.sum()
        # The last draw, so that classes with one common token are as they were.
        parts = draw.uniform(0.5, 1.0, shared) if shared > 1 else np.ones(1)
        table[n, :shared] = common * parts / parts.sum()
    return table


def _own(sizes: RandomClasses, n: int) -> slice:
    """Columns of the distinct tokens of a class."""
    start = sizes.shared + n * sizes.distinct
    return slice(start, start + sizes.distinct)


def _fates(
    sizes: RandomClasses, table: np.ndarray, system: System, ratio: float
) -> dict[str, float]:
    record = (*COURSE, "drive", "attention_speed") if system == "Q" else COURSE
    plan = Given(
        system=system,
        classes=len(table),
        probability=tuple(table.ravel().tolist()),
        query=tuple(n % sizes.queries for n in range(len(table))),
        vocabulary=sizes.vocabulary,
        value_rate=sizes.value_rate,
        score_rate=sizes.value_rate / ratio,
        until=sizes.until,
        records=sizes.records,
        record=record,
    )
    course = run(general_flows(plan), seeds=(0,)).isel(seed=0, time=slice(1, None))
    velocity = course["score_velocity"].transpose("time", "query", "token").values
    # Tokens of the run are in the order of the table's columns.
    scaled = velocity / np.abs(velocity).max(axis=2, keepdims=True)
    distinct = [
        scaled[:, n % sizes.queries, _own(sizes, n)].min() for n in range(len(table))
    ]
    eigenvalues = np.abs(np.linalg.eigvalsh(course["gram"].values - np.eye(len(table))))
    return {
        "slowest_distinct": min(distinct),
        "fastest_common": scaled[:, :, : sizes.shared].max(),
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
