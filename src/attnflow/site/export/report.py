"""The report on one verdict, in the order in which a referee asks."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from attnflow.claims import Evidence, Kind, Row, Verdict
from attnflow.claims.source_code import Source
from attnflow.claims.table import CAUTION
from attnflow.claims.words import scope_words
from attnflow.papers.base import Paper
from attnflow.schema.conditions import READING
from attnflow.schema.installation import xr
from attnflow.schema.settings import plain, typed
from attnflow.site.explain import Explanation
from attnflow.site.explain.conditions import COLUMNS
from attnflow.site.explain.conditions import condition_rows as grouped_conditions
from attnflow.site.explain.explanation import over_seeds
from attnflow.site.export import tables
from attnflow.site.export.document import (
    Block,
    Code,
    Grid,
    Heading,
    Items,
    Link,
    Paragraph,
    Picture,
)

ROWS = 12
"""Rows of a table in the text; its file has them all."""
LONG = 240
"""Characters of a cell in the text."""
PAPER = "paper.md"
"""The file beside the index that describes the paper's model."""
RULES = {
    Kind.IDENTITY: "An identity holds where its error is within a tolerance that "
    "follows from arithmetic, and fails where it is beyond ten times that.",
    Kind.UNIVERSAL: "A universal statement holds where no run violates it, and fails "
    "with one violation beyond numerical error.",
    Kind.PROBABILITY: "A statement with a probability of failure δ holds where a "
    "one-sided 95% bound on the rate of failures is at most δ, and fails where the "
    "lower bound is above δ.",
    Kind.ASYMPTOTIC: "An asymptotic statement is judged along sizes: the slope of "
    "r = measured ÷ predicted, on logarithmic axes, must lie in a band of ±0.05 over "
    "two decades, by its 95% interval, and r within the constant; it fails where the "
    "slope along the largest sizes lies outside.",
    Kind.OBSERVATION: "An observation holds where it is seen in at least 90% of the "
    "planned seeds, and fails where the contrary is.",
}
"""The rule of each kind of statement, in words."""


@dataclass(frozen=True)
class WitnessRecord:
    """The second program of a claim, what it printed, and how that was compared.

    `output` is empty where it was not run; `note` then says why.
    """

    script: str
    file: str
    output: str
    agrees: bool | None
    note: str


@dataclass(frozen=True)
class Provenance:
    """What a verdict was computed by: key, digests, versions, and how to repeat it."""

    key: str
    code: str
    results: str
    seeds: int
    versions: Mapping[str, str]
    platform: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """What lies in a claim's folder beside its report.

    **Arguments:**

    - `files`: the names in the folder, each with what it holds.
    - `judge`, `runs`: code of the judges, and of what builds or computes the runs.
    """

    files: Sequence[tuple[str, str]]
    judge: Sequence[Source]
    runs: Sequence[Source]
    witness: WitnessRecord | None
    provenance: Provenance


def unchecked_report(paper: Paper, row: Row) -> list[Block]:
    """The report on a claim that could not be checked here."""
    return [
        *_opening(paper, row),
        Heading("Why it is unchecked"),
        Paragraph(row.note),
        *_statement(paper, row),
    ]


def claim_report(
    paper: Paper,
    explanation: Explanation,
    evidence: Evidence,
    parts: Parts,
) -> list[Block]:
    """All that led to a verdict: statement, conditions, numbers, code, trials."""
    files = parts.files
    row = explanation.row
    picture = [name for name, _ in files if name.endswith(".png")]
    return [
        *_opening(paper, row),
        *_statement(paper, row),
        *_replies(paper, explanation),
        *_conditions(explanation),
        *_judged(explanation, tables.read_variables(explanation, evidence)),
        *[Picture(name, f"What {row.id} was judged by") for name in picture],
        *_points(explanation),
        *_seeds(explanation),
        *_numbers(row),
        *_trials(explanation),
        *_witness(explanation, parts.witness),
        *_runs(explanation, evidence, paper),
        *_code("Code of the judge", "judge.py", parts.judge),
        *_code("Code of the runs", "runs.py", parts.runs),
        *_around(explanation),
        *_again(parts.provenance),
        Heading("Files"),
        Grid(("file", "holds"), [(Link(name, name), what) for name, what in files]),
    ]


