"""The document of an explorer: all that a page needs, from declarations alone."""

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from attnflow.browser.explorer import knobs
from attnflow.browser.explorer.panels import panels_of
from attnflow.browser.explorer.variants import Kernels, Pool, Variant, variant_of
from attnflow.browser.lowering import Unsupported
from attnflow.experiments.record import Computation, Experiment
from attnflow.observables import find
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.settings import Value, plain

Json = dict[str, Any]
VERSION = 1
SEEDS = (0, 1, 2)
MOST = 24
"""Variants of one experiment."""
MOST_SHAPES = 8
"""Variants of it with kernels of their own."""


def document(
    paper: Paper,
    ids: Sequence[str] | None = None,
    overrides: Mapping[str, Value] | None = None,
) -> Json:
    """The document of a paper, or of some of its experiments.

    An experiment that has no kernel is listed with the reason; one that was asked for
    by name raises `Unsupported`.
    """
    pool = Pool()
    experiments, missing = [], []
    for recipe in paper.recipes if ids is None else [paper.recipe(id) for id in ids]:
        chosen = replace(recipe, setting=recipe.with_overrides(overrides or {}))
        try:
            experiments.append(_Writer(paper, chosen, pool, whole=ids is None).json())
        except Unsupported as error:
            if ids is not None:
                raise
            missing.append({"id": recipe.id, "title": recipe.title, "why": str(error)})
    if not experiments:
        raise Unsupported(f"No experiment of {paper.slug} can be played in a page.")
    return {
        "version": VERSION,
        "attnflow": version("attnflow"),
        "paper": _paper_json(paper),
        "modules": pool.modules,
        "arrays": pool.arrays,
        "experiments": experiments,
        "missing": missing,
    }


def _paper_json(paper: Paper) -> Json:
    fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\}\s*[,\n]", paper.bibtex, re.S))
    url = fields.get("url") or (
        f"https://arxiv.org/abs/{fields['eprint']}" if "eprint" in fields else ""
    )
    authors = " ".join(fields.get("author", "").split())
    return {
        "slug": paper.slug,
        "letter": paper.letter,
        "title": paper.title,
        "authors": authors.replace(" and ", ", "),
        "url": url,
        "headline": paper.headline,
        "summary": paper.summary,
    }


@dataclass(frozen=True)
class _Preset:
    exhibit: str
    title: str
    setting: Any
    seed: int
    overrides: Mapping[str, Any]


