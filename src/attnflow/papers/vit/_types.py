"""Types of settings and of exhibits' values, named once."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attnflow.schema.settings import Value

Field: TypeAlias = Value
"""The value of a setting's field."""
Fields: TypeAlias = Mapping[str, Any]
"""A setting as the JSON dictionary that a run carries."""
Regime: TypeAlias = Literal["benign", "harmful"]
Values: TypeAlias = Mapping[str, "float | Values"]
"""Numbers of an exhibit by name, nested."""
