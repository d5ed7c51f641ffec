"""The claims table: a row for each verdict, their summary, and two tables compared."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from html import escape
from pathlib import Path

from attnflow.claims.base import Scope, Verdict
from attnflow.claims.chance import Family, family_of
from attnflow.schema.declarations import Numbers
from attnflow.schema.facts import html_table, text_table
from attnflow.schema.plain_values import plain
from attnflow.schema.settings import JsonObject, look_up

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
DEFINITE = (Verdict.HOLDS, Verdict.FAILS, Verdict.HOLDS_CORRECTED)
LEAST_MOVE = 0.01
"""Margins that move by less than a hundredth of a claim's scale are the same."""
_WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.HOLDS_CORRECTED: "hold after correction",
    Verdict.FAILS: "fail",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.UNCHECKED: "unchecked",
}


@dataclass(frozen=True)
class Row:
    """A row of the claims table, with the fields of `attnflow verify --json`.

    **Arguments:**

    - `held`, `seeds`, `interval`, `margin`, `chance`, `more`: see
      `attnflow.claims.Decision`.
    - `seconds`: for the judgement, and for runs that were not in the store.
    - `what`: the predicate in words; `note`: the numbers behind the verdict.
    - `numbers`: what the claim's judge prints, name → number or list.
    - `correction`: the statement that holds instead; empty unless `holds-corrected`.
    """

    id: str
    paper: str
    place: str
    statement: str
    origin: str
    scope: Scope
    verdict: Verdict
    expected: Verdict
    held: int
    seeds: int
    interval: tuple[float, float] | None
    margin: float
    seconds: float
    numbers: Numbers = field(default_factory=dict)
    what: str = ""
    note: str = ""
    correction: str = ""
    chance: float = 0.0
    more: int | None = None

    def as_json(self) -> JsonObject:
        """The row in plain Python: texts, finite numbers, lists and `None`."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, content: JsonObject) -> "Row":
        """The row that `as_json` wrote; fields that a row does not have are ignored."""
        known = {f.name for f in fields(cls)}
        try:
            values = {name: value for name, value in content.items() if name in known}
            values |= {name: Verdict(values[name]) for name in ("verdict", "expected")}
            interval = values["interval"]
            values["interval"] = None if interval is None else tuple(interval)
            return cls(**{**values, "scope": Scope(values["scope"])})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{str(content)[:60]} is no row of a claims table ({error!r}). Give "
                "what `attnflow verify --json` writes."
            ) from error


def as_expected(row: Row) -> bool:
    """Whether a row has its recorded verdict, or was not checked at all."""
    return row.verdict in (row.expected, Verdict.UNCHECKED)


@dataclass(frozen=True, repr=False)
class ClaimsTable:
    """Rows of checked claims; prints as a table, in a notebook as HTML."""

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, id: str) -> Row:
        return look_up("claim in this table", id, {row.id: row for row in self.rows})

    @property
    def surprises(self) -> tuple[Row, ...]:
        """The rows whose verdicts differ from the recorded ones."""
        return tuple(row for row in self.rows if not as_expected(row))

    @property
    def family(self) -> Family:
        """How many of these verdicts chance alone would have given."""
        return family_of(self.rows)

    def summary(self) -> str:
        """How many claims have which verdict, and the caution that belongs to it."""
        counts = Counter(row.verdict for row in self.rows)
        parts = [f"{counts[v]} {words}" for v, words in _WORDS.items() if counts[v]]
        number = f"{len(self.rows)} claim{'' if len(self.rows) == 1 else 's'}"
        text = f"{number}: {', '.join(parts) or 'none checked'}."
        if self.surprises:
            ids = ", ".join(row.id for row in self.surprises)
            text += f" Verdicts that differ from the recorded ones (*): {ids}."
        return f"{text} {CAUTION}"

    def as_json(self) -> JsonObject:
        """The table as `attnflow verify --json` prints it, with its `family`."""
        rows = [row.as_json() for row in self.rows]
        return {"version": 1, "claims": rows, "family": self.family.as_json()}

    def __repr__(self) -> str:
        table = text_table(HEADER, [cells(row) for row in self.rows])
        return f"{table}\n{self.summary()}"

    def _repr_html_(self) -> str:
        rows = [(*cells(row), row.correction or row.statement) for row in self.rows]
        table = html_table((*HEADER, "statement"), rows)
        return f"{table}<p>{escape(self.summary())}</p>"


def cells(row: Row) -> tuple[str, ...]:
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


def read_table(path: str | Path) -> list[Row]:
    """The rows of a file that `attnflow verify --json` wrote."""
    try:
        rows = json.loads(Path(path).read_text("utf-8"))["claims"]
    except FileNotFoundError:
        raise ValueError(
            f"There is no file {path}. `attnflow verify --json {path}` writes one."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is no claims table ({error!r}). Give a file that `attnflow verify "
            "--json FILE` wrote."
        ) from error
    return [Row.from_json(row) for row in rows]


class Kind(StrEnum):
    """How a claim differs between two tables, the gravest first."""

    OPPOSITE = "another verdict"
    UNDECIDED = "decided in one alone"
    GONE = "in the old one alone"
    NEW = "in the new one alone"
    SCOPE = "another scope"
    HELD = "in other seeds"
    MARGIN = "another margin"


@dataclass(frozen=True)
class Change:
    """A claim that differs, with its row in each table; `None` where it has none."""

    kind: Kind
    old: Row | None
    new: Row | None

    @property
    def row(self) -> Row:
        """The newer of its rows."""
        row = self.new or self.old
        assert row is not None
        return row

    def as_json(self) -> JsonObject:
        """The claim, how it differs, and the fields of either row that may differ."""
        names = ("verdict", "scope", "held", "seeds", "margin", "note")
        rows = {"old": self.old, "new": self.new}
        short = {
            age: row and {name: plain(getattr(row, name)) for name in names}
            for age, row in rows.items()
        }
        claim = {"paper": self.row.paper, "id": self.row.id}
        return {**claim, "kind": str(self.kind), **short}


def compare(old: Iterable[Row], new: Iterable[Row]) -> list[Change]:
    """The claims that differ between two tables, the gravest differences first."""
    before = {(row.paper, row.id): row for row in old}
    after = {(row.paper, row.id): row for row in new}
    changes = []
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name), after.get(name)
        kind = kind_of(*pair)
        if kind is not None:
            changes.append(Change(kind, *pair))
    return sorted(changes, key=lambda change: list(Kind).index(change.kind))


def kind_of(old: Row | None, new: Row | None) -> Kind | None:
    """How a claim differs between two tables; `None` where it does not."""
    if old is None or new is None:
        return Kind.NEW if old is None else Kind.GONE
    if old.verdict is not new.verdict:
        both = old.verdict in DEFINITE and new.verdict in DEFINITE
        return Kind.OPPOSITE if both else Kind.UNDECIDED
    if old.scope is not new.scope:
        return Kind.SCOPE
    if (old.held, old.seeds) != (new.held, new.seeds):
        return Kind.HELD
    return Kind.MARGIN if abs(old.margin - new.margin) >= LEAST_MOVE else None
