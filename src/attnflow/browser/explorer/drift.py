"""What gradient flow conserves: its drift along a run, computed in the page.

`attnflow.observables.conserved` compares the states before and after a run by NumPy. It
is called with arrays that JAX traces, and becomes a module like that of the set-up.
"""

import functools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
from jax.core import Tracer
from jax.extend import core
from jax.interpreters.partial_eval import dce_jaxpr

from attnflow.browser.explorer.statistics import Followed
from attnflow.browser.setup import SetUp, SetUpModule, compiled
from attnflow.browser.trace import named
from attnflow.experiments.record import Experiment
from attnflow.observables import conserved
from attnflow.training import precise

Json = dict[str, Any]
LAWS = {
    "Transport": "N K Nᵀ of the scores, K = diag(I, −I)",
    "PromptScores": "N K Nᵀ of the scores, K = diag(I, −I)",
    "ChainTransport": "N K Nᵀ of the values, K = diag(I, −1/gain)",
    "SeenChain": "N K Nᵀ of the values, K = diag(I, −1/gain)",
    "NeuronTransport": "N K Nᵀ of values and neurons, K = diag(I, −1/gain)",
    "Gram": "tr K⁻¹P and tr (K⁻¹P)² of the Gram matrices P, K = diag(I, −I)",
    "ChainGram": "tr K⁻¹P and tr (K⁻¹P)² of the values, K = diag(I, −1/gain)",
    "ScoreWeights": "W_K W_Kᵀ − W_Q W_Qᵀ",
    "ChainWeights": "W_V W_Vᵀ − w_O w_Oᵀ",
    "NeuronWeights": "W_V W_Vᵀ − Wᵀ W",
}
"""What a part of a form conserves, as the table of `observables.conserved` has it."""
SUMS = "the sums of all rows of the tables Y and Z"


def drift_of(setup: SetUp) -> tuple[SetUpModule, Json] | None:
    """The module of the drift between two states, and what it reads.

    `None` where nothing is known to be conserved, or where it cannot be followed.
    """
    stage, experiment = setup.stages[0], setup.experiment
    with precise():
        system = stage.system(stage.inputs)
        kinds = (stage.inputs, stage.state, stage.state)
        laws = [SUMS]
        if isinstance(experiment, Experiment):
            laws = _laws(system.form)

        def program(*floats: Any) -> Any:
            # A page stores integers as floats.
            trees = jax.tree.map(lambda x, like: x.astype(like.dtype), floats, kinds)
            inputs, before, after = trees
            whole = stage.system(inputs)
            if isinstance(experiment, Experiment):
                value = conserved.drift(whole.form, before, after)
            else:
                value = experiment.model.drift(whole, before, after)
            return jnp.asarray(value.array if isinstance(value, Followed) else value)

        try:
            with _followed():
                floats = jax.tree.map(lambda x: x.astype(float), kinds)
                jaxpr = jax.make_jaxpr(program)(*floats)
            least, used = dce_jaxpr(jaxpr.jaxpr, [True])
            states = [(f"{n}", a) for n, (_, a) in enumerate(named(stage.state))]
            every = [
                *(({"part": "inputs", "name": n}, a) for n, a in named(stage.inputs)),
                *(({"part": "before", "n": int(n)}, a) for n, a in states),
                *(({"part": "after", "n": int(n)}, a) for n, a in states),
            ]
            kept = [item for item, is_used in zip(every, used, strict=True) if is_used]
            if not any(read["part"] == "after" for read, _ in kept):
                return None
            closed = core.ClosedJaxpr(least, jaxpr.consts)
            draw = np.random.default_rng(0)
            examples = [draw.uniform(1, 2, array.shape) for _, array in kept]
            module = compiled(closed, ["drift"], [], examples)
        except Exception:
            # A drift that cannot be traced or lowered is left out: nothing else depends
            # on it.
            return None
    return module, {"laws": laws, "reads": [read for read, _ in kept]}


def _laws(form: Any) -> list[str]:
    names = [type(part).__name__ for part in (form.scores, form.values)]
    return [LAWS[name] for name in names if name in LAWS]


@contextmanager
def _followed() -> Iterator[None]:
    """Let arrays that JAX traces through functions that are written for NumPy."""
    plain = np.asarray

    def asarray(array: Any, *args: Any, **options: Any) -> Any:
        if isinstance(array, Tracer):
            return Followed(array)
        if isinstance(array, Followed):
            return array
        return plain(array, *args, **options)

    def largest(*items: Any) -> Any:
        values: Iterable[Any] = items[0] if len(items) == 1 else items
        return functools.reduce(np.maximum, values)

    def last(size: int, entry: Any) -> Any:
        return np.append(np.ones(size - 1), entry)

    def sums(weight: Any, before: Any, after: Any) -> Any:
        size = np.maximum(np.abs(after), np.abs(before)) @ weight
        change = np.abs((after - before) @ weight)
        return np.max(change / np.where(size > 0, size, 1.0))

    patches = {"float": lambda x: x, "max": largest, "_last": last, "_sum_drift": sums}
    # Type checks, which tests turn on, would refuse a traced array as a NumPy array.
    checks = jaxtyping.config.jaxtyping_disable
    with ExitStack() as stack:
        jaxtyping.config.update("jaxtyping_disable", True)
        stack.callback(jaxtyping.config.update, "jaxtyping_disable", checks)
        stack.enter_context(mock.patch.object(np, "asarray", asarray))
        for name, function in patches.items():
            stack.enter_context(
                mock.patch.object(conserved, name, function, create=True)
            )
        yield
