"""One experiment of a document: its variants, knobs, presets and sizes, as data."""

import dataclasses
import itertools
import math
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attnflow.browser.explorer import knobs
from attnflow.browser.explorer.claims import claims_of
from attnflow.browser.explorer.panels import panels_of
from attnflow.browser.explorer.stages import StageRows
from attnflow.browser.explorer.variants import (
    Kernels,
    Pool,
    Traced,
    Variant,
    program_json,
    variant_of,
)
from attnflow.browser.kernel import Kernel
from attnflow.browser.lowering import Unsupported
from attnflow.browser.setup import holds
from attnflow.experiments.record import Computation, Experiment
from attnflow.observables import find
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.settings import plain

Json = dict[str, Any]
SEEDS = (0, 1, 2)
HALVINGS = 12
"""With which the end of a slider is found."""
BUDGET = 640_000
"""Bytes of modules and arrays in a document: with the page, below 1 MB."""
LARGEST = 800_000
"""Bytes beyond which a variant is left out again."""
MOST_SHAPES = 12
"""Variants with kernels of their own, and the bytes of all of these."""
MOST_BYTES = 300_000
SHRUNK = (("test_samples", 20), ("embed", 200))
"""Sizes that a page may have smaller than the paper, in order, and down to what."""
LAST_RESORT = (("test_samples", 4), ("samples", 4))
"""The same where that is not enough, with as many samples of either class."""

MAPPED = ("attention", "score", "attention_per_class")
"""Observables that are drawn as a map, the first one that is recorded."""


@dataclass(frozen=True)
class _Preset:
    exhibit: str
    title: str
    setting: Any
    seed: int
    overrides: Mapping[str, Any]


@dataclass(frozen=True)
class Shared:
    """What experiments of one paper share: kernels, and sizes that fit into a page.

    By the shape of a setting, how many times it is made smaller: looked for once.
    """

    compiled: dict[Hashable, Kernel] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


