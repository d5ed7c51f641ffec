"""Claims of a paper as folders, and the index over them.

    <out>/README.md, index.html   what was judged and how it came out, claim by claim
    <out>/claims.json             the claims table, as `attnflow verify --json` has it
    <out>/claims.csv              the same, a line for each claim
    <out>/<claim>/                one verdict in full (`attnflow.site.export.folder`)
    <out>/paper.md                model, data and symbols, where the package has them
    <out>/code/                   the source files on which these verdicts depend
    <out>/requirements.txt        versions of the libraries
    <out>/SHA256SUMS              `sha256sum -c SHA256SUMS` checks all of it

Folders are written in parallel, each whole or without its `claim.json`: what was
written before and did not change is left, and who is killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from attnflow._version import __version__
from attnflow.claims import Claim, ClaimsTable, Row, Verdict, with_seeds
from attnflow.claims.table import CAUTION
from attnflow.papers.base import Paper
from attnflow.runs.code import sources
from attnflow.runs.plan import Job, Needs, carry_out, make_plan
from attnflow.runs.pool import Here, Pool
from attnflow.runs.progress import Progress
from attnflow.runs.store import Store
from attnflow.runs.verify import judging_modules, pool_of, store_of
from attnflow.schema.files import write_text
from attnflow.schema.installation import LIBRARIES, library_versions
from attnflow.site.export.document import (
    Block,
    Code,
    Grid,
    Heading,
    Link,
    Paragraph,
    html,
    markdown,
)
from attnflow.site.export.folder import Case, Export, read_mark
from attnflow.site.export.report import PAPER, RULES, paper_text
from attnflow.site.export.tables import csv_text
from attnflow.site.pages.claims import ClaimView, Tally, columns
from attnflow.site.pages.files import copy_file

INDEX = "claims.json"
SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Exported:
    """The rows of the claims, their folders, and the index."""

    rows: tuple[Row, ...]
    folders: tuple[Path, ...]
    index: Path


def export_claims(
    paper: Paper,
    claims: Sequence[Claim],
    out: str | Path,
    *,
    seeds: int = 5,
    witness: bool = True,
    runs: bool = False,
    store: Store | Literal[False] | None = None,
    workers: int | None = None,
    pool: Pool | Here | None = None,
    progress: Progress | None = None,
    report: Callable[[Row], None] = lambda row: None,
) -> Exported:
    """Write a folder for each claim, and an index, which a referee can read.

    Verdicts and runs that are stored are read, others computed in parallel.

    **Arguments:**

    - `out`: the folder; one with an earlier export of this paper is brought up to date.
    - `seeds`: how many, for claims that leave it open.
    - `witness`: run the second programs; `runs`: write whole runs as netCDF files.
    - `store`, `workers`, `pool`, `progress`, `report`: as for `verify_claims`.
    """
    out = Path(out)
    _prepare(out, paper)
    cases = {
        claim.id: Case(paper.slug, claim.id, seeds, out, witness, runs)
        for claim in claims
    }
    rows = {
        claim.id: row
        for claim in claims
        if (row := cases[claim.id].earlier(paper, claim)) is not None
    }
    with store_of(store) as root, pool_of(workers, pool) as team:
        jobs: dict[Job, Needs] = {
            Export(cases[claim.id], root): (
                paper,
                list(with_seeds(claim.needs, seeds).values()),
            )
            for claim in claims
            if claim.id not in rows
        }
        plan = make_plan(jobs, root)
        for job, row in carry_out(plan, team, "claims", progress):
            rows[job.case.id] = row
            report(row)
    index = write_index(paper, out)
    ids = [claim.id for claim in claims]
    return Exported(tuple(rows[id] for id in ids), tuple(out / id for id in ids), index)


def _prepare(out: Path, paper: Paper) -> None:
    """Make the folder; refuse one that holds something else than claims of the paper.

    The claims table is there from the beginning on: a folder that has it is ours.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / INDEX).is_file():
        raise ValueError(
            f"{out} is not empty, and holds no earlier export of claims. Give a new "
            "folder."
        )
    marks = map(read_mark, out.iterdir()) if out.is_dir() else ()
    others = {m["paper"] for m in marks if m is not None} - {paper.slug}
    if others:
        raise ValueError(
            f"{out} holds claims of {', '.join(sorted(others))}. Give {paper.slug} a "
            "folder of its own."
        )
    out.mkdir(parents=True, exist_ok=True)
    if not (out / INDEX).is_file():
        write_text(out / INDEX, json.dumps(ClaimsTable(()).as_json()) + "\n")