def _opening(paper: Paper, row: Row) -> list[Block]:
    facts = {
        "verdict": row.words,
        "which means": row.reading,
        "recorded": row.recorded,
        "paper": f"{paper.title} ({paper.version_read})",
        "place": row.place,
        "stated by": "the paper" if row.origin == "paper" else "us, beyond the paper",
        "kind": str(row.kind),
    }
    if row.verdict is not Verdict.UNCHECKED:
        facts |= {
            "held": f"in {row.held} of {row.seeds} seeds (1 where nothing is drawn)",
            "margin": f"{row.margin:.6g}: the smallest of its checks; negative where "
            "one does not hold",
        }
    if row.verdict is Verdict.HOLDS and row.chance > 0.0:
        facts["by chance alone"] = (
            f"the rule would be satisfied with probability {row.chance:.3g} (the index "
            "says what is assumed of chance)"
        )
    return [
        Heading(f"{row.paper}/{row.id}: {row.words}", 1),
        Grid(("", ""), list(facts.items())),
        Paragraph(f"{RULES[row.kind]} {CAUTION}"),
    ]


def paper_text(paper: Paper) -> str:
    """What the paper's package says of model, symbols and readings; empty: nothing."""
    module = paper.recipes[0].build.partition(":")[0] if paper.recipes else ""
    package = module.rpartition(".")[0]
    file = files(package) / "README.md" if package else None
    return file.read_text("utf-8") if file is not None and file.is_file() else ""


def _statement(paper: Paper, row: Row) -> list[Block]:
    blocks: list[Block] = [
        Heading("Statement"),
        Paragraph(f"In our words: {row.statement}"),
    ]
    if paper_text(paper):
        about = "Model, data and symbols as we read them:"
        blocks.append(Paragraph(about, Link(PAPER, f"../{PAPER}")))
    if row.corrected is not None:
        words = row.corrected.words
        text = f"{words[:1].upper()}{words[1:]}. {row.corrected.statement}"
        blocks += [
            Heading(f"Correction ({row.corrected.kind})"),
            Paragraph(text),
            Paragraph(row.corrected.note),
        ]
    return blocks


def _replies(paper: Paper, explanation: Explanation) -> list[Block]:
    """The notes that this claim shows, and what the authors answered."""
    notes = [note for note in paper.notes if note.shown_by == explanation.claim.id]
    blocks: list[Block] = []
    if notes:
        columns = ("note", "place", "printed", "ours", "effect", "status")
        rows = [
            (n.id, n.place, n.printed, n.ours, n.effect, paper.status_of(n))
            for n in notes
        ]
        blocks += [Heading("Notes on the printed text"), Grid(columns, rows)]
    replies = [reply for note in notes for reply in paper.replies_to(note.id)]
    replies = list(dict.fromkeys((*explanation.replies, *replies)))
    if replies:
        blocks += [Heading("Authors' replies"), Items([str(r) for r in replies])]
    return blocks


def _conditions(explanation: Explanation) -> list[Block]:
    blocks: list[Block] = [
        Heading("Conditions"),
        Paragraph(scope_words(explanation.row)),
    ]
    rows = grouped_conditions(explanation.items)
    if rows:
        blocks += [
            Paragraph(f"Slack is value ÷ bound: below 1 it is missed. With {READING}."),
            Grid(COLUMNS, [[*map(_short, row)] for row in rows]),
        ]
    return blocks


def _variables(variables: Mapping[tuple[str, str], xr.DataArray]) -> list[Block]:
    """What each variable is that the judges read."""
    runs: dict[str, dict[str, xr.DataArray]] = {}
    for (run, name), values in variables.items():
        runs.setdefault(name, {})[run] = values
    if not runs:
        text = "It reads no recorded variable: only when stages of the runs ended, in"
        return [Paragraph(text, Link("runs.json", "runs.json"))]
    return [
        Paragraph("It reads these variables of the runs (data has their numbers):"),
        Grid(
            ("variable", "dims", "what it is", "least", "largest"),
            [_variable(name, values) for name, values in runs.items()],
        ),
    ]


def _variable(name: str, runs: Mapping[str, xr.DataArray]) -> tuple[str, ...]:
    values = next(iter(runs.values()))
    dims = ", ".join(map(str, values.dims))
    about = values.attrs.get("about", _BY_CODE)
    return (name, dims, about, *tables.extremes(runs))


_BY_CODE = "computed by the code of the run, below"


