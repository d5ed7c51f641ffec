"""One page per paper, from its ledger: experiments, figures, claims and notes."""

import json

from tools.documentation.text import code, folded, prose, table

from attnflow.papers.base import SLUGS, Paper, paper
from attnflow.schema.declarations import Exhibit, Recipe
from attnflow.schema.settings import as_record
from attnflow.site.pages.claims import ClaimView, Tally, claim_views

_READ = (
    "Verdicts are the recorded ones, to which `attnflow verify` is compared; "
    "scope and slack are computed from the settings of the runs that each claim "
    "declares. [How to read a verdict](../verdicts.md) explains the columns."
)


def paper_pages() -> dict[str, str]:
    """A page for each paper that attnflow comes with, and their index."""
    views = {slug: claim_views(paper(slug), []) for slug in SLUGS}
    pages = {f"papers/{slug}.md": _page(paper(slug), views[slug]) for slug in SLUGS}
    return pages | {"papers/index.md": _index(views)}


def _index(views: dict[str, list[ClaimView]]) -> str:
    rows = []
    for slug in sorted(views, key=lambda slug: paper(slug).letter):
        record = paper(slug)
        title = f"[{prose(record.title)}]({slug}.md)"
        counts = f"{len(record.exhibits)} and {len(record.maps)}"
        cells = (record.letter, code(slug), title, Tally(views[slug]).words, counts)
        rows.append(cells)
    header = ("letter", "name", "paper", "claims", "figures and tables, maps")
    intro = (
        "Theory papers on the training of shallow transformers, each as experiments, "
        "figures and tables, and claims that can fail. The letter begins the ids of a "
        "paper's claims: `B-L6.1` is Lemma 6.1 of `mixture`."
    )
    own = (
        "A paper of your own is a package of its own: [tutorial](../your-own-paper.md)."
    )
    return f"# Papers\n\n{intro}\n\n{table(header, rows)}\n{own}\n"


def _page(record: Paper, views: list[ClaimView]) -> str:
    parts = [
        f"# {record.slug}: {prose(record.title)}",
        prose(record.summary),
        f"Version: {prose(record.version_read)}. Cite it with "
        f"`attnflow cite {record.slug}`; [findings and files]({record.slug}-code.md) "
        "has what came out and where the code is.",
        _experiments(record),
        _exhibits(record),
        _claims(record, views),
        _notes(record),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _experiments(record: Paper) -> str:
    rows = [(code(r.id), prose(r.title), prose(r.place)) for r in record.recipes]
    return "\n\n".join(
        [
            "## Experiments",
            _command(f"attnflow run {record.slug}/{record.recipes[0].id}"),
            table(("experiment", "what is trained", "where the paper has it"), rows),
            folded("Settings of every experiment", _settings(record.recipes)),
        ]
    )


def _settings(recipes: tuple[Recipe, ...]) -> str:
    rows = []
    for recipe in recipes:
        fields = as_record(recipe.setting)
        shown = ", ".join(code(f"{name}={_value(v)}") for name, v in fields.items())
        rows.append((code(recipe.id), shown))
    return table(("experiment", "settings"), rows)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_value, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _exhibits(record: Paper) -> str:
    parts = ["## Figures and tables", _command(f"attnflow reproduce {record.slug}")]
    return "\n\n".join([*parts, *(_exhibit(record, e) for e in record.shown)])


def _exhibit(record: Paper, exhibit: Exhibit) -> str:
    silent = "\n".join(f"- {prose(text)}" for text in exhibit.silent)
    parts = [
        f"### {prose(exhibit.title)}",
        prose(exhibit.caption),
        _command(f"attnflow reproduce {record.slug}/{exhibit.id}"),
        silent and folded("Unspecified in the paper, and our reading", silent),
    ]
    return "\n\n".join(part for part in parts if part)


def _claims(record: Paper, views: list[ClaimView]) -> str:
    tally = Tally(views)
    scopes = [
        (scope, ", ".join(_counted(n, str(verdict)) for verdict, n in counts.items()))
        for scope, counts in tally.by_scope.items()
    ]
    header = ("claim, place, kind", "verdict, scope, slack", "statement")
    example = views[0].id
    parts = [
        "## Claims",
        f"{len(views)} claims: {tally.words}. {_READ}",
        _command(
            f"attnflow verify {record.slug}",
            f"attnflow verify {record.slug}/{example} --explain",
        ),
        table(("scope", "verdicts"), scopes),
        '<div class="claims" markdown>',
        table(header, [_claim(view) for view in views]),
        "</div>",
    ]
    return "\n\n".join(parts)


def _counted(number: int, verdict: str) -> str:
    """`1 holds`, `35 hold`, `3 inconclusive`."""
    if number > 1 and verdict in ("holds", "fails"):
        verdict = verdict.removesuffix("s")
    return f"{number} {verdict}"


def _claim(view: ClaimView) -> tuple[str, ...]:
    """Three cells, which stand below each other on a phone."""
    row = view.row
    slack = "" if row.slack is None else f", slack {row.slack:.3g}"
    statement = prose(row.statement)
    if row.corrected is not None:
        statement += f"<br>*Corrected:* {prose(row.corrected.statement)}"
    if row.missed:
        statement += f"<br>*Missed:* {prose('; '.join(row.missed))}"
    name = f"<span id='{row.id}'></span>{code(row.id)}"
    return (
        f"{name}<br>{prose(row.place)}<br>{row.kind}",
        f"**{row.words}**<br>{row.scope_and_origin}{slack}",
        statement,
    )


def _notes(record: Paper) -> str:
    if not record.notes:
        return ""
    parts = ["## Reader's notes"]
    for note in record.notes:
        body = f"Printed: {prose(note.printed)}\n\nOurs: {prose(note.ours)}"
        shown = f"\n\nShown by: {prose(note.shown_by)}" if note.shown_by else ""
        parts.append(folded(f"{note.id}, {note.place} ({note.status})", body + shown))
    return "\n\n".join(parts)


def _command(*lines: str) -> str:
    return "```bash\n" + "\n".join(lines) + "\n```"
