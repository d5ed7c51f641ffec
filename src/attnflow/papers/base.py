"""The record that a paper is, its declarations, and the papers by their short names.

Ours are folders beside this file, imported when they are asked for; papers of other
packages are registered (see `attnflow new-paper`).
"""

from __future__ import annotations

import importlib
import re
import signal
import threading
import tomllib
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attnflow.papers.inventory import Statement, read_notes, read_statements, uses_of
from attnflow.papers.replies import Reply, read_replies
from attnflow.schema.conditions import Condition
from attnflow.schema.dataset import setting_of
from attnflow.schema.declarations import Exhibit, Note, Recipe, Request, Statistic
from attnflow.schema.facts import AbstractPresentable, Facts
from attnflow.schema.installation import distribution_of, package_of, registered, xr
from attnflow.schema.settings import UnknownName, look_up

if TYPE_CHECKING:
    from attnflow.claims import Claim
    from attnflow.claims.stages import StageRow

T = TypeVar("T")

# The first is what the demo shows: its headline is computed in half a minute.
SLUGS = ("mixture", "cooccurrence", "signgd", "vit", "scansnap")
TAKEN = (*SLUGS, "mix")
"""Names that no other package's paper can have; `mix` is for mixed experiments."""
NOTES, REPLIES = "notes.toml", "replies.toml"
_READERS = {NOTES: read_notes, REPLIES: read_replies}
PREFIX = re.compile(r"[A-Z][A-Za-z0-9]{1,11}")
"""What ids of claims begin with: single letters are those of attnflow's own papers."""


class BrokenPaper(ValueError):
    """A registered paper that cannot be used; the message says why."""


class BrokenPaperWarning(UserWarning):
    """Somebody's paper is left out of a list, and why."""


class Declared(Generic[T]):
    """A field of `Paper`: its value, or a path that is followed when it is first read.

    The path is `module:NAME`, or `package:file.toml` for the content of that file. So
    a paper's claims are imported only where they are asked for.
    """

    def __init__(self, *default: T):
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, paper: object | None, owner: type) -> T:
        if paper is None:
            # Here `dataclass` asks for the default.
            if not self._default:
                raise AttributeError(self._name)
            return self._default[0]
        value = vars(paper)[self._name]
        if isinstance(value, str):
            value = vars(paper)[self._name] = _follow(value)
        return value

    def __set__(self, paper: object, value: T | str) -> None:
        vars(paper)[self._name] = value


def _follow(path: str) -> Any:
    package = path.partition(".")[0].partition(":")[0]
    if package == __name__.partition(".")[0]:
        return _content_of(path)
    with _contained(f"{path}, which a paper of the package {package} names, is broken"):
        return _content_of(path)


