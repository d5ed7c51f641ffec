"""The paper's formulas for the ends of stages, in steps.

With L = log(6N²M²/δ), and every Θ read as 1:

| name | benign | harmful |
|---|---|---|
| `T1` | 10M(3M+1)N / (η d_h^¼ (N‖μ‖² − 60M²C_p²σ_p²d) ‖w_O‖²) | 4M(3M+1)N / (η d_h^¼ (C_p² − 24M) σ_p²d ‖w_O‖²) |
| `T2` | 1 / (η‖μ‖²‖w_O‖² L) | N / (η σ_p²d ‖w_O‖² L) |
| `T3` | 1 / (η ε ‖μ‖²‖w_O‖²) | N / (η ε σ_p²d ‖w_O‖²) |
| `T3 ours` | 2 / (η ε ‖μ‖²‖w_O‖²) | N / (η ε σ̃_p²d ‖w_O‖²) |

Ours is the leading order at small ε once attention has settled: the value v
of a token x that a share p of the samples contains moves by η ‖w_O‖² |x|² p σ(−v) a
step, so that e^v grows linearly. Half of the samples contain a given signal; a strong
noise token belongs to one sample.
"""  # noqa: E501

from collections.abc import Callable

from attnflow.papers.vit._types import Regime
from attnflow.papers.vit.sizes import Sizes
from attnflow.schema.declarations import FormulaTime


def benign(sizes: Sizes) -> dict[str, FormulaTime]:
    """Ends of the benign stages: Lemma 5.2, Section 5 and Theorem 4.1."""
    length, samples = sizes.length, sizes.samples
    unit = sizes.learning_rate * sizes.gain
    signal = samples * sizes.signal**2
    noise = 60 * (length * sizes.ratio) ** 2 * sizes.power
    last = 1 / (unit * sizes.signal**2)
    return {
        "T1": _over(
            10 * length * (3 * length + 1) * samples / (unit * sizes.key_width**0.25),
            signal - noise,
            f"N‖μ‖² = {signal:.3g} is not above 60M²C_p²σ_p²d = {noise:.3g}",
        ),
        "T2": FormulaTime(last / sizes.logarithm),
        "T3": FormulaTime(last / sizes.target),
        "T3 ours": FormulaTime(2 * last / sizes.target),
    }


def harmful(sizes: Sizes) -> dict[str, FormulaTime]:
    """Ends of the harmful stages: Lemma E.3, Appendix E and Theorem 4.2."""
    length, samples = sizes.length, sizes.samples
    unit = sizes.learning_rate * sizes.gain
    square = sizes.ratio**2
    last = samples / (unit * sizes.power)
    return {
        "T1": _over(
            4 * length * (3 * length + 1) * last / sizes.key_width**0.25,
            square - 24 * length,
            f"C_p² = {square:.3g} is not above 24M = {24 * length}",
        ),
        "T2": FormulaTime(last / sizes.logarithm),
        "T3": FormulaTime(last / sizes.target),
        "T3 ours": FormulaTime(last / square / sizes.target),
    }


def _over(upper: float, lower: float, reason: str) -> FormulaTime:
    if lower > 0:
        return FormulaTime(upper / lower)
    return FormulaTime(None, f"negative by formula: {reason}")


FORMULAS: dict[Regime, Callable[[Sizes], dict[str, FormulaTime]]] = {
    "benign": benign,
    "harmful": harmful,
}