def _judged(
    explanation: Explanation, variables: Mapping[tuple[str, str], xr.DataArray]
) -> list[Block]:
    claim = explanation.claim
    facts = {
        "system": claim.system,
        "runs": claim.settings,
        "predicate": claim.check,
        "source of the recorded verdict": claim.source,
    }
    columns = ("statement", "check", "rule", "verdict", "margin", "unit", "result")
    rows = [
        (statement, what, rule, str(verdict), f"{margin:.6g}", unit, _short(result))
        for statement, what, rule, _, verdict, margin, unit, result, _ in (
            tables.check_rows(explanation)
        )
    ]
    return [
        Heading("How it was judged"),
        Grid(("", ""), [(name, text) for name, text in facts.items() if text]),
        *_variables(variables),
        Paragraph(
            "All checks of a statement must hold. The rules are those of "
            "attnflow.claims.decision; checks.csv has every number that is compared."
        ),
        Grid(columns, _few(rows)),
        *_rest(len(rows), "checks.csv"),
        Heading("When each check fails", 3),
        Items([f"{sentence}." for sentence in explanation.fails_where][:ROWS]),
    ]


def _points(explanation: Explanation) -> list[Block]:
    """What stands behind a trend: a number for each size."""
    rows = [
        (check, x, _digits(at), y, _digits(value))
        for _, check, x, at, y, value in tables.point_rows(explanation)
    ]
    if not rows:
        return []
    return [
        Heading("Point by point"),
        Grid(tables.POINTS[1:], rows[: 3 * ROWS]),
        *_rest(len(rows), "points.csv", 3 * ROWS),
    ]


def _digits(value: float | bool | None) -> str:
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "not known"}[value]
    return f"{value:.6g}"


def _seeds(explanation: Explanation) -> list[Block]:
    rows = [
        (check, seed, "yes" if held else "no", f"{margin:.6g}")
        for check, seed, held, margin in tables.seed_rows(explanation)
    ]
    if not rows:
        return []
    # Those seeds on which the verdict depends come first.
    order = sorted(rows, key=lambda row: (row[2] == "yes", float(row[3])))
    return [
        Heading("Seed by seed"),
        Paragraph("The smallest margins first, in the unit of the check."),
        Grid(tables.SEEDS, _few(order)),
        *_rest(len(rows), "seeds.csv"),
    ]


def _numbers(row: Row) -> list[Block]:
    numbers = [
        (name, _number_text(over_seeds(plain(value))))
        for name, value in tables.number_rows(row.numbers)
    ]
    if not numbers:
        return []
    return [
        Heading("Numbers"),
        Paragraph(
            "Six digits; claim.json has them all. Three numbers are the least, the "
            "median and the largest seed, one stands for three equal ones; a list "
            "beside one of sizes has a number for each size."
        ),
        Grid(("name", "value"), _few(numbers)),
        *_rest(len(numbers), "claim.json"),
    ]


def _number_text(value: Any) -> str:
    return _short(json.dumps(_rounded(value), ensure_ascii=False))


def _rounded(value: Any) -> Any:
    """The same with six digits of each number."""
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _trials(explanation: Explanation) -> list[Block]:
    tried = explanation.tried
    survives = explanation.claim.survives
    named = [
        (trial, change, verdict, survives.get(change, "") if verdict == "holds" else "")
        for _, trial, change, verdict in tables.trial_rows(explanation)
        if trial != "generated change"
    ]
    blocks: list[Block] = [
        Heading("Could it have come out otherwise?"),
        Paragraph(
            f"The statement {tried.statement} was judged again on changed runs. Of "
            f"{tried.changes} generated changes of what it reads (signs, sizes, order, "
            f"noise) and of settings, {len(tried.failing)} make it fail. A predicate "
            "that no change makes fail would prove nothing."
        ),
        Items(list(tried.failing[:ROWS])),
        Paragraph(
            "Changes that the claim names, and runs whose later times are unknown:"
        ),
        Grid(("trial", "change", "verdict", "why it may hold"), named),
        Paragraph("All of them:", Link("trials.csv", "trials.csv")),
    ]
    if tried.inert:
        claim = explanation.claim
        reasons = [
            ": ".join(filter(None, (name, claim.inert.get(name))))
            for name in tried.inert
        ]
        blocks += [Paragraph("No change of these makes a difference:"), Items(reasons)]
    return [block for block in blocks if not _is_empty(block)]


def _is_empty(block: Block) -> bool:
    if isinstance(block, Items):
        return not block.entries
    return isinstance(block, Grid) and not block.rows


