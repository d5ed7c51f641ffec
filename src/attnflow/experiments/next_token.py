"""Next-token prediction by joint tables, as the model of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal, cast

import numpy as np
from jaxtyping import Array, PyTree

from attnflow.data.class_counts import Counts, check_length
from attnflow.data.sequence_classes import AlikeClasses, Classes, SequenceClasses
from attnflow.data.token_sequences import on_device
from attnflow.experiments import initial_tables as initial
from attnflow.experiments.record import Arrays
from attnflow.models.forms.token_classes import (
    TableForm,
    TokenClassForm,
    spell_out,
    token_form,
)
from attnflow.models.problem.next_token import NextToken, Residual
from attnflow.models.systems.alike_classes import AlikeTraining, alike_frame, lift_of
from attnflow.models.systems.block_batches import BlockBatches
from attnflow.models.systems.block_layout import block_batches, block_of, block_widths
from attnflow.models.systems.next_token import (
    BatchTables,
    Rates,
    TokenTables,
    TokenWeights,
    draw_weights,
)
from attnflow.observables.conserved import balance_drift, table_drift
from attnflow.observables.next_token import NEXT_TOKEN
from attnflow.training.programs import Effort, Program, require_precise
from attnflow.training.rules import Flow, Rule

FormName = Literal[
    "auto", "joint", "active", "merged-outputs", "token-classes", "symmetric"
]
Tables = dict[str, Array]
System = AlikeTraining | TokenTables | BatchTables | TokenWeights | BlockBatches
Member = tuple[System, dict[str, PyTree]]
"""The system and the initial state of a seed."""


@dataclass(frozen=True)
class JointTables:
    """The true gradient of both tables.

    **Arguments:**

    - `task`: the classes of sequences.
    - `rates`: η_Z and η_Y of a flow; descents have theirs in their rules.
    - `normalised`, `residual`: as in `attnflow.models.problem.next_token`.
    - `score_start`, `value_start`: initial entries are uniform on ± these; 0 is zero.
    - `length`: T, the query among its tokens; none for long sequences.
    - `batch`, `steps`: samples of a batch, and for how many steps batches are drawn.
    - `stream`: our `own` random numbers, or the `published` runs', which need PyTorch.
    - `embed`: d of plain weights U, W_Q, W_K and W_V; none for free tables.
    - `plain`: why tables over all tokens are needed, as `plain_reason` has it.
    """

    task: Classes
    rates: tuple[float, float] = (1.0, 1.0)
    normalised: bool = True
    residual: Residual = "none"
    score_start: float = 0.0
    value_start: float = 0.0
    length: int | None = None
    batch: int = 128
    steps: int = 100
    stream: Literal["own", "published"] = "own"
    embed: int | None = None
    form_name: FormName = "auto"
    plain: str = ""
    system: ClassVar[str] = "J: the true gradient of both tables"
    registry: ClassVar = NEXT_TOKEN

    def __post_init__(self) -> None:
        initial.check_rates(*self.rates)
        for name in ("score_start", "value_start"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: initial entries lie between "
                    "plus and minus it, so that it must not be negative."
                )
        if self.length is not None:
            check_length(self.length)
            if self.batch < 1 or self.steps < 1:
                raise ValueError(
                    f"batch is {self.batch} and steps {self.steps}: draw at least one "
                    "sample for one step."
                )
        elif self.stream == "published":
            raise ValueError(
                "The published streams are of sequences of finite length: set length, "
                "as in length=128, or use stream='own'."
            )
        reason = self._inexact()
        if reason:
            raise ValueError(
                f"form_name={self.form_name!r} is not exact here: {reason}"
            )

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Why these rules cannot be followed; `None` if they can."""
        if self.length is not None and any(isinstance(rule, Flow) for rule in rules):
            return (
                f"A flow sees all samples at once, and length is {self.length}: use "
                "length=None for long sequences, or a rule of descent."
            )
        reason = plain_reason(rules, self.score_start)
        if reason and self.form()[0] not in ("joint", "weights"):
            return f"{reason}. Use form='joint'."
        return None

    def form(self) -> tuple[str, str]:
        """The name of the form, and why this one."""
        if self.embed is not None:
            return "weights", "plain weights were asked for"
        if self.form_name != "auto":
            return self.form_name, "asked for"
        if self.plain:
            return "joint", self.plain
        if self.value_start:
            return "active", "initial values differ from token to token"
        if self.score_start or self.length is not None:
            return "merged-outputs", "outputs that nobody predicts begin and move alike"
        if self._alike:
            return "symmetric", "classes are alike and begin alike"
        return "token-classes", "tokens with equal probabilities begin and move alike"

    @property
    def _alike(self) -> bool:
        task = self.task
        plain = self.normalised and self.residual == "none"
        return isinstance(task, AlikeClasses) and plain and not task.common_per_query

    def _inexact(self) -> str | None:
        name = self.form_name
        merged = name in ("merged-outputs", "token-classes", "symmetric")
        if merged and self.value_start:
            return "initial values differ from token to token. Use form='active'."
        if name in ("token-classes", "symmetric") and self.score_start:
            return "initial scores differ from token to token. Use 'merged-outputs'."
        if name in ("token-classes", "symmetric") and self.length is not None:
            return "counts differ from token to token. Use 'merged-outputs'."
        if name == "symmetric" and not self._alike:
            return (
                "classes are not alike, or the model is another. Use 'token-classes'."
            )
        return None

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Labels of the dims of observables."""
        name, task = self._table_form(), self.task.sequence_classes()
        return dict(_labels(name, task, self.residual != "none"))

    def members(self, seeds: Sequence[int], weights: Arrays | None) -> list[Member]:
        """The system and the initial state of each seed."""
        if self.form()[0] == "symmetric":
            initial.refuse_tables(weights)
            return [self._symmetric() for _ in seeds]
        if self._in_blocks:
            if weights is not None:
                return self.blocks(seeds, weights)
            # Rates are the rules' own: a sweep over them prepares its seeds once.
            return list(_kept_blocks(replace(self, rates=(1.0, 1.0)), tuple(seeds)))
        form, task = self._tables()
        return [self._member(form, task, seed, weights) for seed in seeds]

    @property
    def _in_blocks(self) -> bool:
        plain = self.normalised and self.residual == "none" and self.embed is None
        return plain and self.length is not None

    def _table_form(self) -> TableForm:
        name = self.form()[0]
        tables = {"symmetric": "token-classes", "weights": "joint"}
        return cast(TableForm, tables.get(name, name))

    def _tables(self) -> tuple[TokenClassForm, SequenceClasses]:
        task = self.task.sequence_classes()
        name, residual = self._table_form(), self.residual != "none"
        return token_form(name, task, residual=residual), task

    @property
    def _model(self) -> NextToken:
        return NextToken(self.normalised, self.residual)

    @property
    def _rates(self) -> Rates:
        return Rates(*(on_device(np.array(rate, float)) for rate in self.rates))

    def _symmetric(self) -> Member:
        assert isinstance(self.task, AlikeClasses)
        form, alike = self._tables()[0], alike_frame(self.task)
        lift = lift_of(self.task, form)
        system = AlikeTraining(alike, form.frame, lift, self._rates, self._model)
        return system, alike.zeros()

    def _member(
        self,
        form: TokenClassForm,
        task: SequenceClasses,
        seed: int,
        weights: Arrays | None,
    ) -> Member:
        drawn = counts = None
        if self.length is not None:
            drawn, counts = self._draws(seed)
        if self.embed is not None:
            state = self._weights(task, seed, weights)
        else:
            form, state = self._initial(form, task, seed, weights, drawn)
        if counts is None:
            system = TokenTables(form.frame, self._model, self._rates)
        else:
            arrays = on_device(counts.label), on_device(counts.counts)
            system = BatchTables(form.frame, self._model, *arrays)
            state = {**state, "step": on_device(np.array(0))}
        if self.embed is not None:
            system = TokenWeights(system, self._rates)
        return system, state

    def blocks(self, seeds: Sequence[int], weights: Arrays | None) -> list[Member]:
        """Each seed's system of batches in blocks, all of one shape, and its state."""
        form, task = self._tables()
        drawn = [self._draws(seed) for seed in seeds]
        widths = block_widths(
            [counts.label for _, counts in drawn],
            block_of(np.asarray(form.frame.query)),
            len(form.columns),
        )
        members = []
        for seed, (tables, counts) in zip(seeds, drawn, strict=True):
            mine, state = self._initial(form, task, seed, weights, tables)
            system = block_batches(mine.frame, counts, widths=widths)
            members.append((system, system.begin(state)))
        return members

    def _initial(
        self,
        form: TokenClassForm,
        task: SequenceClasses,
        seed: int,
        weights: Arrays | None,
        drawn: Arrays | None,
    ) -> tuple[TokenClassForm, Tables]:
        """The form with what idle scores are, and the initial tables."""
        if weights is not None:
            tables = initial.checked_tables(weights, task, form)
        elif not (self.score_start or self.value_start):
            return form, form.frame.zeros()
        else:
            widths = {"scores": self.score_start, "values": self.value_start}
            tables = initial.initial_tables(widths, task, seed, drawn)
            if form.name == "joint":
                kind = np.repeat(np.arange(task.kinds), task.counts)
                tables = {n: t[np.ix_(kind, kind)] for n, t in tables.items()}
        return form.with_idle(tables["scores"]), form.take(tables)

    def _weights(
        self, task: SequenceClasses, seed: int, weights: Arrays | None
    ) -> dict[str, Tables]:
        if weights is not None:
            return initial.checked_weights(weights, task)
        assert self.embed is not None
        return draw_weights(
            task.vocabulary, self.embed, initial.generator_of(seed, "weights")
        )

    def _draws(self, seed: int) -> tuple[Arrays | None, Counts]:
        assert self.length is not None
        task = self.task.sequence_classes()
        return initial.batches(
            task, seed, self.steps, self.batch, self.length, self.stream
        )

    def drift(self, system: PyTree, before: PyTree, after: PyTree) -> float:
        """The drift of what a flow conserves: sums of rows, or balances of weights."""
        if self.embed is not None:
            pairs = [
                [s["scores"][n].T for n in ("W_K", "W_Q")] for s in (before, after)
            ]
            return balance_drift(*pairs[0], *pairs[1])
        tables = [_TABLES(Effort.LEAST, system, state) for state in (before, after)]
        return table_drift(system.frame, *tables)


