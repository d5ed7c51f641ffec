"""Verdicts for people: the claims table, and how one verdict came about."""

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from attnflow.claims import Claim, ClaimsTable, Row, Verdict, with_seeds
from attnflow.cli.output import ABSENT, Output, Table, number
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.runs.verify import Selection
from attnflow.schema.conditions import READING, Condition
from attnflow.schema.settings import typed
from attnflow.site.explain import Explanation, draw_claim, explain
from attnflow.site.pages.files import save_figure

_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.UNCHECKED)
HEAD = ("claim", "place", "verdict", "recorded", "scope", "held", "margin", "statement")


def is_surprise(row: Row) -> bool:
    """Whether the verdict is definite and another than the recorded one."""
    return row.verdict is not row.expected and row.verdict not in _UNDECIDED


def warning_of(row: Row) -> str:
    """The warning for a claim that was recorded as decided and now is not."""
    if row.verdict is row.expected or is_surprise(row):
        return ""
    why = f": {row.note}" if row.note else ""
    message = f"Warning: {row.id}, recorded as {row.expected}, is {row.verdict}{why}"
    more = f" At this rate, {row.more} seeds would decide." if row.more else ""
    return f"{message.removesuffix('.')}.{more}"


def show_claims(output: Output, table: ClaimsTable) -> None:
    """Show the counts by paper and scope, the table, and what chance would give."""
    output.show(summary_table(table.rows))
    output.show(claims_table(table.rows))
    output.say(table.summary())
    output.say(str(table.family))


def summary_table(rows: Sequence[Row]) -> Table:
    """How many claims got which verdict, by paper and scope."""
    counts = Counter((row.paper, row.scope, row.verdict) for row in rows)
    groups = dict.fromkeys((row.paper, row.scope) for row in rows)
    lines = [
        (paper, str(scope), *(str(counts[paper, scope, v] or "") for v in Verdict))
        for paper, scope in groups
    ]
    return Table(("paper", "scope", *map(str, Verdict)), lines)


def claims_table(rows: Sequence[Row]) -> Table:
    """The claims table, with verdicts that differ from the recorded ones on top."""
    ordered = sorted(rows, key=lambda row: (not is_surprise(row), not warning_of(row)))
    return Table(HEAD, [_cells(row) for row in ordered])


def _cells(row: Row) -> tuple[str, ...]:
    checked = row.verdict is not Verdict.UNCHECKED
    return (
        row.id,
        row.place,
        f"{row.verdict}{' !' if is_surprise(row) else ''}",
        str(row.expected),
        str(row.scope),
        _held(row) if checked else ABSENT,
        number(row.margin) if checked else ABSENT,
        row.correction or row.statement,
    )


def _held(row: Row) -> str:
    """`4/5 in [0.28, 0.99]`: the interval is of the share, or of a fitted slope."""
    if row.interval is None:
        return f"{row.held}/{row.seeds}"
    low, high = row.interval
    return f"{row.held}/{row.seeds} in [{low:.2g}, {high:.2g}]"


OUTPUT = Path("attnflow-output/explained")
_WIDTH = 88
_wrapped = partial(
    textwrap.fill, width=_WIDTH, initial_indent="  ", subsequent_indent="  "
)


def the_one(
    selection: Selection, *, user_run: bool, changed: bool
) -> tuple[Paper, Claim]:
    """The claim to explain, which must be a single one, judged on runs of ours."""
    if user_run or changed:
        raise ValueError(
            "--explain goes with neither --run nor --changed. Leave one of them out."
        )
    claims = [(paper, claim) for paper, claims in selection for claim in claims]
    if len(claims) != 1:
        raise ValueError(
            f"--explain takes one claim, and {len(claims)} are named. Write for "
            f"example attnflow verify {claims[0][0].slug}/{claims[0][1].id} --explain."
        )
    return claims[0]


def explain_claim(
    output: Output, paper: Paper, claim: Claim, row: Row, *, seeds: int
) -> dict[str, object]:
    """Show how a verdict came about, draw it, and return it as plain data."""
    if row.verdict is Verdict.UNCHECKED:
        output.say(f"{row.paper}/{claim.id} is unchecked: {row.note}")
        return {}
    evidence = Runner().gather(paper, with_seeds(claim.needs, seeds))
    explanation = explain(paper, claim, evidence)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    figure = draw_claim(paper, explanation, evidence)
    stem = f"{paper.slug}-{claim.id}"
    files = save_figure(figure, [OUTPUT / f"{stem}.{kind}" for kind in ("svg", "png")])
    _say(output, explanation, row)
    for file in files:
        output.say(f"picture  {file}")
    return {**explanation.as_json(), "files": [str(file) for file in files]}