class Writer:
    """Writes one experiment into a pool, up to a number of bytes.

    `choices`: with kernels for other shapes than those of the default and of figures.
    """

    limit = 0
    choices = True

    def __init__(self, paper: Paper, recipe: Recipe, shared: Shared):
        self.paper, self.shared = paper, shared
        if isinstance(recipe.experiment(recipe.setting), Computation):
            raise Unsupported("It trains nothing: there is nothing to play.")
        recipe = _with_map(paper, recipe)
        self.declared = recipe
        self.recipe, self.size, self.traced = self._reduced(recipe)
        self.setting = self.recipe.setting
        self.names = knobs.number_names(self.setting)
        self.presets = self._presets()

    def _reduced(self, recipe: Recipe) -> tuple[Recipe, int, Traced]:
        """The experiment, with fewer test samples and dimensions if need be.

        And the size of its arrays and modules, and its set-up.
        """
        key = _shape(recipe.setting)
        usual = _smaller(recipe.setting, SHRUNK)
        rest = _smaller(_balanced(recipe.setting), LAST_RESORT)
        settings = [recipe.setting, *usual, *rest]
        found: dict[int, tuple[Recipe, int, Traced]] = {}

        def size_of(n: int) -> float:
            if n not in found:
                chosen = replace(recipe, setting=derived(settings[n]))
                pool = Pool()
                kernels = Kernels(pool, self.shared.compiled)
                names = knobs.number_names(chosen.setting)
                try:
                    variant = variant_of(chosen, names, {"seed": 0}, kernels)
                except ValueError:
                    # Some settings are not valid at half their size.
                    if n == 0:
                        raise
                    return math.inf
                found[n] = (chosen, pool.size, variant.traced)
            return found[n][1]

        def fits(n: int) -> bool:
            return size_of(n) <= BUDGET // 2

        # The whole size mostly fits. If not, halve the range of those that may.
        best = self.shared.sizes.get(key, 0)
        if not fits(best):
            best = bisect_left(range(len(usual) + 1), True, lo=1, key=fits)
            others = range(min(best, len(usual)), len(settings))
            smallest = min(found, key=size_of)
            best = next((n for n in others if size_of(n) <= BUDGET), smallest)
        chosen, size, traced = found[best]
        if size > BUDGET:
            raise Unsupported(
                f"Its arrays take {size / 1e6:.1f} MB, and a page has room for "
                f"{BUDGET / 1e6:.2f}: choose smaller sizes ({_sizes(recipe.setting)})."
            )
        self.shared.sizes[key] = best
        return chosen, size, traced

    def join(self, pool: Pool) -> None:
        """Write the default variant into a pool."""
        self.pool, self.kernels = pool, Kernels(pool, self.shared.compiled)
        self.rows = StageRows(self.paper, self.recipe.id)
        start = {"seed": 0}
        self.default = variant_of(
            self.recipe, self.names, start, self.kernels, self.rows, self.traced
        )
        self.experiment = self.default.setup.experiment

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
            "given": self._given(),
            "presets": self._preset_json(changeable, variants),
            "plans": self.kernels.plans,
            "variants": [v.json for v in variants],
            "programs": [
                program_json(self.pool, *parts)
                for parts in zip(
                    self.rows.programs,
                    self.rows.modules,
                    self.rows.drifts,
                    strict=True,
                )
            ],
            "observables": observables,
            "panels": panels_of(self.paper, self.recipe.id, observables, first),
            "attention": _attention(observables, first.setup.labels),
            "stages": [
                {"name": r["name"], "meaning": r["meaning"], "colour": n}
                for n, r in enumerate(first.json["rows"])
            ],
            "claims": claims_of(
                self.paper, self.recipe.id, self.rows.programs[0]["judges"]
            ),
            "maps": [],
            "compare": self._compare(choices),
            "agreement": None,
            "fixed": [
                {"name": n, "label": n.replace("_", " "), "value": value}
                for n, value in first.json["fixed"].items()
                if n not in choices
            ],
            "reduced": {
                n: [getattr(self.declared.setting, n), getattr(self.setting, n)]
                for n in (*dict((*SHRUNK, *LAST_RESORT)), "classes")
                if getattr(self.declared.setting, n, None)
                != getattr(self.setting, n, None)
            },
            "command": f"attnflow run {name}",
            "python": f'af.run("{name}")',
        }

    def _given(self) -> Json:
        """What differs from the experiment itself: what was asked for, and sizes."""
        usual = plain(dataclasses.asdict(self.paper.recipe(self.recipe.id).setting))
        declared = dataclasses.asdict(self.declared.setting)
        mine = plain(dataclasses.asdict(self.setting))
        return {
            name: value
            for name, value in mine.items()
            if value != usual[name] and declared[name] is not None
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
            contents = len(self.pool.modules), len(self.pool.arrays)
            try:
                variant = self._variant(choices)
            except (ValueError, Unsupported, NotImplementedError):
                continue
            if self.pool.size > LARGEST:
                self.pool.cut(*contents)
                self.kernels.cut(before)
                continue
            made[key] = variant
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
        # Fields that are not shapes, and training rules, take little space.
        cheap = [n for n in values if fields[n].traced or n in knobs.TRAINING]
        firsts = {p.exhibit: p for p in reversed(self.presets)}
        wanted += [
            {n: getattr(p.setting, n) for n in values} | {"seed": 0}
            for p in (self.presets if self.choices else firsts.values())
        ]
        others = [n for n in values if n not in cheap] if self.choices else []
        names = [*cheap, *others]
        # Fields take turns, so that one with many values does not use up the space.
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
        seen: set[tuple[str, str]] = set()
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
            if (preset.exhibit, _key(changes)) in seen:
                continue
            seen.add((preset.exhibit, _key(changes)))
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
                    # Both must cover the same training time.
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


def _smaller(setting: Any, sizes: Sequence[tuple[str, int]]) -> list[Any]:
    """The setting with one size after the other smaller and smaller."""
    settings = []
    for name, least in sizes:
        value = getattr(setting, name, None)
        while isinstance(value, int) and least < value < 10**6:
            value = max(least, 2 * value // 5)
            setting = replace(setting, **{name: value})
            settings.append(setting)
    return settings


def _balanced(setting: Any) -> Any:
    """The setting with equal classes: a few drawn samples may all be of one."""
    is_drawn = getattr(setting, "classes", None) == "drawn"
    return replace(setting, classes="equal") if is_drawn else setting


def _sizes(setting: Any) -> str:
    """Sizes of a setting, as overrides are written."""
    names = ("samples", "embed")
    there = {n: v for n in names if isinstance(v := getattr(setting, n, None), int)}
    return "now " + " ".join(f"{n}={v}" for n, v in there.items())


def _shape(setting: Any) -> str:
    """All of a setting but its numbers, on which no array's size depends."""
    values = dataclasses.asdict(setting).items()
    kept = [(n, v) for n, v in values if not (v is None or isinstance(v, float))]
    return repr((type(setting), kept))


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


def _with_map(paper: Paper, recipe: Recipe) -> Recipe:
    """The experiment, which records what others of its kind show as a map.

    Unless it has a map already, or was asked for with other records than its own.
    """
    kind = type(recipe.setting)
    alike = {r.id: r.setting.record for r in paper.recipes if _records(r, kind)}
    own = getattr(recipe.setting, "record", ())
    known = {name for record in alike.values() for name in record}
    mapped = next((name for name in MAPPED if name in known), None)
    if mapped is None or own != alike.get(recipe.id) or {*MAPPED} & {*own}:
        return recipe
    return replace(recipe, setting=replace(recipe.setting, record=(*own, mapped)))


def _records(recipe: Recipe, kind: type) -> bool:
    return type(recipe.setting) is kind and hasattr(recipe.setting, "record")


def _attention(
    observables: Sequence[Json], labels: Mapping[str, Sequence[str]]
) -> Json | None:
    """The observable to draw as a map: attention or scores; a single row comes last."""
    by_name = {o["name"]: o for o in observables}
    tables = [
        {"observable": name, "dims": by_name[name]["dims"]}
        for name in MAPPED
        if name in by_name and len(by_name[name]["dims"]) >= 2
    ]
    wide = [t for t in tables if len(labels.get(t["dims"][-2], "several")) > 1]
    return next(iter([*wide, *tables]), None)
