"""A run without numbers: what a paper's functions of a run are tried on."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np
import xarray as xr

from attnflow.browser.setup import SetUp
from attnflow.experiments.course import as_dataset
from attnflow.experiments.record import Experiment
from attnflow.observables import find
from attnflow.schema import AT_END
from attnflow.schema.dataset import Outcome
from attnflow.schema.settings import canonical_json
from attnflow.training.stages import Course, Records

FEW = 5
"""Records of a blank run, the first and the last among them."""


class Fields(dict[str, Any]):
    """A setting that remembers which of its fields were `read`."""

    def __init__(self, fields: Mapping[str, Any], read: set[str]):
        super().__init__(fields)
        self.read = read

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or the default."""
        self.read.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        # Whoever goes through the fields may read all of them.
        self.read.update(super().keys())
        return super().__iter__()

    def keys(self) -> Any:
        """All names: each of them counts as read."""
        return list(self)

    def values(self) -> Any:
        """All values."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """All pairs."""
        return [(name, self[name]) for name in self]


class _Marked(str):
    """A text that reads as a setting with symbols."""

    setting: Mapping[str, Any]


def ends_of(setup: SetUp) -> list[float]:
    """Ends of stages that no detector would find."""
    experiment = setup.experiment
    last = float(experiment.grid.times(whole=not experiment.is_flow)[-1])
    return [last * (1 + 0.01 * (n + 1)) for n in range(len(setup.stages))]


def blank_run(setup: SetUp, fields: Mapping[str, Any], fill: float) -> xr.Dataset:
    """A run of this experiment in which nothing is known but when stages ended."""
    experiment, stages = setup.experiment, setup.stages
    _, shapes = stages[0].observed
    times = experiment.grid.times(whole=not experiment.is_flow)
    few = np.linspace(0, len(times) - 1, min(FEW, len(times)))
    times = times[few.astype(int)]
    records = Records(times, 1)
    records.recorded[:] = True
    records.rows = {
        name: np.full((1, len(times), *shape.shape), fill)
        for name, shape in shapes.items()
    }
    ends = np.array([ends_of(setup)])
    for _ in stages:
        records.add_end({n: np.full((1, *s.shape), fill) for n, s in shapes.items()})
    outcome = [Outcome.FINISHED]
    course = Course(records, None, np.zeros_like(ends), ends, outcome, [None])
    known = find
    if not isinstance(experiment, Experiment):
        known = experiment.model.registry.find
    labels = {dim: tuple(names) for dim, names in setup.labels.items()}
    run = as_dataset(experiment, [0], course, labels, find=known)
    # A page has no values at the ends of stages.
    run = run.drop_vars([n for n in run.data_vars if str(n).endswith(AT_END)])
    marked = _Marked(canonical_json(dict(experiment.setting)))
    marked.setting = fields
    run.attrs = {
        "paper": experiment.paper,
        "experiment": experiment.id,
        "setting": marked,
        "form": "none",
    }
    return run


def with_setting(run: xr.Dataset, fields: Mapping[str, Any]) -> xr.Dataset:
    """The run at another setting, whose numbers need not be plain ones."""
    marked = _Marked(run.attrs["setting"])
    marked.setting = fields
    return run.assign_attrs(setting=marked)


@contextlib.contextmanager
def settings_read() -> Iterator[None]:
    """Let the settings of blank runs be read as they are."""
    plain = json.loads

    def loads(text: Any, *args: Any, **options: Any) -> Any:
        if type(text) is _Marked:
            return text.setting
        return plain(text, *args, **options)

    with mock.patch.object(json, "loads", loads):
        yield
