"""The folder of one claim: a report, tables, data, code, and the second program.

<claim>/README.md, index.html   the report
<claim>/claim.json              all of it as data; written last, so that a folder
                                that has it is whole
<claim>/checks.csv, points.csv, seeds.csv, conditions.csv, trials.csv, runs.json
<claim>/data/                   what the judge read, by run and variable
<claim>/judge.py, witness.py, witness.txt, picture.png
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from attnflow._version import __version__
from attnflow.claims import Claim, Evidence, Row, Verdict, with_seeds
from attnflow.claims.source_code import Source, sources
from attnflow.claims.table import WitnessResult
from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.code import code_digest
from attnflow.runs.plan import runner_of
from attnflow.runs.run_files import export_netcdf
from attnflow.runs.trials import Trials
from attnflow.runs.verify import Judge, Verdicts, judging_code, verdict_key
from attnflow.runs.witnesses import (
    printed_numbers,
    run_witness,
    script_output,
    witness_file,
)
from attnflow.schema import setting_of
from attnflow.schema.files import write_text
from attnflow.schema.installation import MissingData, library_versions, xr
from attnflow.schema.settings import JsonObject, canonical_json, digest, plain
from attnflow.site.explain import Explanation, draw_claim, explain
from attnflow.site.explain.explanation import RunSetting
from attnflow.site.export import tables
from attnflow.site.export.document import Block, html, markdown
from attnflow.site.export.report import (
    Parts,
    Provenance,
    WitnessRecord,
    claim_report,
    unchecked_report,
)
from attnflow.site.pages.files import save_figure

MARK = "claim.json"
RUNS = "runs"
_CODE = ("attnflow.site.export.folder",)


@dataclass(frozen=True)
class Case:
    """A claim of a paper to be exported, and how.

    **Arguments:**

    - `seeds`: how many, for runs that leave it open.
    - `witness`: whether its second program is run; `runs`: whether its runs are
      written as netCDF files.
    """

    slug: str
    id: str
    seeds: int
    out: Path
    witness: bool = True
    runs: bool = False

    @property
    def folder(self) -> Path:
        """Where its files go."""
        return self.out / self.id

    def key(self, paper: Paper, claim: Claim) -> str:
        """The address of what the folder holds."""
        script = b""
        if claim.witness is not None:
            script = witness_file(paper, claim.witness).read_bytes()
        notes = [asdict(n) for n in paper.notes if n.shown_by == claim.id]
        texts = (claim.source, claim.settings, claim.no_witness, str(notes))
        return digest(
            verdict_key(paper, claim, self.seeds),
            code_digest(*_CODE),
            hashlib.sha256(script).hexdigest(),
            *(*texts, str(paper.replies), str((self.witness, self.runs))),
        )

    def earlier(self, paper: Paper, claim: Claim) -> Row | None:
        """The row of a folder that holds the same already."""
        content = read_mark(self.folder)
        if content is None or content["export"] != self.key(paper, claim):
            return None
        if self.runs and not all(
            _run_file(self.out, run["id"]).is_file()
            for run in content["explanation"]["settings"].values()
        ):
            return None
        return Row.from_json(content["row"])


def read_mark(folder: Path) -> JsonObject | None:
    """What `claim.json` of a folder says; `None` where there is none."""
    try:
        content = json.loads((folder / MARK).read_text("utf-8"))
        return content if {"row", "export", "paper"} <= content.keys() else None
    except (OSError, ValueError, AttributeError):
        return None


@dataclass(frozen=True)
class Export:
    """The job of writing the folder of a claim; its verdict is read, or judged."""

    case: Case
    root: Path

    usual_seconds = 10.0
    verb = "exported"

    def __str__(self) -> str:
        return f"{self.case.slug}/{self.case.id}"

    def do(self) -> Row:
        """Write the folder."""
        case = self.case
        paper = find_paper(case.slug)
        claim = paper.claim(case.id)
        key = verdict_key(paper, claim, case.seeds)
        row = Verdicts(self.root).read(key)
        if row is None:
            row = Judge(case.slug, case.id, case.seeds, self.root, key).do()
        case.folder.mkdir(parents=True, exist_ok=True)
        # Until the last file is written, the folder is incomplete.
        (case.folder / MARK).unlink(missing_ok=True)
        if row.verdict is Verdict.UNCHECKED:
            _write_report(case.folder, unchecked_report(paper, row))
            # The key is empty, so that the folder is written again when the missing
            # data are there.
            return _seal(case, row, "", {})
        gather = partial(runner_of(self.root).gather, paper)
        evidence = gather(with_seeds(claim.needs, case.seeds))
        return _write(case, paper, claim, row, evidence, Trials(self.root, key))


def _write(
    case: Case,
    paper: Paper,
    claim: Claim,
    row: Row,
    evidence: Evidence,
    trials: Trials,
) -> Row:
    witness = _witness(paper, claim, row, run=case.witness)
    if witness is not None:
        result = WitnessResult(witness.script, witness.agrees, witness.note)
        row = replace(row, witness=result)
    explanation = explain(paper, claim, evidence, row, trials)
    judge, computed = _judge_code(claim), _run_code(paper, claim, evidence)
    texts = {**_tables(explanation), "runs.json": _runs_json(explanation, evidence)}
    if judge:
        texts["judge.py"] = _code_file("The functions of this verdict's judge", judge)
    if computed:
        texts["runs.py"] = _code_file("What builds or computes the runs", computed)
    if witness is not None:
        script = witness_file(paper, _required(claim))
        texts[witness.file] = script.read_text("utf-8")
        if witness.output:
            texts["witness.txt"] = witness.output
    for name, text in texts.items():
        write_text(case.folder / name, text)
    figure = draw_claim(paper, explanation, evidence)
    pictures = [] if figure is None else [case.folder / "picture.png"]
    if figure is not None:
        save_figure(figure, pictures)
    files = [
        *((name, _HOLDS[name]) for name in texts),
        *((path.name, _HOLDS[path.name]) for path in pictures),
        *_write_data(case, explanation, evidence),
        (MARK, "all of this as data"),
    ]
    provenance = _provenance(case, paper, claim, row)
    parts = Parts(files, judge, computed, witness, provenance)
    _write_report(case.folder, claim_report(paper, explanation, evidence, parts))
    content = {
        "provenance": plain(asdict(provenance)),
        "explanation": explanation.as_json(),
        "checks": [
            dict(zip(tables.CHECKS, plain(check), strict=True))
            for check in tables.check_rows(explanation)
        ],
    }
    return _seal(case, row, case.key(paper, claim), content)


_HOLDS = {
    "checks.csv": "each check: its verdict, margin, and the numbers that it compares",
    "points.csv": "each point of a ladder of sizes, of a fit, or of draws",
    "seeds.csv": "each check over seeds, seed by seed",
    "conditions.csv": "each item of the conditions in each judged run, with its slack",
    "trials.csv": "each change of the runs that was tried, and the verdict under it",
    "runs.json": "the whole setting of each run, its seeds, form and address",
    "judge.py": "the code of the judge, to read",
    "runs.py": "the code that builds or computes the runs, to read",
    "witness.py": "the second program, which shares no code with attnflow",
    "witness.txt": "what the second program printed",
    "picture.png": "what the verdict was judged by",
}


def _required(claim: Claim) -> Any:
    assert claim.witness is not None
    return claim.witness


def _write_report(folder: Path, blocks: list[Block]) -> None:
    write_text(folder / "README.md", markdown(blocks))
    write_text(folder / "index.html", html(blocks))


def _seal(case: Case, row: Row, key: str, content: Mapping[str, Any]) -> Row:
    """Write the last file, after which the folder is whole."""
    table = {"version": 2, "claims": [row.as_json()]}
    whole = {"paper": case.slug, "export": key, "row": row.as_json(), **table}
    text = json.dumps({**whole, **content}, ensure_ascii=False, indent=1)
    write_text(case.folder / MARK, text + "\n")
    return row


def _tables(explanation: Explanation) -> dict[str, str]:
    """The tables that have rows, by the names of their files."""
    every = {
        "checks.csv": (tables.CHECKS, tables.check_rows(explanation)),
        "points.csv": (tables.POINTS, tables.point_rows(explanation)),
        "seeds.csv": (tables.SEEDS, tables.seed_rows(explanation)),
        "conditions.csv": (tables.CONDITIONS, tables.condition_rows(explanation)),
        "trials.csv": (tables.TRIALS, tables.trial_rows(explanation)),
    }
    return {
        name: tables.csv_text(columns, rows)
        for name, (columns, rows) in every.items()
        if rows
    }


def _runs_json(explanation: Explanation, evidence: Evidence) -> str:
    runs = {}
    for name, setting in explanation.settings.items():
        run = evidence[name]
        runs[name] = {
            **setting,
            "setting": setting_of(run) if "setting" in run.attrs else {},
            **{name: run.attrs.get(name, "") for name in ("rule", "form_reason")},
            "record": json.loads(run.attrs.get("record", "{}")),
            "ends": _ends(run),
            "python": _call(explanation.row.paper, setting),
        }
    return json.dumps(plain(runs), ensure_ascii=False, indent=1) + "\n"


def _ends(run: xr.Dataset) -> dict[str, Any]:
    """How each seed ended, when, and how far what is conserved had drifted."""
    every = ("outcome", "end_time", "stage_start", "stage_end", "drift")
    names = [name for name in every if name in run]
    return {name: run[name].values.tolist() for name in names}


def _call(slug: str, setting: RunSetting) -> str:
    """`af.run("mixture/figure1", seeds=[0, 1], width=64)`."""
    changed = "".join(f", {k}={v!r}" for k, v in setting["changed"].items())
    seeds = setting["seeds"]
    return f'af.run("{slug}/{setting["experiment"]}", seeds={seeds}{changed})'


def _judge_code(claim: Claim) -> list[Source]:
    """All functions of both judges, each once."""
    judges = [claim.judge, *([claim.correction.judge] if claim.correction else [])]
    return _functions(judges)


def _run_code(paper: Paper, claim: Claim, evidence: Evidence) -> list[Source]:
    """The paper's functions that build its experiments, or compute without training.

    A computation's record names its function.
    """
    records = [json.loads(run.attrs.get("record", "{}")) for run in evidence.values()]
    computing = [record["function"] for record in records if "function" in record]
    building = [paper.recipe(r.experiment).build for r in claim.needs.values()]
    paths = dict.fromkeys((*computing, *building))
    functions = [_load(path) for path in paths]
    return _functions([f for f in functions if not _is_core(f.__module__)])


def _is_core(module: str) -> bool:
    """Whether a module is attnflow's and of no paper: it builds for all of them."""
    return module.startswith("attnflow.") and not module.startswith("attnflow.papers.")


