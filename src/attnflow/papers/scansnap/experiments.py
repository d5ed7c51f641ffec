"""Experiments of `scansnap`, built from their settings."""

from typing import Any

import numpy as np

from attnflow.data.sequence_classes import AlikeClasses, SequenceClasses
from attnflow.experiments import Builder, Computation, SystemExperiment
from attnflow.experiments.next_token import JointTables, plain_reason
from attnflow.papers.scansnap import settings
from attnflow.papers.scansnap.computations import FUNCTIONS
from attnflow.papers.scansnap.stages.formulas import scale_of
from attnflow.papers.scansnap.systems.quasi_static import QuasiStaticModel
from attnflow.papers.scansnap.systems.scalar_model import ScalarExperimentModel
from attnflow.training import Grid, Stage
from attnflow.training.rules import Rule, rule_of, trained_by
from attnflow.training.stages import BOTH

BUILD = Builder("scansnap", "scansnap2023")
SYSTEMS = "attnflow.papers.scansnap.systems"
# Before this share of K/η_Y nothing has moved.
EARLIEST = 1e-3


def syn_layout(setting: settings.Steps) -> AlikeClasses:
    """Layout of Syn-Small and Syn-Medium: common weights 1, distinct from 0.1 to 1."""
    rising = np.linspace(0.1, 1.0, setting.distinct)
    return AlikeClasses(
        setting.queries,
        setting.classes_per_query,
        (1.0,) * setting.common,
        tuple(rising.tolist()),
        common_per_query=(1.0,) * setting.common_per_query,
    )


def flow_layout(setting: settings.Flows) -> AlikeClasses:
    """Layout of identical classes with one query, or one each, for any vocabulary."""
    per_class = setting.own_queries
    return AlikeClasses(
        setting.classes if per_class else 1,
        1 if per_class else setting.classes,
        (1.0,) * setting.common,
        setting.distinct,
        vocabulary=setting.vocabulary,
    )


def general_classes(setting: settings.Given) -> SequenceClasses:
    """Sequence classes from a table of probabilities.

    Tokens are in the order: contextual, queries, next tokens, unseen ones.
    """
    K = setting.classes
    tokens, odd = divmod(len(setting.probability), K)
    if odd or not tokens:
        raise ValueError(
            f"probability has {len(setting.probability)} entries for {K} classes: give "
            "as many for each class."
        )
    numbers = setting.query or (0,) * K
    queries = max(numbers) + 1
    rest = setting.vocabulary - tokens - queries - K
    if rest < 0 or min(numbers) < 0 or len(numbers) != K:
        raise ValueError(
            f"vocabulary is {setting.vocabulary} and query {numbers}: there are "
            f"{tokens} contextual tokens, {queries} queries and {K} next tokens. Give "
            "each class the number of a query, and at least as many tokens."
        )
    table = np.zeros((K, tokens + queries + K + (rest > 0)))
    table[:, :tokens] = np.reshape(setting.probability, (K, tokens))
    counts = (1,) * (tokens + queries + K) + ((rest,) if rest else ())
    return SequenceClasses(
        probability=tuple(map(tuple, table.tolist())),
        query=tuple(tokens + m for m in numbers),
        next_token=tuple(range(tokens + queries, tokens + queries + K)),
        multiplicity=counts,
        queries=tuple(range(tokens, tokens + queries)),
        names=(
            *(f"token{i}" for i in range(tokens)),
            *(f"query{m}" for m in range(queries)),
            *(f"next{n}" for n in range(K)),
            *(("unseen",) if rest else ()),
        ),
    )


