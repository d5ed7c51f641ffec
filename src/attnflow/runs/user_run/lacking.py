"""What a user's run lacks, told from mistakes of ours.

A judge is written for runs of ours and may end in an error on any other. Where the run
has not recorded what a run of its experiment records, or differs from one of ours in
its setting, seeds, times or outcome, that is the reason, and the claim is `unchecked`.
All else is a mistake of the judge: a `JudgeError`, with what led to it.
"""

import traceback
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, MissingData
from attnflow.claims.source_code import unwrapped
from attnflow.schema import left_out_of, may_hold

_ERRORS = (KeyError, IndexError, ValueError)
"""What numpy and xarray raise where something is not there or of another shape."""


class JudgeError(RuntimeError):
    """A judge ended in an error on a run that has all it was promised."""


class NotRecorded(KeyError):
    """A run was asked for a variable that it does not have."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name


class _Given(xr.Dataset):
    """A run that somebody gave: variables that it lacks raise an error of their own."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError as error:
            names = [key] if isinstance(key, Hashable) else list(key)
            for name in names:
                if name not in self.variables:
                    raise NotRecorded(str(name)) from error
            raise


def as_given(run: xr.Dataset) -> xr.Dataset:
    """The run, which raises `NotRecorded` for what it does not have."""
    return _Given(run.data_vars, coords=run.coords, attrs=run.attrs)


@dataclass(frozen=True)
class Lacks:
    """Why a judge's error is the run's and not the judge's.

    **Arguments:**

    - `run`: the user's.
    - `record`: observables that a run of its experiment records; `None`: not declared.
    - `differences`: tells how the run differs from one of ours; empty: not at all.
    """

    run: xr.Dataset
    record: Collection[str] | None
    differences: Callable[[], str]

    def guard(self, claim: Claim) -> Claim:
        """The claim, whose judges raise `MissingData` or `JudgeError` for errors."""
        fixed = claim.correction
        if fixed is not None:
            fixed = replace(fixed, judge=partial(self._judge, claim.id, fixed.judge))
        judge = partial(self._judge, claim.id, claim.judge)
        return replace(claim, judge=judge, correction=fixed)

    def reason(self, error: Exception, place: str = "") -> str | None:
        """What the run lacks; `None` where nothing explains the error, raised there."""
        if isinstance(error, NotRecorded) and self._should_have(error.name):
            return self._not_recorded(error.name)
        differences = self.differences()
        if not differences:
            return None
        said = f"{type(error).__name__}: {error.args[0] if error.args else ''}"
        return (
            f"its judge is for runs like ours, beside which yours has "
            f"{differences}, and ended in {said} ({place})"
        )

    def _judge(
        self, id: str, judge: Callable[[Evidence], Finding], evidence: Evidence
    ) -> Finding:
        try:
            return judge(evidence)
        except _ERRORS as error:
            place = _raised_at(error, judge)
            if reason := self.reason(error, place):
                raise MissingData(reason) from error
            raise JudgeError(
                f"The judge of {id} ended in {error!r} ({place}) on a run that differs "
                "from ours in nothing that it says of itself. Please report it; if you "
                "changed the run or its samples, undo that."
            ) from error

    def _should_have(self, name: str) -> bool:
        return self.record is None or may_hold(name, self.record)

    def _not_recorded(self, name: str) -> str:
        why = left_out_of(self.run).get(name)
        if why is not None:
            return f"the run has no {name}: {why}"
        return f"the run has no {name}. Record it too (`attnflow run --record NAME`)."


def _raised_at(error: Exception, judge: Callable[..., Any]) -> str:
    """The last line of the judge's own package that led to an error."""
    package = str(unwrapped(judge).__module__).partition(".")[0]
    places = [
        f"{frame.f_code.co_filename}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ]
    return places[-1] if places else "outside its package"
