"""`attnflow verify PAPER/CLAIM --explain`: how one verdict came about."""

import textwrap
from functools import partial
from pathlib import Path

from attnflow.claims import Claim, Row, Verdict, with_seeds
from attnflow.cli import text
from attnflow.cli.choosing import Chosen
from attnflow.cli.conditions import condition_table
from attnflow.cli.output import Output
from attnflow.cli.tables import Table
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema.conditions import READING
from attnflow.site.explain import Explanation, draw_claim, explain
from attnflow.site.pages.files import save_figure

OUTPUT = Path("attnflow-output/explained")
_WIDTH = 88
_wrapped = partial(
    textwrap.fill, width=_WIDTH, initial_indent="  ", subsequent_indent="  "
)


def the_one(chosen: Chosen, *, own: bool, changed: bool) -> tuple[Paper, Claim]:
    """The claim that is to be explained, which must be one, with runs of ours."""
    if own or changed:
        raise ValueError(
            "--explain goes with neither --run nor --changed. Leave one of them out."
        )
    claims = [(paper, claim) for paper, claims in chosen for claim in claims]
    if len(claims) != 1:
        raise ValueError(
            f"--explain tells of one claim, and {len(claims)} are named. Write for "
            f"example attnflow verify {claims[0][0].slug}/{claims[0][1].id} --explain."
        )
    return claims[0]


def explain_claim(
    output: Output, paper: Paper, claim: Claim, row: Row, *, seeds: int
) -> dict[str, object]:
    """Say how a verdict came about, draw it, and give it as plain data."""
    if row.verdict is Verdict.UNCHECKED:
        output.say(f"{row.paper}/{claim.id} is unchecked: {row.note}")
        return {}
    evidence = Runner().gather(paper, with_seeds(claim.needs, seeds))
    told = explain(paper, claim, evidence)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    figure = draw_claim(paper, told, evidence)
    stem = f"{paper.slug}-{claim.id}"
    files = save_figure(figure, [OUTPUT / f"{stem}.{kind}" for kind in ("svg", "png")])
    _say(output, told, row)
    for place in files:
        output.say(f"picture  {place}")
    return {**told.as_json(), "files": [str(place) for place in files]}


def _say(output: Output, told: Explanation, row: Row) -> None:
    claim = told.claim
    output.say(f"{row.paper}/{claim.id}: {row.verdict}, recorded as {row.expected}")
    parts = {
        f"Statement ({claim.place}; {claim.origin})": claim.statement,
        "Holds instead": row.correction,
        "System": claim.system,
        "Conditions": f"{claim.conditions}. {told.met}",
        "Predicate": claim.predicate,
        "Found": row.note,
        "Record": f"{claim.expected}: {claim.source}",
    }
    for name, words in parts.items():
        if words:
            output.say(f"\n{name}\n{_wrapped(words)}")
    if told.conditions:
        output.say("\nConditions as numbers")
        output.say(_wrapped(f"Here with {READING}; the words above may put in others."))
        output.show(condition_table(told.conditions))
    output.say("\nRuns")
    output.show(_runs(told))
    _say_code(output, told)
    _say_numbers(output, told, row)
    output.say("What would have made it fail")
    for sentence in told.fails_where:
        output.say(_wrapped(f"– {sentence}."))
    output.say("\nChanged runs, on which it must not hold")
    broken = [(one.change, str(one.verdict), one.note) for one in told.broken]
    output.show(Table(("change", "verdict", "found"), broken))


def _runs(told: Explanation) -> Table:
    rows = [
        (
            name,
            about["experiment"],
            f"{len(about['seeds'])} from {min(about['seeds'])}",
            about["form"],
            text.settings(about["changed"]) or text.ABSENT,
        )
        for name, about in told.settings.items()
    ]
    return Table(("run", "experiment", "seeds", "form", "changed settings"), rows)


def _say_code(output: Output, told: Explanation) -> None:
    output.say("Predicate as code")
    for source in told.code:
        output.say(f"  # {source.file}:{source.line}")
        output.say(textwrap.indent(textwrap.dedent(source.text), "  ") + "\n")
    if told.looked_at:
        names = ", ".join(told.looked_at)
        output.say(_wrapped(f"It reads {names} of the runs.") + "\n")


def _say_numbers(output: Output, told: Explanation, row: Row) -> None:
    for what, seeds in told.seeds.items():
        output.say(f"{what}, seed by seed (margin in units of the claim's scale)")
        cells = [
            (one["seed"], "yes" if one["held"] else "no", text.number(one["margin"]))
            for one in seeds
        ]
        output.show(Table(("seed", "held", "margin"), cells))
    if row.numbers:
        output.say("Numbers")
        numbers = [(name, _short(value)) for name, value in row.numbers.items()]
        output.show(Table(("name", "value"), numbers))


def _short(value: object) -> str:
    """A number, or the first of several."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_short(one)}" for name, one in value.items())
    if isinstance(value, list):
        shown = ", ".join(map(_short, value[:8]))
        return f"{shown}, …" if len(value) > 8 else shown
    return text.number(value)
