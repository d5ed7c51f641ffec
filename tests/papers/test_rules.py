"""Every experiment of every paper takes every optimiser, or says why it takes none."""

import dataclasses
import warnings

import numpy as np
import pytest

import attnflow as af
from attnflow.papers import SLUGS
from attnflow.schema.fields import Optimised
from attnflow.schema.settings import replace
from tests.tiny import TINY

ASKED = {"rule": "adamw", "beta2": 0.95, "weight_decay": 0.1}
RECIPES = {
    f"{slug}/{recipe.id}": recipe for slug in SLUGS for recipe in af.paper(slug).recipes
}
TAKES = [n for n, r in RECIPES.items() if isinstance(r.setting, Optimised)]
REFUSES = [n for n in RECIPES if n not in TAKES]
# Refusals of the paper's own setting: the reason, and a setting that mends it.
INFINITE = ("at infinite width there are none", {"width": 64})
OTHERWISE: dict[str, tuple[str, dict | None]] = {
    "mixture/three-stage": INFINITE,
    "mixture/stage1": INFINITE,
    "scansnap/figure3-q": ("decoder is a function of time", {"system": "J"}),
    "scansnap/figure3-c": ("scalar model is a function of time", None),
    "scansnap/figure9": ("scalar model is a function of time", None),
    "scansnap/wikitext-notebook": ("hidden_rate=none", {"hidden_rate": None}),
}


def asked(setting, **more):
    """The setting with AdamW, and a rate where it has none of its own."""
    rate = {} if setting.learning_rate else {"learning_rate": 0.01}
    return replace(setting, {**ASKED, **rate, **more})


@pytest.mark.parametrize("name", TAKES)
def test_it_is_built_with_adamw(name):
    recipe = RECIPES[name]
    why, mend = OTHERWISE.get(name, ("", {}))
    if why:
        with pytest.raises(ValueError, match=why):
            recipe.experiment(asked(recipe.setting))
    if mend is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = recipe.experiment(asked(recipe.setting, **mend))
    if hasattr(plan, "stages"):
        rules = [
            each
            for stage in plan.stages
            for each in (
                stage.rule.values() if isinstance(stage.rule, dict) else [stage.rule]
            )
        ]
        assert {type(rule).__name__ for rule in rules} == {"AdamW"}
        assert {(rule.beta2, rule.weight_decay) for rule in rules} == {(0.95, 0.1)}
    else:
        assert plan.setting["rule"] == "adamw"


@pytest.mark.parametrize("name", REFUSES)
def test_it_says_why_it_takes_no_rule(name):
    setting = RECIPES[name].setting
    why = type(setting).no_rule
    assert why.endswith(".") and len(why.split()) > 4
    own = {field.name for field in dataclasses.fields(setting)}
    for field in dataclasses.fields(Optimised):
        if field.name not in own:
            with pytest.raises(ValueError, match=why):
                replace(setting, {field.name: 0.5})


@pytest.mark.slow
def test_figure_6_by_adamw():
    """Entropies of the grid are those of single runs, by the same rule."""
    few = {"steps": 5, "length": 12, "batch": 8, "start": "zero"}
    grid = af.run(
        "scansnap/figure6",
        **{**ASKED, **few, "queries": (1,), "score_rates": (0.5,), "ratios": (2.0,)},
        store=False,
    )
    one = af.run(
        "scansnap/figure4-left",
        **{**ASKED, **few, "queries": 1, "classes_per_query": 2, "score_rate": 0.5},
        value_rate=1.0,
        store=False,
    )
    name = "mean_distinct_entropy"
    assert float(grid[name].squeeze()) == float(one[name][0, -1])
    plain = af.run("scansnap/figure4-left", **few, queries=1, store=False)
    assert float(plain[name][0, -1]) != float(one[name][0, -1])


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_paper_runs_by_adamw(name):
    """And says which form, and why."""
    sizes = {**TINY[name], "learning_rate": 0.01, **ASKED}
    ours = af.run(name, store=False, **sizes)
    assert np.isfinite(ours["loss"]).all()
    plain = {"scansnap": ("active", "asked for")}
    form, why = plain.get(name.partition("/")[0], ("weights", "AdamW does not commute"))
    assert ours.attrs["form"] == form
    assert why in ours.attrs["form_reason"]