class _Writer:
    """Writes one experiment; `whole` papers get fewer variants of each."""

    def __init__(self, paper: Paper, recipe: Recipe, pool: Pool, *, whole: bool):
        self.paper, self.recipe, self.whole = paper, recipe, whole
        self.kernels = Kernels(pool)
        self.setting = recipe.setting
        experiment = recipe.experiment(self.setting)
        if isinstance(experiment, Computation):
            raise Unsupported("It trains nothing: there is nothing to play.")
        self.experiment = experiment
        self.names = knobs.number_names(self.setting)
        self.presets = self._presets()

    def json(self) -> Json:
        """The experiment as data."""
        variants = self._variants()
        first = variants[0]
        used = [n for n in self.names if any(n in v.used for v in variants)]
        changeable = [n for n in used if n not in first.json["fixed"]]
        choices = _choices(variants)
        observables = self._observables(first)
        name = f"{self.paper.slug}/{self.recipe.id}"
        unit = "time" if self.experiment.is_flow else "step"
        return {
            "id": self.recipe.id,
            "name": name,
            "title": self.recipe.title,
            "place": self.recipe.place,
            "about": (type(self.setting).__doc__ or "").strip(),
            "clock": {"unit": unit, "label": "time t" if unit == "time" else "step"},
            "knobs": [
                *(self._number(n, first) for n in changeable),
                *(
                    knobs.choice_knob(self.recipe, n, values)
                    for n, values in choices.items()
                ),
            ],
            "setting": plain(dataclasses.asdict(self.setting)),
            "presets": self._preset_json(changeable, variants),
            "plans": self.kernels.plans,
            "variants": [v.json for v in variants],
            "observables": observables,
            "panels": panels_of(self.paper, self.recipe.id, observables, first),
            "attention": _attention(observables),
            "stages": [],
            "conserved": [],
            "claims": [],
            "maps": [],
            "compare": self._compare(choices),
            "agreement": None,
            "command": f"attnflow run {name}",
            "python": f'af.run("{name}")',
        }

    def _number(self, name: str, variant: Variant) -> Json:
        parts = [p for p, names in variant.parts.items() if name in names]
        system = {"inputs", "carry"} & set(parts)
        rates = self._is_rate(name, variant)
        group = "training" if not system or rates else "model"
        return knobs.number_knob(self.recipe, name, group)

    def _is_rate(self, name: str, variant: Variant) -> bool:
        """Whether a number changes rules of training alone."""
        symbols = [s for stage in variant.setup.symbols for s in stage.items()]
        where = [key for key, symbol in symbols if name in symbol.knobs]
        return all("['rates']" in key or "['numbers']" in key for key in where)

    def _observables(self, variant: Variant) -> list[Json]:
        known = find
        if not isinstance(self.experiment, Experiment):
            known = self.experiment.model.registry.find
        return [
            {
                "name": name,
                "label": name.replace("_", " "),
                "about": known(name).about,
                "dims": list(known(name).dims),
            }
            for name in self.experiment.observables
        ]

    def _requests(self) -> list[tuple[str, str, str, Request]]:
        return [
            (exhibit.id, exhibit.title, name, request)
            for exhibit in self.paper.exhibits
            for name, request in exhibit.needs.items()
            if request.experiment == self.recipe.id
        ]

    def _presets(self) -> list[_Preset]:
        presets = []
        for exhibit, title, name, request in self._requests():
            overrides = {
                n: v for n, v in request.overrides.items() if n not in knobs.RECORDED
            }
            seeds = request.seeds
            seed = seeds[0] if isinstance(seeds, tuple) else 0
            several = len([r for r in self._requests() if r[0] == exhibit]) > 1
            label = f"{title} ({name})" if several else title
            setting = self.recipe.with_overrides(overrides)
            presets.append(_Preset(exhibit, label, setting, seed, overrides))
        return presets

    def _variants(self) -> list[Variant]:
        """The default first, then others as far as they can be built."""
        default = variant_of(self.recipe, self.names, {"seed": 0}, self.kernels)
        made = {_key({"seed": 0}): default}
        shapes = 1
        for choices in self._combinations():
            if len(made) >= (MOST // 2 if self.whole else MOST):
                break
            key = _key(choices)
            if key in made or shapes > MOST_SHAPES:
                continue
            before = len(self.kernels.plans)
            try:
                made[key] = variant_of(self.recipe, self.names, choices, self.kernels)
            except (ValueError, Unsupported, NotImplementedError):
                continue
            shapes += len(self.kernels.plans) > before
        return list(made.values())

    def _combinations(self) -> list[Mapping[str, Any]]:
        """Combinations of choices by how much they are wanted."""
        fields = knobs.fields_of(self.setting)
        settings = [preset.setting for preset in self.presets]
        values = knobs.values_of(self.setting, settings)
        default = {name: options[0] for name, options in values.items()}
        wanted: list[dict[str, Any]] = [{"seed": seed} for seed in SEEDS]
        wanted += [
            {n: getattr(p.setting, n) for n in values} | {"seed": 0}
            for p in self.presets
        ]
        # Numbers that are no shapes, and rules, cost little.
        cheap = [n for n in values if fields[n].traced or n in knobs.TRAINING]
        for name in [*cheap, *(n for n in values if n not in cheap)]:
            if self.whole and name not in cheap:
                continue
            wanted += [{name: value, "seed": 0} for value in values[name][1:]]
        widths = [n for n in values if fields[n].traced]
        for name, seed in itertools.product(widths, SEEDS[1:]):
            wanted += [{name: value, "seed": seed} for value in values[name][1:]]
        return [
            {n: v for n, v in choice.items() if n == "seed" or v != default[n]}
            for choice in wanted
        ]

    def _preset_json(
        self, numbers: Sequence[str], variants: Sequence[Variant]
    ) -> list[Json]:
        """Presets of which every change is one that the page can make."""
        offered = [{n: v for n, v in var.choices.items()} for var in variants]
        presets = [{"exhibit": "", "title": self.recipe.title, "setting": {}}]
        seen = {_key({})}
        for preset in self.presets:
            changes = {
                n: v
                for n, v in preset.overrides.items()
                if v != getattr(self.setting, n)
            }
            chosen = {n: v for n, v in changes.items() if n not in numbers}
            if not any(
                all(o.get(n, getattr(self.setting, n)) == v for n, v in chosen.items())
                for o in offered
            ):
                continue
            if _key(changes) in seen:
                continue
            seen.add(_key(changes))
            presets.append(
                {"exhibit": preset.exhibit, "title": preset.title, "setting": changes}
            )
        return presets

    def _compare(self, choices: Mapping[str, Sequence[Any]]) -> list[Json]:
        """Runs to lay beside this one: other widths, rules and systems."""
        pairs: list[Json] = []
        if "infinite" in choices.get("width", ()):
            pairs.append({"label": "infinite width", "setting": {"width": "infinite"}})
        for name in ("rule", "optimiser", "system"):
            for value in choices.get(name, ()):
                if value != getattr(self.setting, name):
                    pairs.append({"label": f"{value}", "setting": {name: value}})
        for other in self.paper.recipes:
            if type(other.setting) is type(self.setting) and other.id != self.recipe.id:
                pairs.append(
                    {"label": other.title, "experiment": other.id, "setting": {}}
                )
        return pairs


def _key(choices: Mapping[str, Any]) -> str:
    return repr(sorted(choices.items(), key=str))


def _choices(variants: Sequence[Variant]) -> dict[str, list[Any]]:
    """The values of each choice over all variants; defaults are filled in."""
    names = list(dict.fromkeys(n for v in variants for n in v.choices))
    values: dict[str, list[Any]] = {}
    for name in names:
        setting = variants[0].setup.experiment.setting
        default = 0 if name == "seed" else setting[name]
        for variant in variants:
            variant.json["choices"].setdefault(name, default)
        each = [variant.json["choices"][name] for variant in variants]
        values[name] = list(dict.fromkeys(each))
    return {n: v for n, v in values.items() if len(v) > 1}


def _attention(observables: Sequence[Json]) -> Json | None:
    """The observable to draw as a map: attention, or scores."""
    by_name = {o["name"]: o for o in observables}
    for name in ("attention", "score", "attention_per_class"):
        if name in by_name and len(by_name[name]["dims"]) >= 2:
            return {"observable": name, "dims": by_name[name]["dims"]}
    return None
