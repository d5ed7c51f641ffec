"""The claims table: rows, what came out otherwise than recorded, and a caution."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from attnflow.claims.base import Verdict
from attnflow.claims.family import Family, family_of
from attnflow.schema.facts import html_table, text_table
from attnflow.schema.names import look_up

if TYPE_CHECKING:
    from attnflow.claims.verify import Row

CAUTION = (
    "A numerical check, not a proof: 'holds' means consistent over the printed range."
)
HEADER = (
    "claim",
    "scope",
    "verdict",
    "expected",
    "held",
    "interval",
    "margin",
    "seconds",
)
_WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.HOLDS_CORRECTED: "hold after correction",
    Verdict.FAILS: "fail",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.UNCHECKED: "unchecked",
}


def as_expected(row: "Row") -> bool:
    """Whether a row came out as recorded.

    What is unchecked did not come out at all, and so not otherwise.
    """
    return row.verdict in (row.expected, Verdict.UNCHECKED)


@dataclass(frozen=True, repr=False)
class ClaimsTable:
    """Rows of checked claims; prints as a table, in a notebook as HTML."""

    rows: "tuple[Row, ...]"

    def __iter__(self) -> "Iterator[Row]":
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, id: str) -> "Row":
        return look_up("claim in this table", id, {row.id: row for row in self.rows})

    @property
    def surprises(self) -> "tuple[Row, ...]":
        """The rows that came out otherwise than recorded."""
        return tuple(row for row in self.rows if not as_expected(row))

    @property
    def family(self) -> Family:
        """What chance alone would have made of this table."""
        return family_of(self.rows)

    def summary(self) -> str:
        """How many claims came out how, and the caution that belongs to it."""
        counts = Counter(row.verdict for row in self.rows)
        parts = [f"{counts[v]} {words}" for v, words in _WORDS.items() if counts[v]]
        number = f"{len(self.rows)} claim{'' if len(self.rows) == 1 else 's'}"
        text = f"{number}: {', '.join(parts) or 'none checked'}."
        if self.surprises:
            ids = ", ".join(row.id for row in self.surprises)
            text += f" Otherwise than recorded (*): {ids}."
        return f"{text} {CAUTION}"

    def as_json(self) -> dict[str, Any]:
        """The table as `attnflow verify --json` prints it, and what chance would do."""
        rows = [row.as_json() for row in self.rows]
        return {"version": 1, "claims": rows, "family": self.family.as_json()}

    def __repr__(self) -> str:
        table = text_table(HEADER, [cells(row) for row in self.rows])
        return f"{table}\n{self.summary()}"

    def _repr_html_(self) -> str:
        rows = [(*cells(row), row.correction or row.statement) for row in self.rows]
        table = html_table((*HEADER, "statement"), rows)
        return f"{table}<p>{escape(self.summary())}</p>"


def cells(row: "Row") -> tuple[str, ...]:
    """The texts of a row under `HEADER`; a star marks a surprise."""
    interval = "–"
    if row.interval is not None:
        interval = f"[{row.interval[0]:.3g}, {row.interval[1]:.3g}]"
    unchecked = row.verdict is Verdict.UNCHECKED
    return (
        row.id,
        str(row.scope),
        f"{row.verdict}{'' if as_expected(row) else ' *'}",
        str(row.expected),
        "–" if unchecked else f"{row.held}/{row.seeds}",
        interval,
        "–" if unchecked else f"{row.margin:.3g}",
        f"{row.seconds:.1f}",
    )
