"""Verdicts for people: the claims table, in words, and what differs from the record."""

from collections import Counter
from collections.abc import Sequence

from attnflow.claims import ClaimsTable, Row, Verdict, as_expected
from attnflow.claims.words import scope_words, witness_words
from attnflow.cli.output import ABSENT, Output, Table, number

HEAD = (
    "claim",
    "place",
    "kind",
    "verdict",
    "recorded",
    "scope",
    "slack",
    "held",
    "margin",
    "statement",
)
FEW = 3
"""Claims of which more is said than a line of the table."""


def is_surprise(row: Row) -> bool:
    """Whether a verdict or a witness differs from the recorded one.

    Not where more seeds would decide: fewer were asked for than the record has.
    """
    if row.witness is not None and row.witness.agrees is False:
        return True
    return not as_expected(row) and not _is_undecided(row)


def _is_undecided(row: Row) -> bool:
    """Whether all that differs from the record wants only more seeds."""
    parts = [(row.verdict, row.expected, row.more)]
    if row.corrected is not None:
        corrected = row.corrected
        parts.append((corrected.verdict, corrected.expected, corrected.more))
    return all(
        verdict is expected or (verdict is Verdict.INCONCLUSIVE and more is not None)
        for verdict, expected, more in parts
    )


def warning_of(row: Row) -> str:
    """The warning for a claim that was recorded as decided and now is not."""
    if row.verdict is Verdict.UNCHECKED and row.expected is not Verdict.UNCHECKED:
        return _warning(row, "")
    if as_expected(row) or is_surprise(row):
        return ""
    more = max(filter(None, (row.more, row.corrected and row.corrected.more)))
    return _warning(row, f" At this rate, {more} seeds would decide.")


def _warning(row: Row, more: str) -> str:
    why = f": {row.note}" if row.note else ""
    message = f"Warning: {row.id}, recorded as {row.recorded}, is {row.words}{why}"
    return f"{message.removesuffix('.')}.{more}"


def show_claims(output: Output, table: ClaimsTable) -> None:
    """Show the counts by paper and scope, the table, and what chance would give."""
    output.show(summary_table(table.rows))
    output.show(claims_table(table.rows))
    if len(table.rows) <= FEW:
        for row in table.rows:
            output.say("\n".join(row_words(row)) + "\n")
    output.say(table.summary())
    for sentence in readings(table.rows):
        output.say(sentence)
    if len(table.rows) > 1:
        output.say(str(table.family))
    elif table.rows and (words := chance_words(table.rows[0])):
        output.say(words)


def summary_table(rows: Sequence[Row]) -> Table:
    """How many claims got which verdict, by paper and scope, those of ours apart."""
    places = [(row.paper, row.scope_and_origin) for row in rows]
    counts = Counter(
        (place, row.verdict) for place, row in zip(places, rows, strict=True)
    )
    lines = [
        (*place, *(str(counts[place, verdict] or "") for verdict in Verdict))
        for place in dict.fromkeys(places)
    ]
    return Table(("paper", "scope", *map(str, Verdict)), lines)


def claims_table(rows: Sequence[Row]) -> Table:
    """The claims table, with verdicts that differ from the recorded ones on top."""
    ordered = sorted(rows, key=lambda row: (not is_surprise(row), not warning_of(row)))
    return Table(HEAD, [_cells(row) for row in ordered])


def _cells(row: Row) -> tuple[str, ...]:
    checked = row.verdict is not Verdict.UNCHECKED
    return (
        row.id,
        row.place,
        str(row.kind),
        f"{row.words}{' !' if is_surprise(row) else ''}",
        "the same" if as_expected(row) and checked else row.recorded,
        row.scope_and_origin,
        number(row.slack),
        _held(row) if checked else ABSENT,
        number(row.margin) if checked else ABSENT,
        row.statement,
    )


def _held(row: Row) -> str:
    """`4/5 in [0.28, 0.99]`: the interval is of the share, or of a fitted slope."""
    if row.interval is None:
        return f"{row.held}/{row.seeds}"
    low, high = row.interval
    return f"{row.held}/{row.seeds} in [{low:.2g}, {high:.2g}]"


def chance_words(row: Row) -> str:
    """How likely one claim would pass its rule by chance, under stated assumptions."""
    if row.verdict is Verdict.UNCHECKED:
        return ""
    if not row.chance:
        return "It is decided by arithmetic alone."
    if row.verdict is not Verdict.HOLDS:
        return ""
    return f"By chance alone it would hold with probability {row.chance:.2g}."


def readings(rows: Sequence[Row]) -> list[str]:
    """What failures mean at their scopes, such as `Refuted as printed`, with ids."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict is Verdict.FAILS:
            ids.setdefault(row.reading, []).append(row.id)
    return [f"{text.capitalize()}: {', '.join(names)}." for text, names in ids.items()]


def row_words(row: Row) -> list[str]:
    """A row as sentences: both verdicts, the scope, and the witness."""
    reading = "" if row.reading == str(row.verdict) else f": {row.reading}"
    # `holds under its conditions` says what `holds` does.
    words = row.reading if row.reading.startswith(row.words) else row.words + reading
    lines = [f"{row.paper}/{row.id} {words}.", scope_words(row)]
    if row.corrected is not None:
        lines.append(f"Corrected ({row.corrected.kind}): {row.corrected.statement}")
    if row.witness is not None:
        lines.append(witness_words(row))
    return lines
