"""`run.attnflow`: what a run is, on top of the Dataset that it is."""

from typing import Any

import xarray as xr

from attnflow import schema
from attnflow.runs.store import final_values, worst_outcome
from attnflow.schema.facts import AbstractPresentable, Facts
from attnflow.schema.settings import typed


@xr.register_dataset_accessor("attnflow")
class RunView(AbstractPresentable):
    """A run in a few words and numbers: `run.attnflow`, in a notebook as HTML.

    It is there on every Dataset once attnflow has been used, and speaks of those that
    are runs.

    !!! example

        >>> import attnflow as af
        >>> run = af.run("mixture/figure1", steps=20, records=3, store=False)
        >>> run.attnflow.outcome
        'finished'
        >>> run.attnflow.setting["width"]
        128
    """

    def __init__(self, run: xr.Dataset):
        self._run = run

    @property
    def setting(self) -> dict[str, Any]:
        """The full setting."""
        return schema.setting_of(self._checked())

    @property
    def outcome(self) -> str:
        """How it ended: the worst of its seeds."""
        return worst_outcome(self._checked()).label

    @property
    def final(self) -> dict[str, Any]:
        """The last value of each observable that is one number, by seed if several."""
        return final_values(self._checked())

    def stages(self) -> list[Any]:
        """The stages of training: the paper's own time beside the detected one."""
        from attnflow.papers import paper

        table = paper(self._checked().attrs["paper"]).stage_table
        return table(self._run) if table else []

    def facts(self) -> Facts:
        """Where the run comes from, how it went, and where it ended."""
        run, attrs = self._checked(), self._run.attrs
        names = schema.observables_of(run) or [str(name) for name in run.data_vars]
        rows = [(name, _rounded(value)) for name, value in self.final.items()]
        return Facts(
            f"Run of {attrs['paper']}/{attrs['experiment']} ({attrs['id']})",
            (
                ("setting", " ".join(typed(self.setting))),
                ("seeds", ", ".join(str(int(seed)) for seed in run["seed"])),
                ("rule", attrs["rule"]),
                ("form", f"{attrs['form']}: {attrs['form_reason'] or 'as asked'}"),
                ("outcome", self.outcome),
                ("recorded", ", ".join(names)),
                ("seconds", _seconds(attrs)),
            ),
            (("at the end", "value"), rows),
        )

    def _checked(self) -> xr.Dataset:
        missing = [name for name in schema.ATTRIBUTES if name not in self._run.attrs]
        if missing:
            raise ValueError(
                f"This Dataset is not a run of attnflow: it lacks the attributes "
                f"{missing}. `attnflow.schema` says what a run has; af.run makes one."
            )
        return self._run


def _rounded(value: Any) -> str:
    """A number, or one for each seed, to four digits."""
    numbers = value if isinstance(value, list) else [value]
    return ", ".join(f"{number:.4g}" for number in numbers)


def _seconds(attrs: dict[str, Any]) -> str:
    wall, compiling = float(attrs["wall_seconds"]), float(attrs["compile_seconds"])
    return f"{wall:.2f}, of which {compiling:.2f} to compile"
