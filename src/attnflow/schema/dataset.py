"""What a run looks like: one `xarray.Dataset` with these dims, coords and attrs.

| name | dims | what |
|---|---|---|
| `seed` | seed | the seeds, as integers (coord) |
| `time` | time | training time of a flow, steps of a descent (coord; attrs `units`) |
| `training_time` | time (and seed) | a flow's time, or rates summed (coord) |
| `recorded` | seed, time | whether this row was computed (a run may end early) |
| `outcome` | seed | how the run ended: a label of `Outcome` |
| `end_time` | seed | the time at which the run ended |
| `stage_name` | stage | names of the training stages, in order (coord `stage`) |
| `stage_start`, `stage_end` | seed, stage | times between which each stage trained |
| an observable | seed, time, its own dims | the recorded series |
| `X_at_end`, X an observable | seed, stage, its own dims | its value at a stage's end |
| `drift` | seed | the largest drift of the conserved quantities (flows only) |
| `refinement` | seed | largest of the next, over observables |
| `refinement_by_observable` | seed, observable | change at a tenth of the tolerance |
| `sharpness_at_start` | seed | top Gauss–Newton curvature of the initial state |
| `sharpness_at_zero` | seed | the same with every output at 0 |
| `rate_threshold` | seed | largest stable learning rate (attrs `learning_rate`) |
| `epsilon_step` | seed | step from which Adam's ε outweighs gradients; NaN if never |
| `X_final`, X a weight | seed, head, its own dims | weights at the end, if lifted |

Every variable has the attrs `long_name` and `units`. What `attnflow.run` gives also has
the coordinate `clock`, `time` or `step`: arrays on different clocks do not combine,
unless both are brought to one by `on_training_time`.

A refinement is relative to the observable's largest entry; flows have it that were
checked. Curvatures and threshold are those of gradient descent and momentum, for the
first stage.

Attrs: `paper`, `experiment`, `id` (content address), `setting` (JSON), `form`,
`form_reason`, `rule`, `versions` (JSON), `platform`, `wall_seconds`,
`compile_seconds`, `citation` (a BibTeX key); `rate_threshold_note` where a descent has
no `rate_threshold`: why not; `system` where a paper speaks of several dynamical
systems: which one this is. An observed run (`form` is `observed`) may have
`left_out` (JSON): observables of its experiment that it could not compute, and why;
and `missing_times`: which records of its experiment it lacks, in words.
An experiment that trains nothing has no `time`; it keeps `seed` and the attrs.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Collection

import numpy as np

from attnflow.schema import dims as _dims
from attnflow.schema.installation import xr
from attnflow.schema.settings import JsonObject

ATTRIBUTES = (
    "paper",
    "experiment",
    "id",
    "setting",
    "form",
    "form_reason",
    "rule",
    "versions",
    "platform",
    "wall_seconds",
    "compile_seconds",
    "citation",
)
BOOKKEEPING = frozenset(
    {
        "recorded",
        "outcome",
        "end_time",
        "stage_start",
        "stage_end",
        "drift",
        "refinement",
        "refinement_by_observable",
        "sharpness_at_start",
        "sharpness_at_zero",
        "rate_threshold",
    }
)
_DIMS = frozenset(dim for name, dim in vars(_dims).items() if name.isupper())
AT_END, FINAL = "_at_end", "_final"
"""Suffixes of variables: values at ends of stages, and weights at the end."""


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
        "The solver used up its steps, or thousands of them led less far than one "
        "before, as where a flow slides along the kink of a ReLU; what was recorded "
        "until then is kept. Raise `max_steps`, use the log-time clock, stop earlier, "
        "or train by descent."
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
        """Whether everything that was requested was computed."""
        return self in (Outcome.FINISHED, Outcome.EVENT)

    @classmethod
    def of(cls, label: str) -> Outcome:
        """The outcome with this label."""
        return cls[label.upper().replace("-", "_")]


def described(run: xr.Dataset) -> xr.Dataset:
    """The `run`, of which every variable has a `long_name` and `units`."""
    clock = run[_dims.TIME].attrs.get("units", "time") if _dims.TIME in run else "time"
    for name, variable in run.variables.items():
        text = str(name)
        words = LONG_NAMES.get(text, text.replace("_", " "))
        variable.attrs.setdefault("long_name", variable.attrs.get("about", words))
        plain = text.removesuffix(AT_END)
        units = clock if plain in IN_STEPS else "1"
        if plain.endswith(("_rate", "_velocity", "_speed")):
            units = "1/time"
        variable.attrs.setdefault("units", units)
    return run


LONG_NAMES = {
    "recorded": "whether a row was computed",
    "outcome": "how a run ended",
    "end_time": "when a run ended",
    "stage_start": "when a stage began",
    "stage_end": "when a stage ended",
    "drift": "largest drift of conserved quantities",
}
IN_STEPS = ("end_time", "stage_start", "stage_end", "epsilon_step")
"""Variables in units of the run's own clock."""