def _say(output: Output, explanation: Explanation, row: Row) -> None:
    claim = explanation.claim
    output.say(f"{row.paper}/{claim.id}: {row.verdict}, recorded as {row.expected}")
    parts = {
        f"Statement ({claim.place}; {claim.origin})": claim.statement,
        "Holds instead": row.correction,
        "System": claim.system,
        "Conditions": f"{claim.conditions}. {explanation.met}",
        "Predicate": claim.predicate,
        "Found": row.note,
        "Record": f"{claim.expected}: {claim.source}",
    }
    for name, words in parts.items():
        if words:
            output.say(f"\n{name}\n{_wrapped(words)}")
    if explanation.conditions:
        output.say("\nConditions as numbers")
        output.say(_wrapped(f"Here with {READING}; the words above may put in others."))
        output.show(condition_table(explanation.conditions))
    output.say("\nRuns")
    rows = [
        (
            name,
            setting["experiment"],
            f"{len(setting['seeds'])} from {min(setting['seeds'])}",
            setting["form"],
            " ".join(typed(setting["changed"])) or ABSENT,
        )
        for name, setting in explanation.settings.items()
    ]
    columns = ("run", "experiment", "seeds", "form", "changed settings")
    output.show(Table(columns, rows))
    output.say("Predicate as code")
    for source in explanation.code:
        output.say(f"  # {source.file}:{source.line}")
        output.say(textwrap.indent(textwrap.dedent(source.text), "  ") + "\n")
    if explanation.looked_at:
        names = ", ".join(explanation.looked_at)
        output.say(_wrapped(f"It reads {names} of the runs.") + "\n")
    _say_numbers(output, explanation, row)
    output.say("What would have made it fail")
    for sentence in explanation.fails_where:
        output.say(_wrapped(f"– {sentence}."))
    output.say("\nChanged runs, on which it must not hold")
    broken = [(b.change, str(b.verdict), b.note) for b in explanation.broken]
    output.show(Table(("change", "verdict", "found"), broken))


def _say_numbers(output: Output, explanation: Explanation, row: Row) -> None:
    for what, seeds in explanation.seeds.items():
        output.say(f"{what}, seed by seed (margin in units of the claim's scale)")
        cells = [
            (seed["seed"], "yes" if seed["held"] else "no", number(seed["margin"]))
            for seed in seeds
        ]
        output.show(Table(("seed", "held", "margin"), cells))
    if row.numbers:
        output.say("Numbers")
        numbers = [(name, _short(value)) for name, value in row.numbers.items()]
        output.show(Table(("name", "value"), numbers))


def _short(value: object) -> str:
    """A number, or the first of several."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_short(part)}" for name, part in value.items())
    if isinstance(value, list):
        shown = ", ".join(map(_short, value[:8]))
        return f"{shown}, …" if len(value) > 8 else shown
    return number(value)


COLUMNS = ("item", "condition", "value", "allowed", "met", "runs")


def condition_table(conditions: Mapping[str, Sequence[Condition]]) -> Table:
    """By item, one row for the runs that meet it and one for those that do not."""
    by_item: dict[str, dict[bool, dict[str, Condition]]] = {}
    for run, items in conditions.items():
        for item in items:
            by_met = by_item.setdefault(item.name, {True: {}, False: {}})
            by_met[item.met][run] = item
    groups = [runs for by_met in by_item.values() for runs in by_met.values() if runs]
    return Table(COLUMNS, [_condition_row(runs, len(conditions)) for runs in groups])


def _condition_row(items: Mapping[str, Condition], runs: int) -> tuple[str, ...]:
    conditions = list(items.values())
    first = conditions[0]
    return (
        first.name,
        first.what,
        _span(item.value for item in conditions),
        _allowed(conditions),
        "yes" if first.met else "no",
        "all" if len(items) == runs else f"{len(items)} of {runs}: {'; '.join(items)}",
    )


def _allowed(items: Sequence[Condition]) -> str:
    """`≥ 64`, `< 0.5`, `1`, `0.1 … 10`: bounds, which may differ from run to run."""
    least, most = (
        _span(getattr(item, name) for item in items) for name in ("least", "most")
    )
    if all(item.least == item.most for item in items):
        return least
    strict = items[0].strict
    sides = []
    if any(item.least > -math.inf for item in items):
        sides.append(f"{'>' if strict else '≥'} {least}")
    if any(item.most < math.inf for item in items):
        sides.append(f"{'<' if strict else '≤'} {most}")
    return ", ".join(sides)


def _span(numbers: Iterable[float]) -> str:
    """A number, or the least and the largest of several."""
    texts = ["∞" if n == math.inf else f"{n:.3g}" for n in sorted(numbers)]
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} … {texts[-1]}"
