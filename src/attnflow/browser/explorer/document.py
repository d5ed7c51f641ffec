"""The document of an explorer: all that a page needs, from declarations alone."""

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from attnflow.browser.explorer import knobs
from attnflow.browser.explorer.claims import claims_of
from attnflow.browser.explorer.panels import panels_of
from attnflow.browser.explorer.stages import StageRows
from attnflow.browser.explorer.variants import Kernels, Pool, Variant, variant_of
from attnflow.browser.lowering import Unsupported
from attnflow.browser.setup import holds
from attnflow.experiments.record import Computation, Experiment
from attnflow.observables import find
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.settings import Value, plain

Json = dict[str, Any]
VERSION = 1
SEEDS = (0, 1, 2)
HALVINGS = 12
"""With which the end of a slider is found."""
BUDGET = 640_000
"""Bytes of modules and arrays in a document: with the page, below 1 MB."""
MOST = 32
"""Variants of one experiment."""
MOST_SHAPES = 12
"""Variants of it with kernels of their own, and the bytes of all of these."""
MOST_BYTES = 300_000


def document(
    paper: Paper,
    ids: Sequence[str] | None = None,
    overrides: Mapping[str, Value] | None = None,
    *,
    most: int = MOST,
) -> Json:
    """The document of a paper, or of some of its experiments, of `most` variants each.

    An experiment that has no kernel is listed with the reason; one that was asked for
    by name raises `Unsupported`.
    """
    recipes = paper.recipes if ids is None else [paper.recipe(id) for id in ids]
    several = len(recipes) > 1
    budget = BUDGET // len(recipes) if several else BUDGET
    pool = Pool()
    experiments, missing, first = [], [], None
    for recipe in recipes:
        chosen = replace(recipe, setting=recipe.with_overrides(overrides or {}))
        try:
            writer = _Writer(paper, chosen, pool, budget=budget, choices=not several)
            experiments.append(writer.json(most))
            first = first or writer.experiment
        except Unsupported as error:
            if ids is not None:
                raise
            missing.append({"id": recipe.id, "title": recipe.title, "why": str(error)})
    if not experiments:
        raise Unsupported(f"No experiment of {paper.slug} can be played in a page.")
    whole = {
        "version": VERSION,
        "attnflow": version("attnflow"),
        "paper": _paper_json(paper),
        "modules": pool.modules,
        "arrays": pool.arrays,
        "experiments": experiments,
        "missing": missing,
    }
    if first is not None and not several and find_spec("wasmtime"):
        from attnflow.browser.explorer.replay import agreement

        experiments[0]["agreement"] = agreement(whole, first)
    return whole


