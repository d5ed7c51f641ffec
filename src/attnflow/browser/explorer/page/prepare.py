"""A document with its words typeset: MathML for text, runs of letters for charts."""

import re
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape
from matplotlib.colors import Colormap

from attnflow.browser.explorer.page.mathml import Run, mathml, runs
from attnflow.figures.formulas import Piece, pieces, to_tex
from attnflow.figures.style import THEMES

Json = dict[str, Any]
_STOP = re.compile(r"[.,;:)]+")
STOPS = 12
"""Colours of a ramp between which the page mixes."""


def prepare(document: Json) -> Json:
    """The document, with typeset words beside the plain ones."""
    experiments = [_experiment(e) for e in document["experiments"]]
    return {**document, "experiments": experiments, "ramps": _ramps(), "clocks": CLOCKS}


def html(text: str) -> Markup:
    """A text with its formulas as MathML, and all else escaped."""
    typeset, stop = Markup(""), ""
    for piece, after in pairwise([*pieces(text), Piece("", "words")]):
        content, stop = piece.text.removeprefix(stop), ""
        if piece.kind == "formula":
            punctuation = _STOP.match(after.text)
            stop = punctuation[0] if punctuation else ""
            formula = mathml(to_tex(content))
            # No line begins with the punctuation after a formula.
            whole = Markup('<span class="whole">{}{}</span>').format(formula, stop)
            typeset += whole if stop else formula
        elif piece.kind == "code":
            typeset += Markup("<code>{}</code>").format(content)
        else:
            typeset += escape(content)
    return typeset


def shown(text: str, tex: str | None = None) -> Json:
    """A name as plain text, as HTML, and as runs for a chart."""
    if tex:
        return {"text": text, "html": str(mathml(tex)), "runs": runs(tex)}
    parts: list[Run] = []
    for piece in pieces(text):
        if piece.kind == "formula":
            parts += runs(to_tex(piece.text))
        else:
            parts.append({"text": piece.text, "italic": False, "level": 0})
    plain = "".join(run["text"] for run in parts) if "$" in text else text
    return {"text": plain, "html": str(html(text)), "runs": parts}


CLOCKS = {
    "step": {"unit": "step", "label": "step", "shown": shown("step")},
    "time": {"unit": "time", "label": "time t", "shown": shown("time t")},
}


def _experiment(experiment: Json) -> Json:
    named = {
        "knobs": lambda item: shown(item["label"], item.get("tex")),
        "presets": lambda item: shown(_preset_name(item)),
        "stages": lambda item: shown(_stage_name(item["name"]), _tex(item["name"])),
        "maps": lambda item: shown(item["title"]),
    }
    parts = {
        key: [{**item, "shown": show(item)} for item in experiment[key]]
        for key, show in named.items()
    }
    attention = experiment["attention"]
    for stage in parts["stages"]:
        stage["meaningHtml"] = str(html(stage["meaning"]))
    return {
        **experiment,
        **parts,
        "attention": attention
        and {
            **attention,
            "shown": shown(
                attention.get("title") or attention["observable"].replace("_", " ")
            ),
            "words": _side_words(experiment),
        },
        "laws": {
            law: str(html(law))
            for program in experiment["programs"]
            for law in (program["drift"] or {"laws": ()})["laws"]
        },
        "conditionWords": {
            text: str(html(text))
            for variant in experiment["variants"]
            for item in variant.get("conditions", ())
            for text in (item["name"], item["what"])
        },
        "fixedHtml": str(_fixed(experiment)),
        "aboutHtml": str(_docstring(experiment["about"])),
        "panels": [_panel(panel) for panel in _loss_first(experiment["panels"])],
        "claims": [_claim(claim) for claim in experiment["claims"]],
        "exactHtml": str(_exact(experiment)),
    }


def _side_words(experiment: Json) -> Json:
    """Labels of rows and columns of maps, those that are formulas."""
    sides = experiment["attention"]["dims"][-2:]
    names: set[str] = set()
    for labels in (variant["labels"] for variant in experiment["variants"]):
        for dim in sides:
            names.update(map(str, labels.get(dim, ())))
            if dim.endswith("position"):
                names.update(
                    word for s in labels.get("sample", ()) for word in str(s).split()
                )
    words = {name: shown(name) for name in sorted(names)}
    return {
        name: word
        for name, word in words.items()
        if word["text"] != name or len(word["runs"]) > 1
    }


def _stage_name(name: str) -> str:
    """A stage's name: a formula such as `t_onset`, or words such as `decoder_snap`."""
    is_formula = any(piece.kind == "formula" for piece in pieces(name))
    return name if is_formula else name.replace("_", " ")


def _tex(stage: str) -> str | None:
    """A time with two indices, such as `2 T4-_lo`, as TeX."""
    parts = re.fullmatch(r"(\d*) ?([A-Z])(\d)(-?)_([a-z]+)", stage)
    if parts is None:
        return None
    factor, letter, number, sign, word = parts.groups()
    return f"{factor}{letter}_{{{number}{sign},\\mathrm{{{word}}}}}"


def _loss_first(panels: list[Json]) -> list[Json]:
    """The panels, with losses by kind of sample before all else, or else the loss."""

    def rank(panel: Json) -> int:
        names = [series["selector"].partition("[")[0] for series in panel["series"]]
        is_loss = all("loss" in name for name in names)
        return 0 if is_loss and "loss_by_group" in names else 1 if is_loss else 2

    first = min(panels, key=rank)
    others = [panel for panel in panels if panel is not first]
    # A figure may show a part of a run, or be named for what is seen in it.
    is_named = rank(first) == 2 or "loss" in first["title"].lower()
    return [first if is_named else {**first, "title": "Loss"}, *others]