def _load(path: str) -> Callable[..., Any]:
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)


def _functions(roots: Sequence[Callable[..., Any]]) -> list[Source]:
    every = [source for root in roots for source in sources(root, math.inf)]
    return list({(s.file, s.line): s for s in every}.values())


def _code_file(head: str, code: Sequence[Source]) -> str:
    parts = [f"# {source.file}:{source.line}\n{source.text}" for source in code]
    title = f"# {head}, to read; the folder code has the package."
    return "\n\n\n".join([title, *parts]) + "\n"


def _witness(
    paper: Paper, claim: Claim, row: Row, *, run: bool
) -> WitnessRecord | None:
    if claim.witness is None:
        return None
    script, file = claim.witness.script, "witness.py"
    if not run:
        return WitnessRecord(script, file, "", None, "--no-witness was given.")
    try:
        output = _printed(witness_file(paper, claim.witness))
    except MissingData as error:
        return WitnessRecord(script, file, "", None, str(error))
    numbers = printed_numbers(output)
    result = run_witness(paper, claim, row, lambda _: numbers)
    return WitnessRecord(script, file, output, result.agrees, result.note)


@functools.lru_cache(maxsize=8)
def _printed(script: Path) -> str:
    # Several claims may share a script.
    return script_output(script)


def _provenance(case: Case, paper: Paper, claim: Claim, row: Row) -> Provenance:
    name = f"{case.slug}/{case.id}"
    witness = " --witness" if claim.witness is not None and case.witness else ""
    return Provenance(
        key=verdict_key(paper, claim, case.seeds),
        code=judging_code(paper, claim),
        results=results_digest(row),
        seeds=case.seeds,
        versions={"attnflow": __version__, **library_versions()},
        platform=platform.platform(),
        commands=(
            "pip install -r ../requirements.txt",
            f"attnflow verify {name} --seeds {case.seeds} --explain",
            f"attnflow verify {name} --seeds {case.seeds}{witness} --json mine.json",
            f"attnflow diff {MARK} mine.json",
        ),
    )


