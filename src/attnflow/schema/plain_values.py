"""Values as JSON holds them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any, cast


def plain(value: object) -> Any:
    """The value in JSON's own types; a number that is not finite becomes null."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        parts = cast("Mapping[object, object]", value)
        return {str(name): plain(part) for name, part in parts.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in cast("Iterable[object]", value)]
    # Labelled arrays have the first of these, arrays and numbers of NumPy the second.
    for method in ("to_numpy", "tolist"):
        if hasattr(value, method) and not isinstance(value, type):
            return plain(getattr(value, method)())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return (
        value if value is None or isinstance(value, str | int | float) else str(value)
    )
