"""Settings and recipes of networks on WikiText-2."""

from dataclasses import dataclass
from typing import Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import NonNegative, Optimised, Positive

COURSE = (
    *("batch_loss", "test_loss"),
    *("attention_entropy_by_query", "attention_by_word"),
)
MAPS = (*COURSE, "test_attention")
SHOWN = (*COURSE, "shown_attention")


@dataclass(frozen=True)
class Text(Optimised):
    """A word-level causal network on WikiText-2's split `valid`.

    - `parametrisation`: `encoder`, that of the paper's figures, or `plain`, that of its
      theory; `layers`.
    - `embed` (none: 200, or 64 for `plain`) and `hidden` neurons; `dropout`.
    - `vocabulary`: number of words; `length` of windows, `batch` of them.
    - `learning_rate` of SGD, or of another `rule` with options as `Optimised` has
      them, with the gradient norm clipped to `clip`; `hidden_rate` of
      the first ReLU layer, where it has one of its own; `steps`; `records` after the
      first.
    - `test_samples`: number of windows of the split `test`.
    """

    parametrisation: Literal["encoder", "plain"] = "encoder"
    layers: int = 1
    embed: int | None = None
    hidden: int = 200
    dropout: float = 0.2
    vocabulary: int = 1000
    length: int = 35
    batch: int = 20
    learning_rate: NonNegative = 5.0
    hidden_rate: float | None = None
    clip: Positive = 0.5
    steps: int = 1500
    records: int = 15
    test_samples: int = 40
    precision: Literal["float64", "float32"] = "float32"
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        for name in ("layers", "steps", "records"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive, as in "
                    f"{name}=1."
                )
        if self.hidden_rate is not None and self.parametrisation == "plain":
            raise ValueError(
                f"hidden_rate is {self.hidden_rate}: the plain parametrisation has no "
                "ReLU layer. Leave it out, or use parametrisation=encoder."
            )

    @property
    def width(self) -> int:
        """Embedding dimension: `embed`, or the default of the parametrisation."""
        if self.embed is not None:
            return self.embed
        return 200 if self.parametrisation == "encoder" else 64


_HERE = "attnflow.papers.scansnap.deep_experiments"

RECIPES = (
    Recipe(
        "wikitext",
        "A transformer encoder on WikiText-2, word by word",
        Text(),
        f"{_HERE}:text",
    ),
    Recipe(
        "wikitext-notebook",
        "The encoder on WikiText-2 with the rates and steps of the authors' notebook",
        Text(dropout=0.3, hidden_rate=10.0, record=SHOWN),
        f"{_HERE}:text",
    ),
    Recipe(
        "wikitext-plain",
        "The theory's own parametrisation on WikiText-2, word by word",
        Text(parametrisation="plain", learning_rate=2.0),
        f"{_HERE}:text",
    ),
)