def _content_of(path: str) -> Any:
    module, _, name = path.partition(":")
    if name in _READERS:
        return _READERS[name](files(module) / name)
    if name.endswith(".toml"):
        return tomllib.loads((files(module) / name).read_text("utf-8"))
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True, repr=False)
class Paper(AbstractPresentable):
    """A paper: its experiments, figures and tables, claims, notes and inventory.

    `slug` is its short name, and `letter` what ids of its claims and notes begin with:
    a letter for attnflow's own papers, a word such as `Needle` for all others.
    `stage_table` gives, for a run, the stages of training with the paper's own
    formula for their times beside what was detected. `maps` are exhibits that take
    sweeps, and minutes: they are made when they are asked for. `statistics` are what
    sweeps can compute beside observables and claims. `conditions` gives, for the
    setting of a run, the conditions of the paper's theorems, item by item, and
    `run_conditions` those items that speak of the run itself.

    `replies` are what the paper's authors answered to notes and verdicts.

    Claims, exhibits, notes, replies, maps and statistics may be declared as paths
    (`Declared`).
    """

    slug: str
    letter: str
    title: str
    version_read: str
    bibtex: str
    headline: str
    headline_claims: tuple[str, ...]
    summary: str
    recipes: tuple[Recipe, ...]
    exhibits: Declared[tuple[Exhibit, ...]] = Declared()
    claims: Declared[tuple[Claim, ...]] = Declared()
    notes: Declared[tuple[Note, ...]] = Declared()
    inventory: Declared[Mapping[str, Any]] = Declared()
    stage_table: Callable[[xr.Dataset], list[StageRow]] | None = None
    maps: Declared[tuple[Exhibit, ...]] = Declared(())
    statistics: Declared[tuple[Statistic, ...]] = Declared(())
    conditions: Callable[[Mapping[str, Any]], list[Condition]] | None = None
    run_conditions: Callable[[xr.Dataset], list[Condition]] | None = None
    replies: Declared[tuple[Reply, ...]] = Declared(())

    @property
    def shown(self) -> tuple[Exhibit, ...]:
        """All figures and tables, then the maps."""
        return (*self.exhibits, *self.maps)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The numbered statements of the paper, from its inventory."""
        return read_statements(self.inventory)

    def replies_to(self, id: str) -> tuple[Reply, ...]:
        """The authors' replies about a note or a claim, in the order of the file."""
        return tuple(reply for reply in self.replies if id in reply.about)

    def status_of(self, note: Note) -> str:
        """The status of a note: that of the last reply about it, or its own."""
        replies = self.replies_to(note.id)
        return str(replies[-1].status) if replies else note.status

    def uses_of(self, claim: str) -> tuple[str, ...]:
        """Ids of the statements on which the proof of a claim's statement rests."""
        return uses_of(self.statements, claim)

    def items(self, run: xr.Dataset) -> list[Condition]:
        """The items of the paper's conditions at a run's setting and in the run."""
        of_setting = self.conditions(setting_of(run)) if self.conditions else []
        if self.run_conditions is None or not run.data_vars:
            return of_setting
        return [*of_setting, *self.run_conditions(run)]

    def facts(self) -> Facts:
        """What there is of this paper, by name."""
        verdicts = Counter(str(claim.expected) for claim in self.claims)
        recorded = ", ".join(
            f"{count} {verdict}" for verdict, count in verdicts.items()
        )
        return Facts(
            f"{self.slug}: {self.title}",
            (
                ("read", self.version_read),
                ("about", self.summary),
                ("experiments", ", ".join(recipe.id for recipe in self.recipes)),
                ("exhibits", ", ".join(exhibit.id for exhibit in self.exhibits)),
                ("claims", f"{len(self.claims)} (recorded: {recorded or 'none'})"),
                ("notes", f"{len(self.notes)}"),
            ),
            hint=f'af.run("{self.slug}/{self.recipes[0].id}")' if self.recipes else "",
        )

    def recipe(self, id: str) -> Recipe:
        """The experiment with this id."""
        return look_up(
            f"experiment of {self.slug}", id, {r.id: r for r in self.recipes}
        )

    def build_modules(self, requests: Iterable[Request]) -> set[str]:
        """The modules that build the experiments of some requests."""
        recipes = [self.recipe(request.experiment) for request in requests]
        return {recipe.build.partition(":")[0] for recipe in recipes}

    def exhibit(self, id: str) -> Exhibit:
        """The figure, table or map with this id."""
        return look_up(
            f"figure or table of {self.slug}", id, {e.id: e for e in self.shown}
        )

    def claim(self, id: str) -> Claim:
        """The claim with this id."""
        return look_up(f"claim of {self.slug}", id, {c.id: c for c in self.claims})


def texts_of(package: str) -> dict[str, Any]:
    """Notes, inventory, replies and BibTeX of a `Paper`, read from its package's files.

    These are `paper.bib`, `inventory.toml` and, where they are there, `notes.toml` and
    `replies.toml`: `Paper(…, **texts_of(__name__))`.
    """
    folder = files(package)
    texts = {
        "bibtex": (folder / "paper.bib").read_text("utf-8"),
        "inventory": f"{package}:inventory.toml",
    }
    for name in _READERS:
        if (folder / name).is_file():
            texts[name.removesuffix(".toml")] = f"{package}:{name}"
    return texts


def paper(slug: str) -> Paper:
    """The paper with this short name, ours or another package's."""
    if slug in SLUGS:
        return importlib.import_module(_ours(slug)).PAPER
    others = {s: points for s, points in registered().items() if s not in TAKEN}
    try:
        look_up("paper", slug, dict.fromkeys((*SLUGS, *others)))
    except UnknownName as error:
        raise UnknownName(f"{error}{_owner_of(slug)}") from None
    return _load(slug, others[slug])


def _owner_of(name: object) -> str:
    """Whose claim `B-L6.1` is, or whose experiment `figure1`; empty: nobody's."""
    ours = [paper(slug) for slug in SLUGS]
    owners = [
        record.slug
        for record in ours
        if name in {recipe.id for recipe in record.recipes}
        or str(name).startswith(f"{record.letter}-")
    ]
    written = " or ".join(f"{slug}/{name}" for slug in owners)
    return f" Its paper comes first: {written}." if owners else ""


