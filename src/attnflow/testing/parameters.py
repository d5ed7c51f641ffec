"""Things with ids as parameters of a test."""

from collections.abc import Collection
from typing import Any

import pytest


def parameters(items: Collection[Any], slow: Collection[str], *marks: Any) -> list[Any]:
    """One parameter for each item; those whose ids are `slow` are marked so."""
    ids = {item.id for item in items}
    assert set(slow) <= ids, f"unknown: {set(slow) - ids}"
    return [
        pytest.param(
            item,
            id=item.id,
            marks=[*marks, *([pytest.mark.slow] if item.id in slow else [])],
        )
        for item in items
    ]
