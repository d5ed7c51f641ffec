"""Witnesses: scripts that share no code with attnflow, and their numbers beside ours.

A script prints lines `name = number`. It vouches for the digits that it prints: ours
must be the same number to one unit of the last of them.
"""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from pathlib import Path
from typing import Any

from attnflow.claims import Claim, Row, Verdict, Witness, WitnessResult
from attnflow.papers import module_of
from attnflow.papers.base import Paper
from attnflow.schema.installation import MissingData

SECONDS = 600
"""The longest that a script may take: ten times the slowest, for machines with load."""


def witness_file(paper: Paper, witness: Witness) -> Path:
    """The path of a witness inside its paper's package."""
    return Path(str(files(module_of(paper.slug)) / witness.script))


Printed = Callable[[Path], dict[str, str]]
"""A function that runs a script and gives the numbers that it prints."""


def with_witnesses(
    selection: Sequence[tuple[Paper, Sequence[Claim]]],
    rows: Sequence[Row],
    workers: int | None = None,
) -> list[Row]:
    """The rows, with the answers of the witnesses that their claims name.

    Each script is run once, as many at a time as there are `workers`. Those of claims
    that were not checked are not run.
    """
    claims = {(p.slug, c.id): (p, c) for p, named in selection for c in named}
    called = {
        (row.paper, row.id): claims[row.paper, row.id]
        for row in rows
        if row.witness is not None and row.verdict is not Verdict.UNCHECKED
    }
    scripts = {_script_of(paper, claim) for paper, claim in called.values()}
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        printed = dict(zip(scripts, pool.map(run_script, scripts), strict=True))
    return [
        replace(row, witness=run_witness(*case, row, printed.__getitem__))
        if (case := called.get((row.paper, row.id)))
        else row
        for row in rows
    ]


def _script_of(paper: Paper, claim: Claim) -> Path:
    assert claim.witness is not None
    return witness_file(paper, claim.witness)


def run_witness(
    paper: Paper, claim: Claim, row: Row, run: Printed | None = None
) -> WitnessResult:
    """Run the witness of a claim and compare its numbers with those of the row."""
    assert claim.witness is not None
    witness = claim.witness
    printed = (run or run_script)(witness_file(paper, witness))
    notes, agrees = [], True
    for name, path in witness.numbers.items():
        if name not in printed:
            raise ValueError(
                f"{witness.script} prints no {name!r}. It prints {', '.join(printed)}."
            )
        ours = _number_at(row.numbers, path)
        alike = is_alike(ours, printed[name])
        agrees = agrees and alike
        notes.append(f"{name}: {printed[name]}, ours {ours:.6g}")
    return WitnessResult(witness.script, agrees, "; ".join(notes))


def run_script(script: Path) -> dict[str, str]:
    """The numbers that a script prints, as texts by their names."""
    return printed_numbers(script_output(script))


def printed_numbers(output: str) -> dict[str, str]:
    """The numbers in the lines `name = number` of a script's output, as texts."""
    lines = [line.partition(" = ") for line in output.splitlines()]
    return {name.strip(): text.strip() for name, sign, text in lines if sign}


def script_output(script: Path) -> str:
    """What a script prints, run by this Python."""
    process = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if process.returncode != 0:
        (last,) = process.stderr.strip().splitlines()[-1:] or ["no message"]
        if last.startswith("ModuleNotFoundError"):
            raise MissingData(
                f"The witness {script.name} cannot be run here: {last}. Install it."
            )
        raise RuntimeError(f"The witness {script.name} ended with {last}.")
    return process.stdout


def is_alike(ours: float, theirs: str) -> bool:
    """Whether a number is the other one, to the digits that the other one has."""
    try:
        number = Decimal(theirs)
    except InvalidOperation:
        raise ValueError(f"{theirs!r} is not a number: print digits alone.") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not math.isfinite(ours):
        return False
    # One unit of the last digit: either side may have rounded it.
    return abs(Decimal(ours) - number) <= Decimal(1).scaleb(exponent)


def _number_at(numbers: Any, path: Sequence[str | int]) -> float:
    value = numbers
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            raise ValueError(
                f"The claim prints no number {path!r}: there is no {part!r}."
            ) from None
    # JSON has no NaN: what is not known is None there.
    return math.nan if value is None else float(value)
