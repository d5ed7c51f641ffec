"""Judged claims as people read them: surprises first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnflow.claims import Verdict
from attnflow.cli import text
from attnflow.cli.output import Table

if TYPE_CHECKING:
    from attnflow.claims.verify import Row

_UNDECIDED = {Verdict.INCONCLUSIVE, Verdict.UNCHECKED}


def differs(row: "Row") -> bool:
    """Whether the verdict is another than the recorded one."""
    return Verdict(row.verdict) is not Verdict(row.expected)


def is_surprise(row: "Row") -> bool:
    """Whether the verdict is definite and another than the recorded one."""
    return differs(row) and Verdict(row.verdict) not in _UNDECIDED


def warning_of(row: "Row") -> str:
    """What to say of a claim that was recorded as decided and now is not."""
    if not differs(row) or is_surprise(row):
        return ""
    return f"Warning: {row.id} was recorded as {row.expected}, and is {row.verdict}."


def claims_table(rows: "Sequence[Row]") -> Table:
    """The claims table, with what came out otherwise than recorded on top."""
    ordered = sorted(rows, key=lambda row: (not is_surprise(row), not differs(row)))
    columns = ("claim", "verdict", "recorded", "scope", "held", "margin", "statement")
    return Table(columns, [_cells(row) for row in ordered])


def _cells(row: "Row") -> tuple[str, ...]:
    held = text.ABSENT if row.held is None else f"{row.held}/{row.seeds}"
    mark = " !" if is_surprise(row) else ""
    return (
        row.id,
        f"{row.verdict}{mark}",
        str(row.expected),
        str(row.scope),
        held,
        text.number(row.margin),
        row.statement,
    )
