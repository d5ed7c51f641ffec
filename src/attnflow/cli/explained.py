"""`attnflow verify --explain`: how one verdict came about, for people."""

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attnflow.claims import Claim, Evidence, Row, Verdict
from attnflow.claims.words import scope_words, witness_words
from attnflow.cli.output import ABSENT, Output, Table, number
from attnflow.papers.base import Paper
from attnflow.schema.conditions import READING
from attnflow.schema.settings import typed
from attnflow.site.explain import Explanation, draw_claim, explain
from attnflow.site.explain.conditions import COLUMNS, condition_rows
from attnflow.site.explain.explanation import Neighbour, Tried, over_seeds
from attnflow.site.pages.files import save_figure

OUTPUT = Path("attnflow-output/explained")
_WIDTH = 88
_SHOWN = 8
"""Entries of a list that are printed; JSON has them all."""
_wrapped = partial(
    textwrap.fill, width=_WIDTH, initial_indent="  ", subsequent_indent="  "
)


def explain_claim(
    output: Output, paper: Paper, claim: Claim, row: Row, gather: Callable[[], Evidence]
) -> dict[str, object]:
    """Show how a verdict came about, draw it, and return it as plain data."""
    if row.verdict is Verdict.UNCHECKED:
        output.say(f"{row.paper}/{claim.id} is unchecked: {row.note}")
        return {}
    evidence = gather()
    explanation = explain(paper, claim, evidence, row)
    _say(output, explanation)
    figure = draw_claim(paper, explanation, evidence)
    files = []
    if figure is not None:
        OUTPUT.mkdir(parents=True, exist_ok=True)
        stem = f"{paper.slug}-{claim.id}"
        paths = [OUTPUT / f"{stem}.{kind}" for kind in ("svg", "png")]
        files = save_figure(figure, paths)
    for file in files:
        output.say(f"picture  {file}")
    return {**explanation.as_json(), "files": [str(file) for file in files]}


def _say(output: Output, explanation: Explanation) -> None:
    claim, row = explanation.claim, explanation.row
    meaning = "" if row.reading == str(row.verdict) else f" ({row.reading})"
    output.say(f"{row.paper}/{claim.id}: {row.words}{meaning}")
    output.say(f"recorded: {row.recorded}")
    corrected = row.corrected
    parts = {
        f"Statement ({claim.place}; {claim.origin}; {claim.kind})": claim.statement,
        "Correction": corrected and f"{corrected.kind}: {corrected.statement}",
        "Authors' reply": " ".join(map(str, explanation.replies)),
        "System": claim.system,
        "Settings": claim.settings,
        "Predicate": claim.check,
        "Record": f"{row.recorded}: {claim.source}",
        "Conditions": scope_words(row),
    }
    for name, words in parts.items():
        if words:
            output.say(f"\n{name}\n{_wrapped(words)}")
    if any(explanation.items.values()):
        output.say(_wrapped(f"Items as numbers, with {READING}:"))
        output.show(Table(COLUMNS, condition_rows(explanation.items)))
    for name, note in (
        ("Result", row.note),
        ("Result on the correction", corrected.note if corrected else ""),
    ):
        if note:
            output.say(f"\n{name}")
            _say_list(output, note.split("; "))
    _say_around(output, explanation)
    if row.witness is not None:
        output.say(f"\nSecond witness\n{_wrapped(witness_words(row))}")
    elif claim.no_witness:
        output.say(f"\nNo second witness\n{_wrapped(claim.no_witness)}")
    _say_runs(output, explanation)
    _say_code(output, explanation)
    _say_numbers(output, explanation)
    output.say("When each check fails")
    _say_list(output, [f"{sentence}." for sentence in explanation.fails_where])
    _say_trials(output, explanation.tried)


def _say_list(output: Output, sentences: Sequence[str]) -> None:
    for sentence in sentences[:_SHOWN]:
        output.say(_wrapped(f"– {sentence}"))
    if len(sentences) > _SHOWN:
        output.say(f"  and {len(sentences) - _SHOWN} more (--json has them all)")


def _say_around(output: Output, explanation: Explanation) -> None:
    around = explanation.around
    judged = " and ".join(around.judges) or "no numbered statement"
    for name, neighbours in (
        (f"{judged} rests on", around.uses),
        (f"{judged} is used by", around.used_by),
    ):
        if neighbours:
            output.say(f"\n{name}")
            lines = [(n.id, _recorded_of(n)) for n in neighbours]
            output.show(Table(("statement", "recorded verdicts"), lines))


def _recorded_of(neighbour: Neighbour) -> str:
    verdicts = [f"{id}: {words}" for id, words in neighbour.claims.items()]
    return "; ".join(verdicts) or "not judged"


def _say_runs(output: Output, explanation: Explanation) -> None:
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


def _say_code(output: Output, explanation: Explanation) -> None:
    if explanation.code:
        output.say("Predicate as code")
    for source in explanation.code:
        output.say(f"  # {source.file}:{source.line}")
        output.say(textwrap.indent(textwrap.dedent(source.text), "  ") + "\n")
    if explanation.reads:
        names = ", ".join(explanation.reads)
        output.say(_wrapped(f"It reads {names} of the runs.") + "\n")


def _say_numbers(output: Output, explanation: Explanation) -> None:
    for what, seeds in explanation.seeds.items():
        margins = [seed["margin"] for seed in seeds]
        if len(seeds) > _SHOWN and all(seed["held"] for seed in seeds):
            span = f"by margins from {number(min(margins))} to {number(max(margins))}"
            output.say(_wrapped(f"{what}: in all {len(seeds)} seeds, {span}") + "\n")
            continue
        output.say(f"{what}, seed by seed (margin in units of the claim's scale)")
        cells = [
            (seed["seed"], "yes" if seed["held"] else "no", number(seed["margin"]))
            for seed in seeds
        ]
        output.show(Table(("seed", "held", "margin"), cells))
    numbers = explanation.row.numbers
    if numbers:
        output.say("Numbers (the least, the median and the largest seed)")
        lines = [(name, _short(value)) for name, value in numbers.items()]
        output.show(Table(("name", "value"), lines))


def _short(value: object) -> str:
    """A number, or the first of several."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_short(part)}" for name, part in value.items())
    value = over_seeds(value)
    return _first([*map(_short, value)]) if isinstance(value, list) else number(value)


def _first(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:_SHOWN])
    left = len(texts) - _SHOWN
    return f"{shown}, and {left} more" if left > 0 else shown


def _say_trials(output: Output, tried: Tried) -> None:
    output.say(f"\nTrials: the statement {tried.statement}, on changed runs")
    failing = f": {_first(tried.failing)}" if tried.failing else ""
    counts = f"Of {tried.changes} generated changes of what it reads and of settings"
    output.say(_wrapped(f"{counts}, {len(tried.failing)} make it fail{failing}."))
    if tried.inert:
        names = ", ".join(tried.inert)
        output.say(_wrapped(f"No change of {names} makes a difference."))
    groups = {"unknown": tried.unknown, "named": tried.mutations, "mend": tried.mends}
    lines = [
        (kind, change, verdict)
        for kind, verdicts in groups.items()
        for change, verdict in verdicts.items()
    ]
    output.show(Table(("trial", "runs", "verdict"), lines))
