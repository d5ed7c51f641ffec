"""The clock of a run: an index that keeps steps and time apart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from xarray import Index, Variable


class Clock(Index):
    """What a run's `time` counts; arrays of different clocks do not combine.

    xarray aligns arrays by the numbers of their `time` alone: step 100 of a descent at
    rate 0.1 would meet time 100 of a flow, which is step 1000.
    """

    def __init__(self, unit: str):
        self.unit = unit

    @classmethod
    def from_variables(
        cls, variables: Mapping[Any, Variable], *, options: Mapping[str, Any]
    ) -> Clock:
        """The index of the scalar coordinate."""
        (variable,) = variables.values()
        return cls(str(variable.values))

    def create_variables(
        self, variables: Mapping[Any, Variable] | None = None
    ) -> dict[Hashable, Variable]:
        """The coordinate itself."""
        return dict(variables or {})

    def equals(
        self, other: Index, *, exclude: frozenset[Hashable] | None = None
    ) -> bool:
        """Whether both count the same."""
        return isinstance(other, Clock) and self.unit == other.unit

    def join(self, other: Any, how: str = "inner") -> Any:
        """Never: two clocks have no common one."""
        raise ValueError(_apart(self, other))

    def reindex_like(self, other: Any) -> dict[Hashable, Any]:
        """Never, likewise."""
        raise ValueError(_apart(self, other))


def _apart(one: Clock, other: Clock) -> str:
    return (
        f"The time of one run counts {one.unit}s and that of the other {other.unit}s. "
        "Bring both to one clock by attnflow.on_training_time(run), or leave the clock "
        "out where times do not matter: array.drop_vars('clock')."
    )