def write_index(paper: Paper, out: Path) -> Path:
    """Write the index over every claim of the paper that has a whole folder."""
    marks = {c.id: m for c in paper.claims if (m := read_mark(out / c.id)) is not None}
    rows = [Row.from_json(mark["row"]) for mark in marks.values()]
    digests = [mark.get("provenance", {}).get("code", "") for mark in marks.values()]
    table = ClaimsTable(tuple(rows))
    claims = [paper.claim(id) for id in marks]
    _write_code(paper, claims, out)
    write_text(out / "requirements.txt", _requirements())
    if text := paper_text(paper):
        write_text(out / PAPER, text)
    text = json.dumps(table.as_json(), ensure_ascii=False, indent=1)
    write_text(out / INDEX, text + "\n")
    write_text(out / "claims.csv", _table(rows, digests))
    # An unchecked claim was judged with no number of seeds.
    seeds = [m["provenance"]["seeds"] for m in marks.values() if "provenance" in m]
    blocks = _index(paper, rows, digests, seeds[0] if seeds else 5)
    write_text(out / "README.md", markdown(blocks))
    page = write_text(out / "index.html", html(blocks))
    write_text(out / SUMS, _sums(out))
    return page


_FIELDS = (
    *("id", "place", "kind", "origin", "scope", "slack", "verdict", "expected"),
    *("held", "seeds", "margin", "chance", "statement", "what", "note"),
)


def _table(rows: Sequence[Row], digests: Sequence[str]) -> str:
    names = (*_FIELDS, "corrected", "corrected_verdict", "witness_agrees", "code")
    lines = [
        (
            *(getattr(row, name) for name in _FIELDS),
            row.corrected and row.corrected.statement,
            row.corrected and row.corrected.verdict,
            row.witness and row.witness.agrees,
            digest,
        )
        for row, digest in zip(rows, digests, strict=True)
    ]
    return csv_text(names, lines)


def _index(
    paper: Paper, rows: Sequence[Row], digests: Sequence[str], seeds: int
) -> list[Block]:
    tally = Tally([ClaimView(row, True, {}) for row in rows])
    verdicts = columns([tally])
    scopes = [
        (scope, *(str(counts.get(verdict, 0)) for verdict in verdicts))
        for scope, counts in tally.by_scope.items()
    ]
    called = [row.witness for row in rows if row.witness is not None]
    agree = sum(result.agrees is True for result in called)
    kinds = dict.fromkeys(row.kind for row in rows)
    ids = ", ".join(sorted(set(digests) - {""}))
    count = "1 claim" if len(rows) == 1 else f"{len(rows)} claims"
    return [
        Heading(f"{count} of {paper.slug}: {tally.words}", 1),
        Paragraph(f"{paper.title}. Version read: {paper.version_read}. {CAUTION}"),
        *_described(paper),
        Paragraph(
            "A second program, which shares no code with attnflow, was run for "
            f"{agree} of these claims and agrees (of {len(called)} that have one). "
            f"{tally.family}"
        ),
        Grid(("scope", *map(str, verdicts)), scopes),
        Paragraph(
            "Scope theorem: every judged run meets all conditions that the statement "
            "assumes, by the slack that its folder lists; fails there reads: refuted "
            "as printed. Experiment: the paper's own declared setting. Beyond: "
            "neither, which counts against nobody. Statements of ours are counted "
            "apart."
        ),
        *(Paragraph(RULES[kind]) for kind in kinds),
        *_failing(rows),
        Heading("Claims"),
        Grid(
            ("claim", "place", "verdict", "scope", "margin", "witness", "statement"),
            [_line(row) for row in rows],
        ),
        Heading("Check it"),
        Code(
            f"sha256sum -c {SUMS}\n"
            "pip install -r requirements.txt\n"
            f"{_again(paper, rows, seeds)}",
            "sh",
        ),
        Paragraph(
            "Where the package index has no attnflow of this version, install it from "
            "its repository first. "
            "The first command shows that no file was changed, the last one compares "
            "your verdicts with these (exit code 1 where one differs). Each folder has "
            "the commands for its claim alone."
        ),
        Paragraph(
            f"The folder code has the source files on which these verdicts depend "
            f"(digests: {ids}). Computed with attnflow {__version__} on "
            f"{platform.platform()}, {_versions()}."
        ),
    ]