def on_training_time(run: xr.Dataset) -> xr.Dataset:
    """The `run` with its training time as `time`: a flow and a descent share it."""
    if CLOCK in run.coords:
        run = run.drop_vars(CLOCK)
    clock = run["training_time"]
    if clock.dims != (_dims.TIME,):
        raise ValueError(
            "Stages of different rates begin at different steps in this run, so that "
            "each seed has a training time of its own: take one seed by isel(seed=[0]) "
            "and squeeze its training_time."
        )
    bare = run.drop_vars("training_time")
    return bare.assign_coords({_dims.TIME: clock})  # pyright: ignore[reportUnknownMemberType] # xarray leaves it open


CLOCK = "clock"
"""The coordinate that says what a run's `time` counts."""


def with_clock(run: xr.Dataset) -> xr.Dataset:
    """The `run`, whose arrays refuse to combine with those on another clock."""
    if _dims.TIME not in run.coords or CLOCK in run.coords:
        return run
    from attnflow.schema.run_clock import Clock

    unit = run[_dims.TIME].attrs.get("units", "time")
    about = {"long_name": "what `time` counts", "units": "1"}
    named = run.assign_coords({CLOCK: ((), unit, about)})  # pyright: ignore[reportUnknownMemberType] # xarray leaves it open
    return named.set_xindex(CLOCK, Clock)  # pyright: ignore[reportUnknownMemberType] # xarray leaves it open


def check(run: xr.Dataset) -> xr.Dataset:
    """The `run`, if it follows the schema; otherwise a `ValueError` that says why."""
    missing = [a for a in ATTRIBUTES if a not in run.attrs]
    if missing:
        raise ValueError(
            f"The run lacks the attributes {missing}: see attnflow.schema."
        )
    if _dims.SEED not in run.dims:
        raise ValueError(f"The run has dims {tuple(run.dims)}: it needs 'seed'.")
    if _dims.TIME in run.dims:
        absent = {"recorded", "outcome", "end_time"} - set(run.data_vars)
        if absent:
            raise ValueError(f"The run lacks {sorted(absent)}: see attnflow.schema.")
    return run


def setting_of(run: xr.Dataset) -> JsonObject:
    """The setting of a run as a dictionary."""
    return json.loads(run.attrs["setting"])


def left_out_of(run: xr.Dataset) -> dict[str, str]:
    """Observables that an observed run could not compute, by name, and why."""
    return json.loads(run.attrs.get("left_out", "{}"))


def outcomes_of(run: xr.Dataset) -> list[Outcome]:
    """How each seed of a run ended; experiments that train nothing finish."""
    if "outcome" not in run:
        return [Outcome.FINISHED] * run.sizes[_dims.SEED]
    return [Outcome.of(str(label)) for label in run["outcome"].values]


def observables_of(run: xr.Dataset) -> list[str]:
    """Names of the recorded series of a run."""
    return [
        str(name)
        for name, var in run.data_vars.items()
        if name not in BOOKKEEPING and _dims.TIME in var.dims
    ]


def may_hold(name: str, record: Collection[str]) -> bool:
    """Whether a run that records these observables may have a variable of this name.

    Dims count too: an observable that is not there leaves its labels out.
    """
    return (
        name in BOOKKEEPING
        or name in ("epsilon_step", "training_time")
        or name in _DIMS
        or name.removesuffix(AT_END) in record
        or name.endswith(FINAL)
    )


def last(run: xr.Dataset, observable: str) -> xr.DataArray:
    """The last recorded value of an observable, per seed."""
    recorded = run["recorded"]
    rows = recorded.sizes[_dims.TIME]
    index = rows - 1 - np.argmax(recorded.values[:, ::-1], axis=1)
    return run[observable].isel(time=recorded[:, 0].drop_vars("time").copy(data=index))


def mean_over_seeds(table: xr.DataArray) -> xr.DataArray:
    """The mean over seeds, where there are seeds; NaN where a seed has no value."""
    if _dims.SEED not in table.dims:
        return table
    return table.mean(_dims.SEED, skipna=False, keep_attrs=True)
