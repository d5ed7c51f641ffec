"""The claims table: a row for each claim with its verdicts, and their summary."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING

from attnflow.claims.base import Claim, CorrectionKind, Kind, Origin, Scope, Verdict
from attnflow.claims.chance import Family, family_of
from attnflow.claims.scope import Circumstances, reading
from attnflow.schema.declarations import Numbers
from attnflow.schema.facts import html_table, text_table
from attnflow.schema.settings import JsonObject, look_up, plain

if TYPE_CHECKING:
    from attnflow.claims.judgement import Judgement

CAUTION = (
    "A numerical check, not a proof: 'holds' means consistent over the printed range."
)
VERSION = 2
HEADER = (
    "claim",
    "kind",
    "scope",
    "verdict",
    "corrected",
    "expected",
    "held",
    "interval",
    "margin",
    "seconds",
)
_WORDS = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.FAILS: ("fails as printed", "fail as printed"),
    Verdict.INCONCLUSIVE: ("inconclusive",) * 2,
    Verdict.UNCHECKED: ("unchecked",) * 2,
}


@dataclass(frozen=True)
class Corrected:
    """The verdict on the corrected statement of a claim."""

    kind: CorrectionKind
    statement: str
    verdict: Verdict
    expected: Verdict
    margin: float = 0.0
    note: str = ""
    more: int | None = None

    @property
    def words(self) -> str:
        """The verdict in words: `holds with another constant`."""
        return corrected_words(self.kind, self.verdict)


_CHANGED = {
    CorrectionKind.TYPO: "{} with a misprint mended",
    CorrectionKind.CONSTANT: "{} with another constant",
    CorrectionKind.CONDITION: "{} under a stronger condition",
    CorrectionKind.WEAKER: "{} in a weaker form",
    CorrectionKind.OPPOSITE: "the contrary {}",
}


def corrected_words(kind: CorrectionKind, verdict: Verdict) -> str:
    """A verdict on a correction in words, which say what it changes."""
    return _CHANGED[kind].format(verdict if verdict in _SAID else f"is {verdict}")


_SAID = (Verdict.HOLDS, Verdict.FAILS)


def recorded_words(claim: Claim) -> str:
    """The recorded verdicts in words: `fails as printed; holds with …`."""
    if claim.correction is None:
        return str(claim.expected)
    correction = claim.correction
    words = corrected_words(correction.kind, correction.expected)
    return f"{claim.expected} {as_stated(claim.origin)}; {words}"


def as_stated(origin: Origin) -> str:
    """Whose statement it is: what a paper prints, or what we state."""
    return "as printed" if origin == "paper" else "as stated"


@dataclass(frozen=True)
class WitnessResult:
    """The script of a claim's witness, and whether its numbers agree.

    `agrees` is `None` where the script was not run; `note` has the numbers of both.
    """

    script: str
    agrees: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A row of the claims table, with the fields of `attnflow verify --json`.

    **Arguments:**

    - `kind`: of statement; `scope`, `slack`, `missed`, `unread`: how near the judged
      runs are to its conditions, see `attnflow.claims.Circumstances`.
    - `verdict`, `expected`: on the statement as printed, and the recorded one;
      `corrected`: the same for its correction.
    - `held`, `seeds`, `interval`, `margin`, `chance`, `more`: see
      `attnflow.claims.Decision`.
    - `witness`: a second program for its numbers.
    - `seconds`: for the judgement, and for runs that were not in the store.
    - `what`: the predicate in words; `note`: the numbers behind the verdict.
    - `numbers`: what the claim's judge prints, name → number or list.
    """

    id: str
    paper: str
    place: str
    kind: Kind
    statement: str
    origin: Origin
    scope: Scope
    slack: float | None
    verdict: Verdict
    expected: Verdict
    corrected: Corrected | None
    held: int
    seeds: int
    interval: tuple[float, float] | None
    margin: float
    witness: WitnessResult | None
    seconds: float
    numbers: Numbers = field(default_factory=dict)
    what: str = ""
    note: str = ""
    missed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    chance: float = 0.0
    more: int | None = None

    @property
    def words(self) -> str:
        """Both verdicts in words: `fails as printed; holds with another constant`."""
        if self.corrected is None or self.verdict is Verdict.UNCHECKED:
            return str(self.verdict)
        return f"{self.verdict} {as_stated(self.origin)}; {self.corrected.words}"

    @property
    def recorded(self) -> str:
        """The recorded verdicts in words, as `words` says those that came out."""
        if self.corrected is None:
            return str(self.expected)
        corrected = corrected_words(self.corrected.kind, self.corrected.expected)
        return f"{self.expected} {as_stated(self.origin)}; {corrected}"

    @property
    def reading(self) -> str:
        """What the verdict means at its scope: `refuted as printed`."""
        return reading(self.verdict, self.scope, self.kind, self.origin)

    @property
    def scope_and_origin(self) -> str:
        """The scope, and whether the statement is ours: `theorem, ours`."""
        return f"{self.scope}, ours" if self.origin == "ours" else str(self.scope)

    def as_json(self) -> JsonObject:
        """The row in plain Python: texts, finite numbers, lists and `None`."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("corrected", "witness"):
            parts[name] = parts[name] and asdict(parts[name])
        return {name: plain(value) for name, value in parts.items()}

    @classmethod
    def from_json(cls, content: JsonObject) -> "Row":
        """The row that `as_json` wrote, of this version or of version 1.

        Fields that a row does not have are ignored.
        """
        known = {f.name for f in fields(cls)}
        try:
            content = _from_version_1(content) if "kind" not in content else content
            values = {name: value for name, value in content.items() if name in known}
            values |= {name: Verdict(values[name]) for name in ("verdict", "expected")}
            values |= {name: tuple(values[name]) for name in ("missed", "unread")}
            interval = values["interval"]
            values["interval"] = None if interval is None else tuple(interval)
            values["kind"], values["scope"] = (
                Kind(values["kind"]),
                Scope(values["scope"]),
            )
            if values["corrected"] is not None:
                values["corrected"] = _read_correction(values["corrected"])
            if values["witness"] is not None:
                values["witness"] = WitnessResult(**values["witness"])
            return cls(**values)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{str(content)[:60]} is not a row of a claims table ({error!r}). Give "
                "what `attnflow verify --json` writes."
            ) from error


def _read_correction(content: JsonObject) -> Corrected:
    verdicts = {name: Verdict(content[name]) for name in ("verdict", "expected")}
    return Corrected(**{**content, "kind": CorrectionKind(content["kind"]), **verdicts})


OLD = "holds-corrected"
"""The verdict of version 1 on a claim whose correction held."""


def _from_version_1(content: JsonObject) -> JsonObject:
    """A row of version 1 with the fields of this version.

    It had no kinds; and where the correction held, it did not say whether the printed
    statement failed.
    """
    corrected = None
    if content["verdict"] == OLD:
        corrected = {
            "kind": CorrectionKind.WEAKER,
            "statement": content["correction"],
            "verdict": Verdict.HOLDS,
            "expected": Verdict.HOLDS,
        }
    verdicts = {
        name: Verdict.INCONCLUSIVE if content[name] == OLD else content[name]
        for name in ("verdict", "expected")
    }
    added = {"kind": Kind.OBSERVATION, "slack": None, "witness": None}
    lists = {"missed": (), "unread": ()}
    return {**content, **added, **lists, **verdicts, "corrected": corrected}


def as_expected(row: Row) -> bool:
    """Whether a row has its recorded verdicts, or was not checked at all."""
    if row.verdict is Verdict.UNCHECKED:
        return True
    corrected = row.corrected is None or row.corrected.verdict is row.corrected.expected
    return row.verdict is row.expected and corrected


def make_row(
    claim: Claim,
    paper: str,
    judgement: "Judgement",
    around: Circumstances,
    *,
    seconds: float,
) -> Row:
    """The row of a claim of the paper with this slug that was judged already."""
    return Row(
        id=claim.id,
        paper=paper,
        place=claim.place,
        kind=claim.kind,
        statement=claim.statement,
        origin=claim.origin,
        scope=around.scope,
        slack=plain(around.slack),
        missed=tuple(map(str, around.missed)),
        unread=around.unread,
        expected=claim.expected,
        corrected=_corrected(claim, judgement),
        witness=WitnessResult(claim.witness.script) if claim.witness else None,
        seconds=seconds,
        numbers=plain(judgement.numbers),
        what=claim.check,
        **asdict(judgement.decision),
    )


def _corrected(claim: Claim, judgement: "Judgement") -> Corrected | None:
    if claim.correction is None:
        return None
    decision = judgement.correction or judgement.decision
    return Corrected(
        kind=CorrectionKind(claim.correction.kind),
        statement=claim.correction.statement,
        verdict=decision.verdict,
        expected=claim.correction.expected,
        margin=decision.margin,
        note=decision.note,
        more=decision.more,
    )


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
        parts = [
            f"{counts[v]} {one if counts[v] == 1 else several}"
            for v, (one, several) in _WORDS.items()
            if counts[v]
        ]
        corrections = Counter(r.corrected.verdict for r in self.rows if r.corrected)
        if corrections:
            held, number = corrections[Verdict.HOLDS], corrections.total()
            parts.append(f"{held} of {number} corrections hold")
        number = f"{len(self.rows)} claim{'' if len(self.rows) == 1 else 's'}"
        text = f"{number}: {', '.join(parts) or 'none checked'}."
        if self.surprises:
            ids = ", ".join(row.id for row in self.surprises)
            text += f" Verdicts that differ from the recorded ones (*): {ids}."
        return f"{text} {CAUTION}"

    def as_json(self) -> JsonObject:
        """The table as `attnflow verify --json` prints it, with its `family`."""
        rows = [row.as_json() for row in self.rows]
        return {"version": VERSION, "claims": rows, "family": self.family.as_json()}

    def __repr__(self) -> str:
        table = text_table(HEADER, [cells(row) for row in self.rows])
        return f"{table}\n{self.summary()}"

    def _repr_html_(self) -> str:
        rows = [(*cells(row), row.statement) for row in self.rows]
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
        str(row.kind),
        row.scope_and_origin,
        f"{row.verdict}{'' if as_expected(row) else ' *'}",
        f"{row.corrected.verdict} ({row.corrected.kind})" if row.corrected else "–",
        str(row.expected),
        "–" if unchecked else f"{row.held}/{row.seeds}",
        interval,
        "–" if unchecked else f"{row.margin:.3g}",
        f"{row.seconds:.1f}",
    )
