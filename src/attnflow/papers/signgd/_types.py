"""Types that modules of `signgd` share."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]
"""The fields of a setting by name, as the JSON of a run keeps them."""

Override: TypeAlias = (
    bool | int | float | str | tuple[str, ...] | tuple[float, ...] | None
)
Overrides: TypeAlias = Mapping[str, Override]
"""Fields that differ from those of an experiment's setting."""

Values: TypeAlias = Mapping[str, "float | Values"]
"""The numbers of an exhibit by name, nested."""