def _paper_json(paper: Paper) -> Json:
    fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\}\s*[,\n]", paper.bibtex, re.S))
    url = fields.get("url") or (
        f"https://arxiv.org/abs/{fields['eprint']}" if "eprint" in fields else ""
    )
    people = " ".join(fields.get("author", "").split()).strip("{}").split(" and ")
    authors = [" ".join(reversed(p.split(", ", 1))) for p in people]
    return {
        "slug": paper.slug,
        "letter": paper.letter,
        "title": paper.title,
        "authors": ", ".join(authors),
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
    """Writes one experiment into a pool, within a number of bytes."""

    def __init__(
        self, paper: Paper, recipe: Recipe, pool: Pool, *, budget: int, choices: bool
    ):
        self.paper, self.pool, self.choices = paper, pool, choices
        if isinstance(recipe.experiment(recipe.setting), Computation):
            raise Unsupported("It trains nothing: there is nothing to play.")
        self.declared = recipe
        self.limit = pool.size + budget
        self.default = self._reduced(recipe, budget)
        self.setting = self.recipe.setting
        self.experiment = self.default.setup.experiment
        self.presets = self._presets()

    def _reduced(self, recipe: Recipe, budget: int) -> Variant:
        """The default variant, at fewer test samples and dimensions if need be."""
        setting = recipe.setting
        while True:
            self.recipe = replace(recipe, setting=derived(setting))
            self.names = knobs.number_names(self.recipe.setting)
            self.kernels = Kernels(Pool())
            smaller = _smaller(setting)
            try:
                variant_of(self.recipe, self.names, {"seed": 0}, self.kernels)
            except ValueError:
                # Not every size can be halved.
                if smaller is None or setting is recipe.setting:
                    raise
            else:
                if self.kernels.pool.size <= budget // 2 or smaller is None:
                    break
            setting = smaller
        if self.kernels.pool.size > budget:
            raise Unsupported(
                f"Its arrays take {self.kernels.pool.size / 1e6:.1f} MB, more than a "
                "page may have."
            )
        self.kernels = Kernels(self.pool)
        self.rows = StageRows(self.paper)
        return variant_of(self.recipe, self.names, {"seed": 0}, self.kernels, self.rows)

    def json(self, most: int) -> Json:
        """The experiment as data."""
        variants = self._variants(most)
        first = variants[0]
        used = [n for n in self.names if any(n in v.used for v in variants)]
        free = [n for n in used if n not in first.json["fixed"]]
        sliders = {n: knob for n in free if (knob := self._slider(n, first))}
        changeable = list(sliders)
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
                *sliders.values(),
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
            "stages": [
                {"name": r["name"], "meaning": r["meaning"], "colour": n}
                for n, r in enumerate(first.json["rows"])
            ],
            "conserved": [],
            "claims": claims_of(self.paper, self.recipe.id),
            "maps": [],
            "compare": self._compare(choices),
            "agreement": None,
            "reduced": {
                n: [getattr(self.declared.setting, n), getattr(self.setting, n)]
                for n in ("test_samples", "embed")
                if getattr(self.declared.setting, n, None)
                != getattr(self.setting, n, None)
            },
            "command": f"attnflow run {name}",
            "python": f'af.run("{name}")',
        }

    def _slider(self, name: str, variant: Variant) -> Json | None:
        """A slider that spans what set-up allows; `None` if that is one value."""
        knob = self._number(name, variant)
        numbers = {n: getattr(self.setting, n) for n in self.names}

        def is_fine(value: float) -> bool:
            return holds(variant.setup, {**numbers, name: value})

        default, log = knob["default"], knob["scale"] == "log"
        for end in ("low", "high"):
            inside, outside = default, knob[end]
            if is_fine(outside):
                continue
            for _ in range(HALVINGS):
                middle = (inside * outside) ** 0.5 if log else (inside + outside) / 2
                inside, outside = (
                    (middle, outside) if is_fine(middle) else (inside, middle)
                )
            knob[end] = float(f"{inside:.6g}")
            if not is_fine(knob[end]):
                knob[end] = inside
        return knob if knob["low"] < knob["high"] else None

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

    def _variants(self, most_variants: int) -> list[Variant]:
        """The default first, then others as far as they can be built."""
        made = {_key({"seed": 0}): self.default}
        shapes, most = 1, self._most_shapes()
        for choices in self._combinations():
            if len(made) >= most_variants or self.pool.size > self.limit:
                break
            key = _key(choices)
            if key in made or (shapes >= most and not self._is_cheap(choices)):
                continue
            before = len(self.kernels.plans)
            try:
                made[key] = self._variant(choices)
            except (ValueError, Unsupported, NotImplementedError):
                continue
            shapes += len(self.kernels.plans) > before
        return list(made.values())

    def _most_shapes(self) -> int:
        """Large kernels take seconds to compile: of them there are fewer."""
        size = sum(len(self.pool.modules[p["module"]]) for p in self.kernels.plans)
        return min(MOST_SHAPES, max(2, MOST_BYTES // size))

    def _variant(self, choices: Mapping[str, Any]) -> Variant:
        fields = {n: v for n, v in choices.items() if n != "seed"}
        other = derived(replace(self.declared.setting, **fields))
        usual = derived(self.declared.setting)
        moved = [n for n in self.names if getattr(other, n) != getattr(usual, n)]
        if any(n not in fields for n in moved):
            raise Unsupported(f"{moved} have other values by default at {fields}.")
        return variant_of(self.recipe, self.names, choices, self.kernels, self.rows)

    def _is_cheap(self, choices: Mapping[str, Any]) -> bool:
        """Whether a combination needs no kernel of its own."""
        fields = knobs.fields_of(self.setting)
        return all(n == "seed" or fields[n].traced for n in choices)

    def _combinations(self) -> list[Mapping[str, Any]]:
        """Combinations of choices by how much they are wanted."""
        fields = knobs.fields_of(self.setting)
        settings = [preset.setting for preset in self.presets]
        lost = self.default.json["fixed"]
        values = knobs.values_of(self.setting, settings, lost)
        default = {name: options[0] for name, options in values.items()}
        wanted: list[dict[str, Any]] = [{"seed": seed} for seed in SEEDS]
        # Numbers that are no shapes, and rules, cost little.
        cheap = [n for n in values if fields[n].traced or n in knobs.TRAINING]
        if self.choices:
            wanted += [
                {n: getattr(p.setting, n) for n in values} | {"seed": 0}
                for p in self.presets
            ]
            others = [n for n in values if n not in cheap]
        else:
            others = []
        names = [*cheap, *others]
        # By turns, so that a field with many values does not take all the room.
        for turn in range(1, max((len(v) for v in values.values()), default=0)):
            wanted += [
                {name: values[name][turn], "seed": 0}
                for name in names
                if turn < len(values[name])
            ]
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
                if value == getattr(self.setting, name):
                    continue
                pair: Json = {"label": f"{value}", "setting": {name: value}}
                if value == "flow" and hasattr(self.setting, "learning_rate"):
                    # So that both cover the same training time.
                    pair["scaled"] = {"steps": "learning_rate"}
                pairs.append(pair)
        kind = type(self.setting)
        return pairs + [
            {"label": other.title, "experiment": other.id, "setting": {}}
            for other in self.paper.recipes
            if type(other.setting) is kind and other.id != self.recipe.id
        ]


def derived(setting: Any) -> Any:
    """The setting with values for fields that are none, where it knows them."""
    values = getattr(setting, "derived", None)
    return setting if values is None else replace(setting, **values())


def _smaller(setting: Any) -> Any | None:
    """The setting with fewer test samples, then dimensions; `None` if it is small."""
    for name, least in (("test_samples", 20), ("embed", 200)):
        value = getattr(setting, name, None)
        if isinstance(value, int) and least < value < 10**6:
            return replace(setting, **{name: max(least, 2 * value // 5)})
    return None


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