def _tables(system: PyTree, state: PyTree) -> PyTree:
    return system.tables(state)


# One program: computed eagerly, the tables of identical classes took twenty.
_TABLES = Program(_tables)


def plain_reason(rules: Sequence[Rule], score_start: float) -> str:
    """Why rules need tables over all tokens; empty where they do not."""
    whole = [rule.name for rule in rules if rule.sees != "entries"]
    if whole:
        return (
            f"{whole[0]} sees the whole gradient, of which smaller tables hold each "
            "entry once, however often it counts"
        )
    if score_start and any(rule.weight_decay for rule in rules):
        return "weight decay also moves scores of tokens that no sample has"
    return ""


# A sweep asks for the labels of one form again and again.
@lru_cache(maxsize=16)
def _labels(
    name: TableForm, task: SequenceClasses, residual: bool
) -> dict[str, tuple[str, ...]]:
    form = token_form(name, task, residual=residual)
    return form.labels(spell_out(task) if name == "joint" else task)


@lru_cache(maxsize=4)
def _kept_blocks(model: JointTables, seeds: tuple[int, ...]) -> list[Member]:
    # Later runs reuse these numbers, so they must not be stored in float32.
    require_precise()
    return model.blocks(seeds, None)


def forget_draws() -> None:
    """Forget what was drawn and prepared; whoever times training draws afresh."""
    initial.batches.cache_clear()
    _kept_blocks.cache_clear()
