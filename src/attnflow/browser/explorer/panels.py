"""Panels of an explorer: courses that exhibits draw, and one for every observable."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from attnflow.browser.explorer.variants import Variant
from attnflow.figures.exhibits import Line
from attnflow.papers.base import Paper

Json = dict[str, Any]
MOST = 8
"""Curves of a panel that nobody has chosen."""


def panels_of(
    paper: Paper, id: str, observables: Sequence[Json], variant: Variant
) -> list[Json]:
    """The panels that exhibits draw of this experiment, then the other observables."""
    labels = variant.setup.labels
    dims = {o["name"]: o["dims"] for o in observables}
    panels: list[Json] = []
    seen: set[tuple[str, ...]] = set()
    for panel in _declared(paper, id, dims, labels):
        key = tuple(sorted(series["selector"] for series in panel["series"]))
        if key not in seen:
            seen.add(key)
            panels.append(panel)
    shown = {s["selector"].partition("[")[0] for p in panels for s in p["series"]}
    rest = [_plain(o, labels) for o in observables if o["name"] not in shown]
    return [*panels, *(panel for panel in rest if panel["series"])]


def _declared(
    paper: Paper, id: str, dims: Mapping[str, Any], labels: Mapping[str, Sequence[str]]
) -> list[Json]:
    panels = []
    for exhibit in paper.exhibits:
        runs = {n for n, r in exhibit.needs.items() if r.experiment == id}
        for panel in getattr(exhibit.shows, "panels", ()):
            series: dict[str, Json] = {}
            for line in getattr(panel, "lines", ()):
                if not isinstance(line, Line) or line.run not in runs:
                    continue
                if isinstance(line.of, str) and _is_known(line.of, dims, labels):
                    # In a panel with several runs a line is named after its run.
                    chosen = line.of.partition("[")[2].rstrip("]").split(",")
                    own = _entry(chosen, dims[line.of.partition("[")[0]], labels)
                    name = line.label or line.name
                    if len(exhibit.needs) > 1:
                        name = own or line.of.replace("_", " ")
                    entry = {"selector": line.of, "label": name, "kind": line.kind}
                    series.setdefault(line.of, entry)
            if series:
                panels.append(
                    {
                        "title": panel.title,
                        "y": panel.y,
                        "scales": list(panel.scales),
                        "series": list(series.values()),
                        "exhibit": exhibit.id,
                    }
                )
    return panels


def _is_known(
    selector: str, dims: Mapping[str, Any], labels: Mapping[str, Sequence[str]]
) -> bool:
    """Whether a selector names one entry of a recorded observable."""
    name, _, inner = selector.rstrip("]").partition("[")
    if name not in dims:
        return False
    chosen = inner.split(",") if inner else []
    if len(chosen) != len(dims[name]):
        return False
    return all(
        label in [str(x) for x in labels.get(dim, ())]
        for dim, label in zip(dims[name], chosen, strict=True)
    )


def _entry(
    chosen: Sequence[str], dims: Sequence[str], labels: Mapping[str, Sequence[str]]
) -> str:
    """The name of an entry; that of the only head, say, would tell nothing."""
    pairs = zip(chosen, dims, strict=False)
    return ", ".join(name for name, dim in pairs if len(labels.get(dim, ())) > 1)


def _plain(observable: Json, labels: Mapping[str, Sequence[str]]) -> Json:
    """A panel of one observable: its entries, if they are few."""
    name, dims = observable["name"], observable["dims"]
    axes = [[str(x) for x in labels.get(dim, ())] for dim in dims]
    entries = list(itertools.islice(itertools.product(*axes), MOST + 1))
    series = [
        {
            "selector": f"{name}[{','.join(entry)}]" if entry else name,
            "label": _entry(entry, dims, labels) or observable["label"],
            "kind": name.partition("_")[0],
        }
        for entry in entries[:MOST]
    ]
    scale = "log" if "loss" in name else "linear"
    return {
        "title": observable["label"],
        "y": observable["label"],
        "scales": ["linear", scale],
        "series": series,
        "exhibit": "",
    }