def results_digest(row: Row) -> str:
    """A digest of a row but for its seconds, which differ from time to time."""
    return digest(canonical_json(replace(row, seconds=0.0, witness=None).as_json()))


def _write_data(
    case: Case, explanation: Explanation, evidence: Evidence
) -> Iterator[tuple[str, str]]:
    """Write what the judge read, and whole runs where that is asked for."""
    variables = tables.read_variables(explanation, evidence)
    if variables:
        (case.folder / "data").mkdir(exist_ok=True)
    for number, ((run, name), values) in enumerate(variables.items(), 1):
        # Numbered: names of runs may differ in what no file name can have.
        file = f"data/{number:02}.{_safe(run)}.{_safe(name)}.csv"
        kept, left_out = tables.thinned(values, len(variables))
        write_text(case.folder / file, tables.variable_csv(kept.rename(name)))
        share = f", {left_out} (--runs writes all)" if left_out else ""
        yield file, f"{name} of the run {run}{share}"
    if case.runs:
        for name, run in evidence.items():
            file = _run_file(case.out, run.attrs["id"])
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.is_file():
                export_netcdf(run, file)
            yield f"../{RUNS}/{file.name}", f"the run {name} whole, as netCDF"


def _run_file(out: Path, id: str) -> Path:
    return out / RUNS / f"{id}.nc"


def _safe(name: str) -> str:
    """A name for a file."""
    return re.sub(r"[^\w.\-+=]+", "_", name).strip("_") or "run"
