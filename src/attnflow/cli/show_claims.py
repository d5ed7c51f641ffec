"""Judged claims as people read them: a summary, then surprises first."""

from collections import Counter
from collections.abc import Sequence

from attnflow.claims import ClaimsTable, Row, Verdict
from attnflow.cli import text
from attnflow.cli.output import Output
from attnflow.cli.tables import Table

_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.UNCHECKED)
_HEADER = (
    "claim",
    "place",
    "verdict",
    "recorded",
    "scope",
    "held",
    "margin",
    "statement",
)


def is_surprise(row: Row) -> bool:
    """Whether the verdict is definite and another than the recorded one."""
    return row.verdict is not row.expected and row.verdict not in _UNDECIDED


def warning_of(row: Row) -> str:
    """What to say of a claim that was recorded as decided and now is not."""
    if row.verdict is row.expected or is_surprise(row):
        return ""
    why = f": {row.note}" if row.note else ""
    told = f"Warning: {row.id}, recorded as {row.expected}, is {row.verdict}{why}"
    more = f" At this rate, {row.more} seeds would decide." if row.more else ""
    return f"{told.removesuffix('.')}.{more}"


def show_claims(output: Output, table: ClaimsTable) -> None:
    """The summary by paper and scope, the table, and what chance would have done."""
    output.show(summary_table(table.rows))
    output.show(claims_table(table.rows))
    output.say(table.summary())
    output.say(str(table.family))


def summary_table(rows: Sequence[Row]) -> Table:
    """How many claims got which verdict, by paper and scope."""
    counts = Counter((row.paper, row.scope, row.verdict) for row in rows)
    groups = dict.fromkeys((row.paper, row.scope) for row in rows)
    found = [
        (paper, str(scope), *(str(counts[paper, scope, v] or "") for v in Verdict))
        for paper, scope in groups
    ]
    return Table(("paper", "scope", *map(str, Verdict)), found)


def claims_table(rows: Sequence[Row]) -> Table:
    """The claims table, with what came out otherwise than recorded on top."""
    ordered = sorted(rows, key=lambda row: (not is_surprise(row), not warning_of(row)))
    return Table(_HEADER, [_cells(row) for row in ordered])


def _cells(row: Row) -> tuple[str, ...]:
    checked = row.verdict is not Verdict.UNCHECKED
    return (
        row.id,
        row.place,
        f"{row.verdict}{' !' if is_surprise(row) else ''}",
        str(row.expected),
        str(row.scope),
        _held(row) if checked else text.ABSENT,
        text.number(row.margin) if checked else text.ABSENT,
        row.correction or row.statement,
    )


def _held(row: Row) -> str:
    """`4/5 in [0.28, 0.99]`: the interval is of the share, or of a fitted slope."""
    if row.interval is None:
        return f"{row.held}/{row.seeds}"
    low, high = row.interval
    return f"{row.held}/{row.seeds} in [{low:.2g}, {high:.2g}]"
