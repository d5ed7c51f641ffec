"""From the settings of a paper to its experiments: what all of them share."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from attnflow.experiments.record import Computation, Experiment, SystemExperiment
from attnflow.schema.settings import look_up

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Builder:
    """Builds the experiments of one paper.

    Each is called after the type of its setting, and keeps the setting itself.

    **Arguments:**

    - `paper`: the short name of the paper.
    - `citation`: the BibTeX key that its runs carry.

    !!! example

        ```python
        BUILD = Builder("needle", citation="needle2026")


        def train(setting: Train) -> Experiment:
            return BUILD.experiment(setting, task=…, problem=…, initial=…, …)
        ```
    """

    paper: str
    citation: str = ""

    def experiment(self, setting: "DataclassInstance", **parts: Any) -> Experiment:
        """Training on a task; `parts` are the other fields of `Experiment`."""
        return Experiment(**self._origin(setting), **parts)

    def system(self, setting: "DataclassInstance", **parts: Any) -> SystemExperiment:
        """A system that is written directly; `parts` as in `SystemExperiment`."""
        return SystemExperiment(**self._origin(setting), **parts)

    def computation(self, setting: "DataclassInstance", function: str) -> Computation:
        """What trains nothing: `function` is a path such as `needle.systems:bound`."""
        return Computation(**self._origin(setting), function=function)

    def computed(
        self, functions: Mapping[str, str]
    ) -> Callable[["DataclassInstance"], Computation]:
        """A function of settings, for computations of several types of setting.

        `functions` has the path of each by the name of its setting's type.
        """

        def build(setting: "DataclassInstance") -> Computation:
            name = type(setting).__name__
            path = look_up(f"computation of {self.paper} for settings", name, functions)
            return self.computation(setting, path)

        return build

    def _origin(self, setting: "DataclassInstance") -> dict[str, Any]:
        return {
            "paper": self.paper,
            "id": type(setting).__name__,
            "setting": asdict(setting),
            "citation": self.citation,
        }