def _witness(explanation: Explanation, witness: WitnessRecord | None) -> list[Block]:
    claim = explanation.claim
    if witness is None:
        reason = claim.no_witness or "A claim that holds needs none."
        return [Heading("Witness"), Paragraph(f"None. {reason}")]
    answer = {True: "agrees", False: "does NOT agree", None: "was not run"}
    blocks: list[Block] = [
        Heading("Witness: a second program"),
        Paragraph(
            "A script that shares no code with attnflow, from the paper's formulas. It "
            f"{answer[witness.agrees]}: {witness.note}",
            Link(witness.file, witness.file),
        ),
    ]
    if witness.output:
        blocks.append(Code(witness.output))
    return blocks


def _runs(explanation: Explanation, evidence: Evidence, paper: Paper) -> list[Block]:
    columns = (
        *("run", "experiment", "declared at", "seeds", "form", "ended", "id"),
        "changed settings",
    )
    rows = [
        (
            name,
            setting["experiment"],
            paper.recipe(setting["experiment"]).place or "a setting of ours",
            _span(setting["seeds"]),
            setting["form"],
            _ended(evidence[name]),
            setting["id"],
            " ".join(typed(setting["changed"])) or "none",
        )
        for name, setting in explanation.settings.items()
    ]
    return [
        Heading("Runs"),
        Paragraph(
            "The form is the system that was computed: weights are the plain model, "
            "all others are exact reductions of it, which attnflow's tests hold to the "
            "plain weights along whole trajectories; where form is a setting, "
            'form="weights" computes those. Seed s draws from jax.random.key(s), in '
            "float64. The id is a digest of setting, seeds and code. runs.json has "
            "every setting whole, the experiment's record, and a line of Python that "
            "computes each run."
        ),
        Grid(columns, _few(rows)),
        *_rest(len(rows), "runs.json"),
    ]


def _span(seeds: Sequence[int]) -> str:
    """`200 … 215`, or the seeds one by one."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} … {seeds[-1]}"
    return _short(", ".join(map(str, seeds)))


def _ended(run: xr.Dataset) -> str:
    """How the seeds of a run ended; nothing where nothing was trained."""
    if "outcome" not in run:
        return ""
    counts = Counter(str(word) for word in run["outcome"].values.tolist())
    return ", ".join(f"{word} ({count})" for word, count in counts.items())


SHOWN = 12
"""Functions in the text; the file has them all."""


def _code(title: str, file: str, code: Sequence[Source]) -> list[Block]:
    if not code:
        return []
    text = "\n\n\n".join(
        f"# {source.file}:{source.line}\n{textwrap.dedent(source.text)}"
        for source in code[:SHOWN]
    )
    rest = f" ({len(code) - SHOWN} more functions)" if len(code) > SHOWN else ""
    return [
        Heading(title),
        Paragraph(
            "Functions of the paper's own package; what they call of attnflow is in "
            f"the folder code beside the index. The file has them all{rest}:",
            Link(file, file),
        ),
        Code(text, "python"),
    ]


def _around(explanation: Explanation) -> list[Block]:
    around = explanation.around
    rows = [
        (relation, neighbour.id, _short("; ".join(_verdicts(neighbour.claims))))
        for relation, neighbours in (
            ("rests on", around.uses),
            ("is used by", around.used_by),
        )
        for neighbour in neighbours
    ]
    if not rows:
        return []
    judged = " and ".join(around.judges) or "no numbered statement"
    return [
        Heading("What rests on what"),
        Paragraph(f"This claim judges {judged}, by the paper's own text:"),
        Grid(("relation", "statement", "recorded verdicts"), rows),
    ]


def _verdicts(claims: Mapping[str, str]) -> list[str]:
    return [f"{id}: {words}" for id, words in claims.items()] or ["not judged"]


def _again(provenance: Provenance) -> list[Block]:
    versions = ", ".join(f"{n} {v}" for n, v in provenance.versions.items())
    facts = {
        "digest of the code": provenance.code,
        "digest of the results": provenance.results,
        "address of the verdict": provenance.key,
        "versions": versions,
        "platform": provenance.platform,
    }
    return [
        Heading("Run it again"),
        Code("\n".join(provenance.commands), "sh"),
        Paragraph(
            "Where the package index has no attnflow of this version, install it from "
            "its repository first. "
            "The last command compares your verdict with this one. The digest of the "
            "results is that of the row in claim.json without its time; on another "
            "processor last digits may differ, and with them this digest."
        ),
        Grid(("", ""), list(facts.items())),
    ]


def _few(rows: list) -> list:
    return rows[:ROWS]


def _rest(count: int, file: str, shown: int = ROWS) -> list[Block]:
    if count <= shown:
        return []
    return [Paragraph(f"{count - shown} more are in", Link(file, file))]


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG].rstrip()} …"
