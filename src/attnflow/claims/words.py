"""Parts of a row of the claims table as sentences."""

import math

from attnflow.claims.base import Scope
from attnflow.claims.table import Row


def scope_words(row: Row) -> str:
    """The scope in words, with the smallest slack and the items that are missed."""
    stated = " (a statement of ours)" if row.origin == "ours" else ""
    scope = f"Scope {row.scope}{stated}"
    if row.missed:
        text = f"{scope}: {'; '.join(row.missed)}."
    elif row.scope is not Scope.THEOREM:
        text = f"{scope}: {_ELSE[row.scope]}."
    elif row.slack is None:
        text = f"{scope}: none of its conditions is a numerical bound."
    else:
        near = ", the tightest by a factor of"
        least = f"{near} {row.slack:.3g}" if math.isfinite(row.slack) else ""
        text = f"{scope}: all its conditions are met{least}."
    unread = f" Not decided by numbers: {', '.join(row.unread)}." if row.unread else ""
    return f"{text}{unread}"


_ELSE = {
    Scope.EXPERIMENT: "the paper's own setting",
    Scope.BEYOND: "neither the conditions of a theorem nor the paper's own setting",
}


def witness_words(row: Row) -> str:
    """What the second program says, where it was run."""
    assert row.witness is not None
    answer = {True: "agrees", False: "does not agree", None: "was not run (--witness)"}
    numbers = f": {row.witness.note}" if row.witness.note else ""
    return f"Witness {row.witness.script} {answer[row.witness.agrees]}{numbers}."
