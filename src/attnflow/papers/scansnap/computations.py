"""Settings and recipes of the computations in `systems`.

These train nothing, or something other than the forms of the core.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from attnflow.schema.declarations import Recipe

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Gradients:
    """Lemma 1 for one random sequence of `length` tokens in M = `vocabulary`."""

    no_rule: ClassVar[str] = "It takes one gradient, and no step."
    vocabulary: int = 12
    length: int = 30


@dataclass(frozen=True)
class LongSequences:
    """Lemmas 2 and 18: `samples` contexts of each of `lengths`, bands at `delta`."""

    no_rule: ClassVar[str] = "It trains nothing: sequences are drawn."
    lengths: tuple[int, ...] = (128, 512, 2048, 8192, 32768, 65536)
    samples: int = 2000
    delta: float = 0.05


@dataclass(frozen=True)
class DecoderCourses:
    """The decoder alone at `records` times from `first` to `last`, in K/η_Y."""

    no_rule: ClassVar[str] = "The decoder's closed form is held to its gradient flow."
    vocabularies: tuple[int, ...] = (1000, 10000, 100000, 1000000, 10000000)
    first: float = 1e-7
    last: float = 1e6
    records: int = 521


@dataclass(frozen=True)
class Couplings:
    """The decoder's true gradient with fixed features, at `clocks` in K/η_Y.

    Set-up by set-up: `classes` K, `vocabularies` M and equal `correlations` ρ.
    """

    no_rule: ClassVar[str] = "The decoder's closed form is held to its gradient flow."
    classes: tuple[int, ...] = (3, 10, 2, 5, 10, 30, 5, 20)
    vocabularies: tuple[int, ...] = (10000, 1000, 1000, 1000, 100, 31, 5, 20)
    correlations: tuple[float, ...] = (0.1, 0.023, 0.1, 0.3, 0.2, 0.1, 0.3, 0.1)
    clocks: tuple[float, ...] = (1.0, 5.0, 20.0, 100.0)


@dataclass(frozen=True)
class Assumption:
    """Assumption 2 with equal correlations, for M = `ratios` times K²."""

    no_rule: ClassVar[str] = "It trains nothing: matrices are those of the assumption."
    classes: tuple[int, ...] = (2, 3, 5, 10, 20, 50, 100)
    ratios: tuple[float, ...] = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)


@dataclass(frozen=True)
class Decorrelated:
    """Equation 26's update by `steps` single samples, with fixed random features.

    All classes share one token, whose f² is drawn from `shared`, and each has
    `distinct` tokens of its own. At these sizes Assumption 2 is met.
    """

    no_rule: ClassVar[str] = "Equation 26 is an update of its own."
    classes: int = 3
    vocabulary: int = 4000
    distinct: int = 3
    shared: tuple[float, float] = (0.1, 0.16)
    value_rate: float = 0.5
    steps: int = 4000


@dataclass(frozen=True)
class Visits:
    """Lemmas 10 to 12: visits of K classes in `steps` single samples, drawn uniformly.

    `samples` such draws for each seed, and the decoder's heights after them; bounds
    are those for the probability of failure `delta`.
    """

    no_rule: ClassVar[str] = "Equation 26, an update of its own, is what moves."
    classes: int = 3
    vocabulary: int = 4000
    value_rate: float = 0.5
    steps: int = 4000
    samples: int = 2000
    delta: float = 0.05


@dataclass(frozen=True)
class SingleSamples:
    """Attention and the decorrelated decoder by single samples, K identical classes.

    One common token of weight `common_weight`, and distinct tokens of each class with
    the weights `distinct`.
    """

    no_rule: ClassVar[str] = "Equation 26 is an update of its own."
    classes: int = 5
    vocabulary: int = 100
    common_weight: float = 1.0
    distinct: tuple[float, ...] = (0.2, 0.3, 0.5)
    score_rate: float = 0.02
    value_rate: float = 0.02
    steps: int = 20000


@dataclass(frozen=True)
class RandomClasses:
    """Random classes with common tokens and `distinct` ones each, in Q and in J.

    J at each of `ratios` η_Y/η_Z, until the time `until`. `shared` tokens are common to
    all classes, and their probability in each, all together, is drawn from `common`;
    classes have `queries` in turn.
    """

    no_rule: ClassVar[str] = "Fates are those of the two gradient flows Q and J."
    classes: int = 3
    queries: int = 1
    shared: int = 1
    distinct: int = 2
    common: tuple[float, float] = (0.05, 0.7)
    vocabulary: int = 100
    value_rate: float = 1.0
    quasi_static_ratio: float = 10.0
    ratios: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0, 10000.0)
    until: float = 3e8
    records: int = 61


@dataclass(frozen=True)
class RandomGrams:
    """FᵀF of random features of K classes over `vocabulary` tokens."""

    no_rule: ClassVar[str] = "It trains nothing: features are drawn."
    classes: int = 5
    vocabulary: int = 40


FUNCTIONS = {
    "Gradients": "gradient_check:gradients",
    "LongSequences": "gradient_check:long_sequences",
    "DecoderCourses": "decoder_courses:decoder_courses",
    "Couplings": "decoder_courses:couplings",
    "Assumption": "decoder_courses:assumption",
    "Decorrelated": "modified_updates:decorrelated",
    "Visits": "modified_updates:visits",
    "SingleSamples": "modified_updates:single_samples",
    "RandomClasses": "random_classes:random_classes",
    "RandomGrams": "random_classes:random_grams",
}
"""The function of `systems` for each type of setting."""


def _computation(id: str, title: str, setting: "DataclassInstance") -> Recipe:
    return Recipe(id, title, setting, "attnflow.papers.scansnap.experiments:computed")


COMPUTATIONS = (
    _computation("gradients", "Lemma 1 beside autodiff", Gradients()),
    _computation(
        "long-sequences", "Attention to contexts of growing length", LongSequences()
    ),
    _computation(
        "decoder-courses",
        "The decoder alone: closed form beside flow",
        DecoderCourses(),
    ),
    _computation(
        "couplings", "The decoder's true gradient with fixed features", Couplings()
    ),
    _computation(
        "assumption2", "Assumption 2 for classes with equal correlations", Assumption()
    ),
    _computation(
        "decorrelated",
        "The decoder under Equation 26, sample by sample",
        Decorrelated(),
    ),
    _computation("visits", "Visits of classes in single samples", Visits()),
    _computation(
        "single-samples",
        "Attention under Equation 26's decoder, sample by sample",
        SingleSamples(),
    ),
    _computation(
        "random-classes",
        "Q and J: fates of tokens in random classes",
        RandomClasses(),
    ),
    _computation("random-grams", "Gram matrices of random features", RandomGrams()),
)
