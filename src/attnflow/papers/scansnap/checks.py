"""Validation of settings; each error names what is allowed and the likely fix."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from attnflow.papers.scansnap import settings


def check_rates(setting: "settings.Steps | settings.Course | settings.Scalar") -> None:
    """Raise if a learning rate is negative, or both are zero."""
    scores, values = setting.score_rate, setting.value_rate
    if not (scores >= 0 and values >= 0) or scores + values == 0:
        raise ValueError(
            f"score_rate is {scores} and value_rate {values}: learning rates must not "
            "be negative, nor both zero. Use for example score_rate=1."
        )


def check_sizes(setting: "DataclassInstance") -> None:
    """Raise if there is no class, or a negative number of tokens."""
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


def check_grid(setting: "DataclassInstance") -> None:
    """Raise if a grid has an empty axis, or a size or rate that is not positive."""
    axes = ("queries", "score_rates", "value_rates", "ratios", "ratio", "vocabularies")
    for name in (n for n in axes if hasattr(setting, n)):
        value = getattr(setting, name)
        several = value if isinstance(value, tuple) else (value,)
        if not several or not all(0 < number < float("inf") for number in several):
            raise ValueError(
                f"{name} is {value}: sizes and learning rates of a grid must be "
                f"positive, and at least one of each. Use for example {name}=3."
            )


def check_sequences(
    setting: "settings.Steps | settings.EntropyGrid | settings.Decomposition",
) -> None:
    """Raise if a length, batch, number of steps or momentum is out of range."""
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


def check_course(setting: "settings.Course | settings.Scalar") -> None:
    """Raise if a flow has no positive duration or fewer than three records."""
    if not setting.until > 0 or setting.records < 3:
        raise ValueError(
            f"until is {setting.until} and records {setting.records}: flow for a "
            "positive time and record at least three times."
        )
