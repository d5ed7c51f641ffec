"""Types that several modules of `scansnap` share."""

from collections.abc import Mapping
from typing import Any, TypeAlias

SettingValue: TypeAlias = (
    bool | int | float | str | tuple[int | float, ...] | tuple[str, ...] | None
)
"""The value of one field of a setting."""
Setting: TypeAlias = Mapping[str, Any]
"""A setting as runs record it: values by the names of its fields."""
