"""The claims table: claims judged in parallel, from runs that are computed once.

    <store>/verdicts/<key>.verdict  a row of the claims table

A verdict is kept under the digest of its claim, of the settings of its runs and of the
code that computes and judges them. What is complete is stored at once: whoever is
killed goes on where it was.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from attnflow.claims import Claim, Row, Verdict, verify, with_seeds
from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.code import RUN, code_digest, modules_behind, signature
from attnflow.runs.plan import (
    Job,
    Needs,
    carry_out,
    make_plan,
    runner_of,
)
from attnflow.runs.pool import Here, Pool
from attnflow.runs.profile import Profile
from attnflow.runs.progress import Progress
from attnflow.runs.runner import described
from attnflow.runs.store import Store
from attnflow.schema import files
from attnflow.schema.settings import canonical_json, digest, seed_count

Selection = Sequence[tuple[Paper, Sequence[Claim]]]
"""Claims by paper."""

SEEDS = range(50, 0, -1)
"""Numbers of seeds with which a claim that leaves it open may have been judged."""
DEATHS = 3
"""Workers that a job may lose, by chance or for want of memory."""


def verify_claims(
    selection: Selection,
    *,
    seeds: int,
    store: Store | Literal[False] | None = None,
    workers: int | None = None,
    pool: Pool | Here | None = None,
    changed: bool = False,
    progress: Progress | None = None,
    report: Callable[[Row], None] | None = None,
    profile: Profile | None = None,
) -> list[Row]:
    """Judge claims of papers in parallel, from runs that are computed once for all.

    **Arguments:**

    - `seeds`: how many, for claims that leave it open.
    - `store`: where runs and verdicts are kept; `None` is the user's own store, `False`
      a temporary one.
    - `workers`: how many processes, one for each core without it; 0 for this one alone.
    - `pool`: processes that somebody else starts and ends.
    - `changed`: leave out claims that have a verdict for their present code.
    - `progress`: called with the fraction done and how long the rest may take.
    - `report`: called with each row as soon as its claim is judged.
    - `profile`: takes down where the time goes.

    **Returns:** the rows, in the order of the claims.
    """
    seeds = seed_count(seeds)
    with store_of(store) as root, pool_of(workers, pool) as team:
        verdicts = Verdicts(root)
        cases = {
            verdict_key(paper, claim, seeds): (paper, claim)
            for paper, claims in selection
            for claim in claims
        }
        known = {key: row for key in cases if (row := verdicts.read(key))}
        new: dict[Job, Needs] = {
            Judge(paper.slug, claim.id, seeds, root, key): (
                paper,
                list(with_seeds(claim.needs, seeds).values()),
            )
            for key, (paper, claim) in cases.items()
            if key not in known
        }
        rows = {} if changed else known
        plan = make_plan(new, root)
        for job, row in carry_out(plan, team, "claims", progress, profile):
            rows[job.key] = row
            if report is not None:
                report(row)
        return [rows[key] for key in cases if key in rows]


@contextmanager
def store_of(store: Store | Literal[False] | None) -> Iterator[Path]:
    """The directory of a store; a temporary one for `False`."""
    if store is not False:
        yield (store or Store()).root
        return
    with tempfile.TemporaryDirectory(prefix="attnflow-") as directory:
        yield Path(directory)
        runner_of.cache_clear()


@contextmanager
def pool_of(
    workers: int | None, pool: Pool | Here | None = None
) -> Iterator[Pool | Here]:
    """Processes that work: those given, or new ones that end with the context."""
    if pool is not None:
        yield pool
        return
    with closing(Here() if workers == 0 else Pool(workers, deaths=DEATHS)) as team:
        yield team


@dataclass(frozen=True)
class Judge:
    """The job of judging a claim; its row is stored under `key`."""

    slug: str
    id: str
    seeds: int
    root: Path
    key: str

    # As measured over the claims of five papers.
    usual_seconds = 0.1
    verb = "judged"

    def __str__(self) -> str:
        return f"{self.slug}/{self.id}"

    def do(self) -> Row:
        """The row; runs are read, or computed where computing them apart had failed."""
        paper = find_paper(self.slug)
        gather = partial(runner_of(self.root).gather, paper)
        row = verify(paper.claim(self.id), paper, gather, self.seeds)
        Verdicts(self.root).write(self.key, row)
        return row


class Verdicts:
    """The verdicts that a store keeps, one small file each, complete or absent.

    **Arguments:**

    - `root`: the directory of the store; without it the user's own.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Store(root).verdicts

    def read(self, key: str) -> Row | None:
        """The row with this key; `None` where there is none that can be read."""
        with suppress(OSError, ValueError):
            return self.parse(self._path(key))
        return None

    @staticmethod
    def parse(path: Path) -> Row:
        """The row in a file; an error where it is damaged."""
        return Row.from_json(files.read_head(path))

    def write(self, key: str, row: Row) -> None:
        """Keep a row, unless it is unchecked: what was missing may come.

        A verdict that cannot be written is judged again the next time, from runs that
        are stored.
        """
        if row.verdict is Verdict.UNCHECKED:
            return
        with suppress(OSError):
            self.root.mkdir(parents=True, exist_ok=True)
            files.write_sealed(self._path(key), row.as_json())

    def _path(self, key: str) -> Path:
        return self.root / f"{key}.verdict"


