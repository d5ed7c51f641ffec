"""Forces on the tables, and rates under gradient flow of the parts that are trained.

With the force z on the values, a chain of values moves by

    dG/dt = b z + g A_V z,

the first part because `W_V` moves under β, the second because β moves behind `W_V`.
"""

from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable("head", "key", "query", about="D = −∂L/∂scores, on the shown tokens")
def score_force(view: View) -> Array:  # noqa: D103
    return view.shown_forces.scores


@observable("head", "token", about="z = −∂L/∂values, on the shown tokens")
def token_force(view: View) -> Array:  # noqa: D103
    return view.shown_forces.values


@observable("head", "key", "query", about="time derivative of the scores (flow)")
def score_rate(view: View) -> Array:  # noqa: D103
    return view.table_rates.scores


@observable("head", "token", about="time derivative of the values (flow)")
def value_rate(view: View) -> Array:  # noqa: D103
    return view.table_rates.values


@observable("head", "token", about="b z, the part of value_rate by W_V (chains, flow)")
def readout_part_rate(view: View) -> Array:  # noqa: D103
    return view.value_rate_parts[0]


@observable(
    "head", "token", about="g A_V z, the part of value_rate by β (chains, flow)"
)
def inner_part_rate(view: View) -> Array:  # noqa: D103
    return view.value_rate_parts[1]


@observable("head", "key", "query", about="time derivative of the key self-scores")
def key_self_score_rate(view: View) -> Array:  # noqa: D103
    return view.self_score_rates.key


@observable("head", "key", "query", about="time derivative of the query self-scores")
def query_self_score_rate(view: View) -> Array:  # noqa: D103
    return view.self_score_rates.query


@observable("head", "key", "query", about="time derivative of the value self-scores")
def value_self_score_rate(view: View) -> Array:  # noqa: D103
    return view.rate(lambda moved: moved.value_self_scores)


@observable("head", about="time derivative of the readout gain")
def readout_gain_rate(view: View) -> Array:  # noqa: D103
    return view.rate(lambda moved: moved.readout_gain)
