"""Systems: what flows, recording, stages and claims see of a model in training."""

from typing import Any, Protocol


class FlowSystem(Protocol):
    """A system with a vector field."""

    def velocity(self, t: Any, state: Any) -> Any:
        """The state's derivative."""
        ...


class DescentSystem(Protocol):
    """A system that rules of descent can move.

    `direction` maps the name of each part that moves to minus its gradient. What a
    system may have beside: `at(step)`, the system as a step sees it;
    `direction_and_sight(state)`, the direction and a sight of samples on the way to it;
    `square` and `each_matrix`, for
    rules that see weights whole.
    """

    def direction(self, state: Any) -> dict[str, Any]:
        """Minus the gradient, part by part, in the coordinates of the rule."""
        ...

    def move(self, state: Any, updates: dict[str, Any]) -> Any:
        """The state after the updates."""
        ...