def verdict_key(paper: Paper, claim: Claim, seeds: int) -> str:
    """The address of a verdict: claim, settings and seeds of its runs, code.

    The code is that of the paper's conditions too, from which the scope is computed.

    **Arguments:**

    - `seeds`: how many, for the runs that leave it open.
    """
    requests = with_seeds(claim.needs, seeds)
    runs = {name: described(paper, request) for name, request in requests.items()}
    recipes = [paper.recipe(request.experiment) for request in requests.values()]
    # Which fields are free has no order: a declaration may gather them in a set, whose
    # order is another one in each session.
    stated = [(r.place, sorted(r.free), asdict(r.setting)) for r in recipes if r.place]
    code = judging_code(paper, claim)
    parts = (canonical_json(runs), canonical_json(stated), _written(claim), code)
    return digest(paper.slug, claim.id, *parts)


def verdict_keys(paper: Paper, claim: Claim) -> Iterator[tuple[str, int]]:
    """The addresses that a claim's verdict may have, with their numbers of seeds.

    Of the numbers in `SEEDS`, the largest first.
    """
    is_open = any(request.seeds is None for request in claim.needs.values())
    for seeds in SEEDS if is_open else SEEDS[:1]:
        yield verdict_key(paper, claim, seeds), seeds


def _written(claim: Claim) -> str:
    """What a claim says that its row repeats or its rule reads."""
    correction = claim.correction
    return canonical_json(
        {
            "texts": (claim.place, claim.statement, claim.check, claim.origin),
            "rule": (claim.kind, claim.delta, claim.under, claim.judged),
            "expected": claim.expected,
            "correction": correction
            and (
                (correction.kind, correction.statement, correction.expected),
                (correction.claim_kind, correction.delta),
            ),
            "witness": claim.witness and claim.witness.script,
        }
    )


def judging_code(paper: Paper, claim: Claim) -> str:
    """A digest of what computes a claim's runs and turns them into a verdict."""
    modules = sorted(judging_modules(paper, claim))
    return digest(code_digest(*modules), signature(_judges(claim)))


def judging_modules(paper: Paper, claim: Claim) -> set[str]:
    """The modules that compute a claim's runs and judge them; what these import too."""
    conditions = (paper.conditions, paper.run_conditions)
    behind = modules_behind((_judges(claim), conditions))
    modules = {"attnflow.claims.judgement", *RUN, *behind}
    return modules | paper.build_modules(claim.needs.values())


def _judges(claim: Claim) -> tuple[object, ...]:
    return (claim.judge, claim.correction and claim.correction.judge)
