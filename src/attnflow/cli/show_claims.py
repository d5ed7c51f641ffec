"""Judged claims as people read them: surprises first."""

from collections.abc import Sequence

from attnflow.claims import Row, Verdict
from attnflow.cli import text
from attnflow.cli.tables import Table

_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.UNCHECKED)


def is_surprise(row: Row) -> bool:
    """Whether the verdict is definite and another than the recorded one."""
    return row.verdict is not row.expected and row.verdict not in _UNDECIDED


def warning_of(row: Row) -> str:
    """What to say of a claim that was recorded as decided and now is not."""
    if row.verdict is row.expected or is_surprise(row):
        return ""
    why = f": {row.note}" if row.note else "."
    return f"Warning: {row.id}, recorded as {row.expected}, is {row.verdict}{why}"


def claims_table(rows: Sequence[Row]) -> Table:
    """The claims table, with what came out otherwise than recorded on top."""
    ordered = sorted(rows, key=lambda row: (not is_surprise(row), not warning_of(row)))
    columns = ("claim", "verdict", "recorded", "scope", "held", "margin", "statement")
    return Table(columns, [_cells(row) for row in ordered])


def _cells(row: Row) -> tuple[str, ...]:
    checked = row.verdict is not Verdict.UNCHECKED
    return (
        row.id,
        f"{row.verdict}{' !' if is_surprise(row) else ''}",
        str(row.expected),
        str(row.scope),
        f"{row.held}/{row.seeds}" if checked else text.ABSENT,
        text.number(row.margin) if checked else text.ABSENT,
        row.correction or row.statement,
    )
