"""Mixed experiments by name: `mix/TASK`, found where experiments of papers are."""

from attnflow.experiments.mixing import settings
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Recipe

NAMES = {
    "signal-noise": settings.SignalNoiseMix,
    "disjoint-noise": settings.DisjointNoiseMix,
    "cooccurrence": settings.CooccurrenceMix,
    "cooccurrence-orbits": settings.CooccurrenceOrbitsMix,
    "mixture": settings.MixtureMix,
    "noisy-patches": settings.NoisyPatchesMix,
    "in-context": settings.InContextMix,
    "signal-classes": settings.SignalClassesMix,
}

MIX = Paper(
    slug="mix",
    letter="",
    title="Mixed experiments: any task, any parts of a model, any rule",
    version_read="",
    bibtex="",
    recipes=tuple(
        Recipe(
            name,
            f"{kind.task_kind.__name__} with parts and a rule of your choice",
            kind(),
            "attnflow.experiments.mixing.build:build",
        )
        for name, kind in NAMES.items()
    ),
    exhibits=(),
    claims=(),
    notes=(),
    inventory={},
    headline="",
    headline_claims=(),
    summary="Parts of papers put together otherwise.",
)
"""What is mixed, in the shape of a paper, so that `run` and `sweep` know it too."""
