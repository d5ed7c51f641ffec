"""Checkpoints as they are typed: files, the times and seeds they are of, names."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from attnflow.cli import target


class Typed(NamedTuple):
    """What `attnflow.observe` takes: checkpoints, their times and their seeds."""

    checkpoints: list[str]
    at: list[float] | None
    seeds: list[int] | None


def files_and_settings(given: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Texts with an equals sign are settings, unless there is such a file."""
    settings = [text for text in given if "=" in text and not Path(text).exists()]
    files = [text for text in given if text not in settings]
    if not files:
        raise ValueError("There are no files: give checkpoints, such as weights.npz.")
    return files, target.overrides(settings)


def typed(files: list[str], at: str | None, seeds: str | None) -> Typed:
    """Files at one time each, or files of a whole series each."""
    times, numbers = target.times(at), _whole_numbers(seeds)
    if times is None:
        return Typed(files, None, numbers or list(range(len(files))))
    if numbers is None:
        return Typed(files, times, None)
    raise ValueError(
        f"--at {at} says that the files are moments of one training, and --seeds "
        f"{seeds} that each is a training of its own: give one of the two."
    )


def name_map(texts: Sequence[str]) -> dict[str, str | list[str]] | None:
    """Names from texts such as `W_V=plus.weight+minus.weight`."""
    found = target.overrides(texts)
    return {
        ours: theirs.split("+") if "+" in theirs else theirs
        for ours, theirs in found.items()
    } or None


def _whole_numbers(text: str | None) -> list[int] | None:
    found = target.names(text) or []
    if not all(number.isdecimal() for number in found):
        raise ValueError(f"--seeds {text!r} is no list. Write for example 0,1,2.")
    return [int(number) for number in found] or None
