"""The paper's formulas for the ends of stages, in steps of the first learning rate.

With σ_p s = `strength`, and β_ξ, β_μ the largest initial inner products of a neuron
with noise and with the signal:

| name | formula |
|---|---|
| `T1` | 4 β_ξ / (√m_v η σ_p s) |
| `T2_SGN` | 3√2 β_ξ / (η σ_p s) |
| `T2` | 50√2 n β_ξ / (η σ_p s) |
| `T3` | 3 β_μ / η |
| `T4-_lo` | √(0.99 (π/2) log(σ_p s / 3√2 n)) / (η √m_k σ_p s) |
| `T4-_hi` | √(1.01 (π/2) log(σ_p s)) / (η √m_k σ_p s) |
| `T4-` | √((π/2) log(4√(2/π) σ_p s)) / (η √m_k σ_p s) (ours) |
| `T4` | C3 log(C3 σ_p s) / (η √m_k σ_p s), C3 = 4 (ours) |
| `T_attn` | log(σ_p s) / (η √(m_k σ_p s)), its Θ read as 1 (ours) |

`T4-` is where the two terms of a minority key's gradient balance, s21 q_i = s11 s12 q_μ
with all inner products linear in time: the inequality in the proof of Lemma E.25, whose
constant 4√(2/π) the statement absorbs in 1.01, which is valid for σ_p s above 10^50.
"""

import math
from collections.abc import Callable

from attnflow.papers.signgd.sizes import Sizes
from attnflow.schema.declarations import FormulaTime

LARGE_CONSTANT = 4.0
"""C3 of `T4`, which the paper calls a large constant."""


def early(sizes: Sizes, *, noise: float, signal: float) -> dict[str, FormulaTime]:
    """`T1`, `T2_SGN`, `T2`, `T3`, from β_ξ = `noise` and β_μ = `signal`."""
    unit = noise / (sizes.learning_rate * sizes.strength)
    return {
        "T1": FormulaTime(4 * unit / math.sqrt(sizes.value_neurons)),
        "T2_SGN": FormulaTime(3 * math.sqrt(2) * unit),
        "T2": FormulaTime(50 * math.sqrt(2) * sizes.samples * unit),
        "T3": FormulaTime(3 * signal / sizes.learning_rate),
    }


def late(sizes: Sizes, *, constant: float = LARGE_CONSTANT) -> dict[str, FormulaTime]:
    """`T4-_lo`, `T4-_hi`, `T4-`, `T4`, `T_attn`, which depend on sizes only."""
    root = sizes.learning_rate * math.sqrt(sizes.key_neurons)
    unit = 1 / (root * sizes.strength)
    few = 3 * math.sqrt(2) * sizes.samples
    low = _logarithm(sizes.strength / few, "σ_p s / (3√2 n)")
    high = _logarithm(sizes.strength, "σ_p s")
    balance = _logarithm(4 * math.sqrt(2 / math.pi) * sizes.strength, "3.19 σ_p s")
    whole = _logarithm(constant * sizes.strength, f"{constant:g} σ_p s")
    return {
        "T4-_lo": _scaled(low, lambda log: math.sqrt(0.99 * math.pi / 2 * log) * unit),
        "T4-_hi": _scaled(high, lambda log: math.sqrt(1.01 * math.pi / 2 * log) * unit),
        "T4-": _scaled(balance, lambda log: math.sqrt(math.pi / 2 * log) * unit),
        "T4": _scaled(whole, lambda log: constant * log * unit),
        "T_attn": _scaled(high, lambda log: log / (root * math.sqrt(sizes.strength))),
    }


def _logarithm(number: float, name: str) -> FormulaTime:
    """The logarithm of a number above 1; a time needs it to be positive."""
    if number > 1.0:
        return FormulaTime(math.log(number))
    reason = f"the formula is undefined: {name} = {number:.3g}, below 1"
    return FormulaTime(None, reason)


def _scaled(log: FormulaTime, time: Callable[[float], float]) -> FormulaTime:
    return log if log.time is None else FormulaTime(time(log.time))