def papers() -> dict[str, Paper]:
    """All papers by their short names: ours, then those of other packages.

    A paper of another package that cannot be loaded is left out, with a warning.
    """
    every = {slug: paper(slug) for slug in SLUGS}
    for slug, points in registered().items():
        try:
            loaded = _load(slug, points)
            # Who asks for all papers reads all of their parts.
            for field in fields(loaded):
                getattr(loaded, field.name)
            every[slug] = loaded
        except BrokenPaper as error:
            warnings.warn(f"{error}", BrokenPaperWarning, stacklevel=2)
    return every


def select_papers(target: str | None) -> list[tuple[Paper, str | None]]:
    """The papers of `PAPER`, `PAPER/NAME` or, for `None`, all; each with that name."""
    if target is None:
        return [(every, None) for every in papers().values()]
    slug, slash, name = target.partition("/")
    if slash and not name:
        raise ValueError(
            f"{target!r} ends in a slash. Write {slug}, or a name after it."
        )
    return [(paper(slug), name or None)]


def module_of(slug: str) -> str:
    """The name of the module in which a paper is."""
    return _ours(slug) if slug in SLUGS else package_of(slug) or _ours(slug)


def _ours(slug: str) -> str:
    return f"attnflow.papers.{slug}"


def _load(slug: str, points: Sequence[EntryPoint]) -> Paper:
    """The paper that another package registers under this name, checked."""
    if slug in TAKEN:
        owners = " and ".join(map(distribution_of, points))
        raise BrokenPaper(
            f"A paper {slug!r} is registered by {owners}, but attnflow has experiments "
            "of this name, which stay. Give the other one another name in its "
            "pyproject.toml."
        )
    if len(points) > 1:
        owners = " and ".join(map(distribution_of, points))
        raise BrokenPaper(
            f"The paper {slug!r} is registered {len(points)} times, by {owners}: "
            "rename all but one of them in their pyproject.toml, or uninstall them."
        )
    point = points[0]
    who = f"The paper {slug!r} of {distribution_of(point)}"
    with _contained(f"{who} cannot be loaded from {point.value}"):
        paper = point.load()
    _check(slug, point, paper)
    return paper


@contextmanager
def _contained(trouble: str) -> Iterator[None]:
    """Whatever a stranger's module raises, as a `BrokenPaper`; Ctrl-C is itself.

    A module may raise KeyboardInterrupt too, but it sends no signal.
    """
    with _interrupts() as heard:
        try:
            yield
        except BaseException as error:
            if heard:
                raise KeyboardInterrupt from error
            raise BrokenPaper(
                f"{trouble}: {type(error).__name__}: {error}{_place_of(error)}. Fix "
                "that package, or uninstall it."
            ) from error


def _place_of(error: BaseException) -> str:
    """The innermost line outside of attnflow and of Python's imports; empty: none."""
    ours = str(Path(__file__).parents[1])
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if not file.startswith((ours, "<")) and "importlib" not in file:
            return f" ({file}, line {frame.lineno})"
    return ""


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The interrupts (SIGINT) that arrive meanwhile, which are handled as before."""
    heard: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # Python hears signals in its main thread alone, and calls functions alone.
    is_heard = threading.current_thread() is threading.main_thread()
    if not (is_heard and callable(before)):
        yield heard
        return

    def listen(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, listen)
    try:
        yield heard
    finally:
        # Unless the module has put its own in its place.
        if signal.getsignal(signal.SIGINT) is listen:
            signal.signal(signal.SIGINT, before)


def _check(slug: str, point: EntryPoint, paper: object) -> None:
    who = f"The paper {slug!r} of {distribution_of(point)}"
    if not isinstance(paper, Paper):
        raise BrokenPaper(
            f"{who}: {point.value} is of type {type(paper).__name__}, not an "
            "attnflow.Paper. Let the entry point name the Paper itself."
        )
    if paper.slug != slug:
        raise BrokenPaper(
            f"{who} calls itself {paper.slug!r}. Use one name in its pyproject.toml "
            "and in its Paper."
        )
    if not PREFIX.fullmatch(paper.letter):
        raise BrokenPaper(
            f"{who} has letter={paper.letter!r}. Ids of its claims must begin with a "
            "word of its own, of 2 to 12 letters or digits with a capital first, such "
            "as letter='Needle': single letters are attnflow's."
        )
