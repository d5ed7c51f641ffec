"""How a run ended, as a plain enumeration so that analysis needs no JAX."""

import enum


class Outcome(enum.Enum):
    """How a run ended; the value is a sentence that says what to do about it."""

    FINISHED = "The run reached its end."
    EVENT = "The run reached the event that ends it."
    DIVERGED = (
        "The state stopped being finite; what was recorded before is kept. "
        "Use a smaller learning rate, or a smaller initial scale."
    )
    EVENT_NOT_REACHED = (
        "The event that should end a stage did not happen within its horizon. "
        "Raise the horizon, or lower the event's level."
    )
    OUT_OF_STEPS = (
        "The solver used up its steps; what was recorded before is kept. "
        "Raise `max_steps`, use the log-time clock, or stop before the vector field "
        "starts to slide along a kink."
    )
    INTERRUPTED = (
        "The run was interrupted; what was recorded before is kept. Run it again."
    )

    @property
    def label(self) -> str:
        """The name that is stored and printed, such as `event-not-reached`."""
        return self.name.lower().replace("_", "-")

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for was computed."""
        return self in (Outcome.FINISHED, Outcome.EVENT)

    @classmethod
    def of(cls, label: str) -> "Outcome":
        """The outcome with this label."""
        return cls[label.upper().replace("-", "_")]
