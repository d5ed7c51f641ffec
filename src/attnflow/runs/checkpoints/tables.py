"""Tables that were given, not trained: a form that can be seen and does not move."""

from collections.abc import Mapping
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.models.forms import (
    AbstractFrame,
    AbstractPart,
    AbstractScores,
    Form,
    SelfScores,
)
from attnflow.models.forms.frames import Basis, frame_of
from attnflow.training.rules import Rule


class GivenTable(AbstractPart):
    """A table as it is; how weights would move it is not known."""

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def velocity(self, state: Array, force: Array) -> NoReturn:
        """Not known."""
        _refuse("how it moves")

    def direction(self, state: Array, force: Array) -> NoReturn:
        """Not known."""
        _refuse("how it moves")

    def move(self, state: Array, update: Any) -> NoReturn:
        """Not known."""
        _refuse("how it moves")

    def refuses(self, rule: Rule) -> str:
        """A table that was given follows no rule."""
        return "a table that was given is seen and not trained."


class GivenScores(GivenTable, AbstractScores):
    """Scores as they are; self-scores are not known."""

    def self_scores(self, state: Array) -> SelfScores:
        """Not known."""
        _refuse("self-scores")


def check_tables(arrays: Mapping[str, np.ndarray], heads: int) -> None:
    """Raise where tables have other shapes than those of this many heads."""
    scores, values = arrays["score"].shape, arrays["value"].shape
    count = values[-1] if values else 0
    if values != (heads, count) or scores != (heads, count, count):
        raise ValueError(
            f"score has shape {scores} and value {values}; they must have ({heads}, "
            f"tokens, tokens), rows for keys, and ({heads}, tokens)."
        )


def table_form(data: Sequences, test: Sequences | None, tokens: int) -> Form:
    """The form of tables over all tokens of the vocabulary, or over the shown ones."""
    own = np.asarray(data.tokens)
    shown = own[list(data.shown)]
    if tokens == len(own):
        basis, places = own, np.eye(tokens)
    elif tokens == len(shown) and (found := _along(own, shown)) is not None:
        basis, places = shown, found
    else:
        raise ValueError(
            f"The tables are over {tokens} tokens: give them over all {len(own)} of "
            f"the vocabulary ({_some(data.names)}), or over the {len(shown)} shown "
            "ones where all others are sums of these."
        )
    return Form(
        frame=_frame(data, basis, places),
        scores=GivenScores(),
        values=GivenTable(),
        name="observed",
        test_frame=_test_frame(test, basis),
    )


def _test_frame(test: Sequences | None, basis: np.ndarray) -> AbstractFrame | None:
    """Where test samples hold tokens of their own, tables do not tell of them."""
    if test is None:
        return None
    places = _along(np.asarray(test.tokens), basis)
    return None if places is None else _frame(test, basis, places)


def _frame(data: Sequences, basis: np.ndarray, places: np.ndarray) -> AbstractFrame:
    return frame_of(
        data, Basis(jnp.asarray(basis), jnp.asarray(places), orthonormal=False)
    )


def _along(tokens: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """Tokens as sums of basis vectors, exactly up to rounding; `None` if they are not.

    Integers are what opposites and sums of tokens need, and are exact.
    """
    found = np.linalg.lstsq(basis.T, tokens.T, rcond=None)[0].T
    whole = np.rint(found)
    found = whole if np.allclose(found, whole, rtol=0, atol=1e-9) else found
    size = np.abs(tokens).max(initial=1.0)
    # A least-squares solution is right to some ulps times the number of coordinates.
    fits = np.abs(found @ basis - tokens).max(initial=0.0) <= 1e-12 * size
    return found if fits else None


def _some(names: tuple[str, ...], most: int = 6) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _refuse(what: str) -> NoReturn:
    raise ValueError(
        f"Tables alone do not tell {what}, which hangs on the weights behind them: "
        "give weights."
    )