def steps(setting: settings.Steps) -> SystemExperiment:
    """Experiment: J by steps of descent."""
    layout, rule = syn_layout(setting), trained_by(setting)
    width = layout.size**-0.5 if setting.start == "uniform" else 0.0
    score_start = width if setting.score_start is None else setting.score_start
    model = JointTables(
        layout,
        rates=(setting.score_rate, setting.value_rate),
        normalised=setting.normalised,
        residual=setting.residual,
        score_start=score_start,
        value_start=width if setting.value_start is None else setting.value_start,
        length=setting.length,
        batch=setting.batch,
        steps=setting.steps,
        stream=setting.stream,
        embed=setting.embed,
        form_name=setting.form,
        plain=plain_reason(tuple(rule["rule"].values()), score_start),
    )
    times = dict.fromkeys((*range(0, setting.steps, setting.every), setting.steps))
    names = setting.record
    if setting.length is None:
        names = tuple(name for name in names if name != "batch_loss")
    return BUILD.system(
        setting,
        model=model,
        stages=(Stage(until=setting.steps, **rule),),
        grid=Grid(points=tuple(float(t) for t in times)),
        observables=names,
    )


def flows(setting: settings.Flows) -> SystemExperiment:
    """Experiment: J or Q by gradient flow on identical classes."""
    return _flow(setting, _flow_model(setting, flow_layout(setting)))


def general_flows(setting: settings.Given) -> SystemExperiment:
    """Experiment: J or Q by gradient flow on any classes."""
    return _flow(setting, _flow_model(setting, general_classes(setting)))


def _flow_model(
    setting: settings.Course, task: AlikeClasses | SequenceClasses
) -> JointTables | QuasiStaticModel:
    rates = (setting.score_rate, setting.value_rate)
    if setting.system == "J":
        return JointTables(
            task,
            rates=rates,
            normalised=setting.normalised,
            residual=setting.residual,
            form_name=setting.form,
            plain=plain_reason(_rules(setting), 0.0),
        )
    if not setting.normalised or setting.residual != "none":
        raise ValueError(
            "Q is written for the normalised model without a residual: use system=J."
        )
    return QuasiStaticModel(task, rates=rates, per_class=setting.per_class)


def scalar(setting: settings.Scalar) -> SystemExperiment:
    """Experiment: the scalar model C."""
    model = ScalarExperimentModel(
        classes=setting.classes,
        vocabulary=setting.vocabulary,
        rates=(setting.score_rate, setting.value_rate),
        scale=scale_of(vars(setting)),
    )
    return _flow(setting, model)


def _flow(
    setting: settings.Flows | settings.Given | settings.Scalar,
    model: JointTables | QuasiStaticModel | ScalarExperimentModel,
) -> SystemExperiment:
    clock = setting.classes / (setting.value_rate or setting.score_rate)
    first = min(EARLIEST * clock, EARLIEST * setting.until)
    return BUILD.system(
        setting,
        model=model,
        stages=(Stage(until=setting.until, **_trained(setting, clock)),),
        grid=Grid(setting.until, setting.records, first, "log"),
        observables=setting.record,
    )


def _trained(
    setting: settings.Course | settings.Scalar, clock: float
) -> dict[str, Any]:
    """Rule and trained parts; the rates of a flow are those of its system."""
    if setting.rule != "flow":
        return trained_by(setting, steps=setting.until)
    options = {"atol": 1e-14, "clock": "log", "scale": clock}
    return {"rule": rule_of(setting, **options), "trains": BOTH}


def _rules(setting: settings.Course) -> tuple[Rule, ...]:
    rule = _trained(setting, 1.0)["rule"]
    return tuple(rule.values()) if isinstance(rule, dict) else (rule,)


def entropy_grid(setting: settings.EntropyGrid) -> Computation:
    """Computation: the grid of Figures 6, 11 and 12."""
    return BUILD.computation(setting, f"{SYSTEMS}.grids:entropy_grid")


def decomposition(setting: settings.Decomposition) -> Computation:
    """Computation: effects of momentum, finite length and initial tables."""
    return BUILD.computation(setting, f"{SYSTEMS}.grids:decomposition")


def heights(setting: settings.Heights) -> Computation:
    """Computation: h* and h of Figure 8."""
    return BUILD.computation(setting, f"{SYSTEMS}.grids:heights")


computed = BUILD.computed({k: f"{SYSTEMS}.{path}" for k, path in FUNCTIONS.items()})
"""Builder of the computations in `computations`, by the type of their setting."""
