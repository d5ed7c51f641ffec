"""Mixed experiments by name: `mix/TASK`, found where experiments of papers are."""

from attnflow.mixing.parts import TASKS
from attnflow.mixing.settings import mixed_setting
from attnflow.paper import Paper, Recipe

MIX = Paper(
    slug="mix",
    letter="",
    title="Mixed experiments: any task, any parts of a model, any rule",
    version_read="",
    bibtex="",
    recipes=tuple(
        Recipe(
            name,
            f"{task.__name__} with parts and a rule of your choice",
            mixed_setting(task),
            "attnflow.mixing.build:build",
        )
        for name, task in TASKS.items()
    ),
    exhibits=(),
    claim_list=(),
    notes=(),
    inventory={},
    headline="",
    headline_claims=(),
    summary="Parts of papers put together otherwise.",
)
"""What is mixed, in the shape of a paper, so that `run` and `sweep` know it too."""