def _again(paper: Paper, rows: Sequence[Row], seeds: int) -> str:
    """The commands that judge the exported claims anew and compare the verdicts."""
    options = f"--seeds {seeds} --witness --json mine.json"
    if len(rows) == len(paper.claims):
        return (
            f"attnflow verify {paper.slug} {options}\nattnflow diff {INDEX} mine.json"
        )
    id = rows[0].id
    text = f"attnflow verify {paper.slug}/{id} {options}\nattnflow diff {id}/claim.json"
    return f"{text} mine.json   # one claim; the others likewise"


def _described(paper: Paper) -> list[Block]:
    if not paper_text(paper):
        return []
    about = "Model, data, symbols, and how we read what the paper leaves unspecified:"
    return [Paragraph(about, Link(PAPER, PAPER))]


def _failing(rows: Sequence[Row]) -> list[Block]:
    """The statements that fail, what that means, and their corrections."""
    lines = [
        (
            Link(row.id, f"{row.id}/README.md"),
            row.place,
            row.reading,
            row.statement,
            f"{row.corrected.verdict}: {row.corrected.statement}"
            if row.corrected
            else "",
        )
        for row in rows
        if row.verdict is Verdict.FAILS
    ]
    if not lines:
        return []
    columns = ("claim", "place", "which means", "statement", "correction")
    return [Heading("What fails"), Grid(columns, lines)]


def _line(row: Row) -> tuple[str | Link, ...]:
    answer = {True: "agrees", False: "does NOT agree", None: "not run"}
    return (
        Link(row.id, f"{row.id}/README.md"),
        row.place,
        row.words,
        row.scope_and_origin,
        f"{row.margin:.3g}",
        answer[row.witness.agrees] if row.witness else "none",
        row.statement,
    )


def _versions() -> str:
    return ", ".join(f"{name} {v}" for name, v in library_versions().items())


def _requirements() -> str:
    """Exact versions of attnflow and of all libraries that its numbers depend on."""
    lines = [f"{name}=={metadata.version(name)}" for name in LIBRARIES]
    return "\n".join([f"attnflow=={__version__}", *lines]) + "\n"


def _write_code(paper: Paper, claims: Sequence[Claim], out: Path) -> None:
    """Copy the source files on which some verdicts depend."""
    modules = {m for claim in claims for m in judging_modules(paper, claim)}
    packages = {"attnflow", *(module.partition(".")[0] for module in modules)}
    for file in sources(*sorted(modules)):
        parts = file.parts
        start = max(
            (k for k, part in enumerate(parts[:-1]) if part in packages), default=-1
        )
        copy_file(file, out / "code" / Path(*parts[start:]))


def _sums(out: Path) -> str:
    files = sorted(path for path in out.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out)}"
        for path in files
        if path.name != SUMS
    ]
    return "\n".join(lines) + "\n"