def _panel(panel: Json) -> Json:
    series = [{**s, "shown": shown(s["label"], s.get("tex"))} for s in panel["series"]]
    axis = None if panel["y"] == panel["title"] else shown(panel["y"])
    return {**panel, "shown": shown(panel["title"]), "axis": axis, "series": series}


def _preset_name(preset: Json) -> str:
    """`Figure 1a` for the exhibit `figure1a`; what has no exhibit is the default."""
    if preset.get("place"):
        return preset["place"]
    words = re.sub(r"(?<=[a-z])(?=\d)", " ", preset["exhibit"]).replace("-", " ")
    return words[:1].upper() + words[1:] if words else "Defaults"


def _docstring(text: str) -> Markup:
    """The paragraphs and the list of a docstring."""
    typeset = Markup("")
    for block in re.split(r"\n\s*\n", text.strip()):
        items = re.split(r"(?:^|\n)\s*- ", block)
        words = [html(" ".join(item.split())) for item in items]
        if words[0]:
            typeset += Markup("<p>{}</p>").format(words[0])
        if len(words) > 1:
            rows = Markup("").join(Markup("<li>{}</li>").format(w) for w in words[1:])
            typeset += Markup(
                "<details><summary>All settings</summary><ul>{}</ul></details>"
            ).format(rows)
    return typeset


def _claim(claim: Json) -> Json:
    corrected = claim.get("corrected")
    words = ""
    if corrected:
        words = f"{corrected['kind']}, {corrected['verdict']}: {corrected['statement']}"
    map_ = claim["map"]
    return {
        **claim,
        "statementHtml": str(html(claim["statement"])),
        "correctedHtml": str(html(words)),
        "map": map_ and {**map_, "shown": shown(map_["title"])},
    }


def _exact(experiment: Json) -> Markup:
    """Why the numbers of the page are those of Python, with what was measured."""
    text = Markup(
        "<p>The functions that Python runs (the update or the velocity, and every "
        "observable) are traced and compiled to WebAssembly, in float64, with "
        "exponentials and logarithms of their own; the page fills in the setting and "
        "draws. "
        "There is no second implementation, and every browser computes the same bits. "
        "Descents take every step; flows are integrated by an adaptive Runge–Kutta "
        "method whose steps end on the recorded times.</p>"
    )
    return text + _agreement(experiment["agreement"])


def _agreement(agreement: Json | None) -> Markup:
    """What was measured of a page's kernels, and where; or that nothing was."""
    if agreement is None:
        return Markup(
            "<p>Not measured for this page: its modules can be run beside "
            "<code>af.run</code> where it is made if wasmtime is installed there "
            "(<code>pip install wasmtime</code>). attnflow's own tests compare every "
            "experiment that is offered, at a small size.</p>"
        )
    observables = agreement["observables"].items()
    rows = Markup("").join(
        Markup("<tr><th scope='row'>{}</th><td class='num'>{}</td></tr>").format(
            name, _difference(value, is_zero=name in agreement.get("zero", ()))
        )
        for name, value in observables
    )
    tolerance = agreement["tolerance"]
    far = [n for n, v in observables if v is None or v > tolerance]
    verdict = f"all but {', '.join(far)} are within" if far else "all are within"
    return Markup(
        "<p>Measured when this page was made, against <code>af.run</code>, at the "
        "setting that it begins with (seed 0), over all records, by {}. Relative to "
        "the largest entry, {} {}:</p>"
        "<div class='scroll'><table class='values'>"
        "<thead><tr><th scope='col'>observable</th><th scope='col'>largest "
        "difference</th></tr></thead><tbody>{}</tbody></table></div>"
    ).format(agreement["where"], verdict, _power(tolerance, 0), rows)


def _difference(value: float | None, *, is_zero: bool) -> Markup:
    if value is None:
        return Markup("records at other times")
    # Relative to its own rounding errors, what is 0 differs by all of it.
    note = " (absolute: it is 0 up to rounding)" if is_zero and value else ""
    return _power(value) + note


def _power(value: float, digits: int = 1) -> Markup:
    """A small number as a power of ten."""
    if value == 0:
        return Markup("0")
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    power = Markup("10<sup>{}</sup>").format(str(int(exponent)).replace("-", "−"))
    return power if mantissa == "1" else Markup("{}·{}").format(mantissa, power)


def _fixed(experiment: Json) -> Markup:
    """What is smaller on the page than in the paper, and what cannot be changed."""
    words = ", ".join(
        f"{name.replace('_', ' ')} {here} instead of {declared}"
        for name, (declared, here) in (experiment.get("reduced") or {}).items()
    )
    text = Markup("<b>Smaller, to fit into a page:</b> {}. ").format(words)
    text = text if words else Markup("")
    if not experiment["fixed"]:
        return text
    words = ", ".join(f"{f['label']} = {f['value']:.6g}" for f in experiment["fixed"])
    return text + Markup(
        "Not to be moved here: {}. Set-up draws or decomposes arrays by them, which "
        "this page has for these values alone; in Python, <code>{} name=value</code>."
    ).format(words, experiment["command"])


def _ramps() -> Json:
    return {
        name: {"mass": _stops(theme.mass), "signed": _stops(theme.signed)}
        for name, theme in THEMES.items()
    }


def _stops(colours: Colormap) -> list[list[int]]:
    shades = (colours(n / (STOPS - 1)) for n in range(STOPS))
    return [[round(255 * part) for part in shade[:3]] for shade in shades]
