"""Checks of settings, with what is allowed and the likely fix."""

from typing import Any


def check_rates(setting: Any) -> None:
    """Learning rates are not negative and not both zero."""
    scores, values = setting.score_rate, setting.value_rate
    if not (scores >= 0 and values >= 0) or scores == values == 0:
        raise ValueError(
            f"score_rate is {scores} and value_rate {values}: learning rates must not "
            "be negative, nor both zero. Use for example score_rate=1."
        )


def check_sizes(setting: Any) -> None:
    """Numbers of classes and tokens are positive."""
    names = ("queries", "classes_per_query", "classes")
    for name in (n for n in names if hasattr(setting, n)):
        if getattr(setting, name) < 1:
            raise ValueError(
                f"{name} is {getattr(setting, name)}: use at least 1, as in {name}=2."
            )
    for name in ("common", "common_per_query", "distinct"):
        value = getattr(setting, name, 0)
        if isinstance(value, int) and value < 0:
            raise ValueError(f"{name} is {value}: numbers of tokens are not negative.")


def check_grid(setting: Any) -> None:
    """Sizes and rates of a grid are positive, with at least one along each axis."""
    axes = ("queries", "score_rates", "value_rates", "ratios", "ratio", "vocabularies")
    for name in (n for n in axes if hasattr(setting, n)):
        value = getattr(setting, name)
        several = value if isinstance(value, tuple) else (value,)
        if not several or not all(0 < one < float("inf") for one in several):
            raise ValueError(
                f"{name} is {value}: sizes and learning rates of a grid must be "
                f"positive, and at least one of each. Use for example {name}=3."
            )


def check_sequences(setting: Any) -> None:
    """Sequences have a context, and batches a sample."""
    if setting.length is not None and setting.length < 2:
        raise ValueError(
            f"length is {setting.length}: a sequence ends with its query and needs a "
            "context, so that 2 is the least. Use length=128, or length=none for long "
            "sequences."
        )
    every = getattr(setting, "every", 1)
    if setting.batch < 1 or setting.steps < 1 or every < 1:
        raise ValueError(
            f"batch is {setting.batch}, steps {setting.steps} and every {every}: use "
            "at least 1 of each."
        )
    if not 0 <= setting.momentum < 1:
        raise ValueError(
            f"momentum is {setting.momentum}: it must lie in [0, 1). Use momentum=0.9."
        )


def check_course(setting: Any) -> None:
    """A flow has a length and some records."""
    if not setting.until > 0 or setting.records < 3:
        raise ValueError(
            f"until is {setting.until} and records {setting.records}: flow for a "
            "positive time and record at least three times."
        )
