"""Settings of the computations in `systems`: gradients, bounds, the token SVM.

These experiments train nothing with the forms of the core, or compare them with
something else.
"""

from dataclasses import dataclass
from typing import ClassVar

from attnflow.schema.fields import Several, Size


@dataclass(frozen=True)
class Gradients:
    """Gradients of Appendix B against automatic differentiation.

    With fillers that repeat, among `embed` tokens, and with distinct ones. An identity
    holds at all weights; these standard deviations (`sigma_scores` of W_K and W_Q,
    `sigma_values` of W_V and W) give scores and outputs of order 1 and terms of similar
    size, so that an error in any of them shows.
    """

    no_rule: ClassVar[str] = "It takes one gradient, and no step."
    samples: int = 60
    length: int = 5
    embed: int = 64
    width: int = 128
    neurons: int = 256
    sigma_scores: float = 1.0
    sigma_values: float = 0.07


@dataclass(frozen=True)
class AppendixC:
    """Appendix C's right-hand sides, equation (5), and its flow against ours.

    Right-hand sides are evaluated at `width` and `neurons`; the flow, a system of
    neurons² numbers, runs at `flow_width` and `flow_neurons`, to the time `clock` in
    units of 1 / (sigma_values² · flow_width · flow_neurons). Both integrations have the
    tolerance `rtol` per step.
    """

    no_rule: ClassVar[str] = "The appendix's six variables move by gradient flow alone."
    samples: int = 60
    length: int = 5
    embed: int = 64
    width: int = 128
    neurons: int = 256
    sigma_scores: float = 1.0
    sigma_values: float = 0.07
    flow_width: int = 64
    flow_neurons: int = 32
    clock: float = 50.0
    records: int = 41
    rtol: float = 1e-12


@dataclass(frozen=True)
class Concentration:
    """Failure rates of the bounds at initialisation, Appendices D and H.

    Appendix D for `samples` of `length` tokens with distinct fillers, by `widths` and
    `deltas`, over `draws` per seed, with standard deviations `scale0 / sqrt(L m)` and
    `scale1 / sqrt(m1)`. Lemma H.2 by `lone_widths`: exactly, and over `lone_draws`.
    """

    no_rule: ClassVar[str] = "It trains nothing: weights are drawn."
    samples: int = 60
    length: int = 5
    neurons: int = 64
    widths: Several[Size] = (512, 4096, 32768)
    deltas: tuple[float, ...] = (0.01, 0.1, 0.5)
    scale0: float = 0.3
    scale1: float = 0.3
    draws: int = 50
    lone_widths: Several[Size] = (1, 3, 10, 30, 100, 1000)
    lone_draws: int = 4000


@dataclass(frozen=True)
class TokenSvm:
    """Hard-margin SVM of token counts, the limit of training at frozen attention.

    For n `samples` (any real number) with exact shares of the types and distinct
    fillers, by `lengths`, and in the limit of many samples.
    """

    no_rule: ClassVar[str] = "It solves for a classifier, and trains nothing."
    samples: tuple[float, ...] = (30.0, 60.0, 120.0, 240.0, 600.0, 6000.0, 1e7)
    lengths: tuple[int, ...] = (3, 5, 10, 20, 40)


@dataclass(frozen=True)
class Conformance:
    """Reduced forms against plain weights along gradient descent.

    Appendix A's run for `steps` steps, with tables on all tokens. `twins` further runs
    with plain weights start one ulp from the first: their divergence is the effect of
    rounding on any computation of this run.
    """

    no_rule: ClassVar[str] = "It holds reduced forms to plain weights under one rule."
    width: int = 128
    neurons: int = 256
    learning_rate: float = 0.01
    steps: float = 3000.0
    records: int = 31
    twins: int = 5


@dataclass(frozen=True)
class Conservation:
    """Conserved spectra along Appendix A's run, by gradient flow and by descent.

    All run to the training `time`, gradient descent with each of `learning_rates`; the
    flow has the tolerance `rtol` per step.
    """

    no_rule: ClassVar[str] = "What gradient flow conserves is held to gradient descent."
    width: int = 128
    neurons: int = 256
    time: float = 300.0
    learning_rates: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0)
    records: int = 11
    rtol: float = 1e-10
