"""One table of colours: the same quantity has the same colour in every paper.

| kind | stands for | also called |
|---|---|---|
| `signal` | the token that carries the class | `class` |
| `common` | a token that names a group, or occurs in every sample | `group` |
| `noise` | what carries no class | |
| `easy` | samples, losses or tokens that are learned first | `consistent`, `train` |
| `hard` | those that are learned last | `conflicting`, `test` |
| `match` | a score between a key and a query that belong together | |
| `mismatch` | a score between a key and a query that do not | |
| `limit` | infinite width: the exact object beside finite ones | `infinite` |
| `theory` | a formula of a paper, or of ours | |
| `loss` | a loss over all samples | |
| `other` | what is shown for context only | |

Every pair within the first five kinds, and within the two scores, stays apart for all
three kinds of colour blindness on both backgrounds (tests/figures/test_palette.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb

from attnflow.schema.names import look_up

ALIASES = MappingProxyType(
    {
        "class": "signal",
        "group": "common",
        "consistent": "easy",
        "train": "easy",
        "conflicting": "hard",
        "test": "hard",
        "infinite": "limit",
    }
)


@dataclass(frozen=True)
class Theme:
    """A background, the ink on it, and the colour of each kind of quantity.

    `muted` is for labels of axes, `hairline` for rules and grids, `stages` for the
    two fills that alternate behind stages.
    """

    name: str
    paper: str
    ink: str
    muted: str
    hairline: str
    stages: tuple[str, str]
    kinds: Mapping[str, str]

    def colour(self, kind: str, shade: int = 0) -> str:
        """The colour of a kind of quantity; later shades are nearer to the paper.

        Shades tell members of one kind apart: `c1` is shade 0, `c2` shade 1, …
        """
        base = look_up("kind of quantity", ALIASES.get(kind, kind), self.kinds)
        return mix(base, self.paper, 1 - 0.72**shade)

    def ramp(self, kind: str, count: int) -> list[str]:
        """`count` colours of one kind, from pale to full, for an ordered parameter."""
        base = self.colour(kind)
        return [mix(base, self.paper, w) for w in np.linspace(0.0, 0.45, count)[::-1]]

    @property
    def mass(self) -> Colormap:
        """From paper to full colour: attention, probabilities."""
        full = self.kinds["signal"]
        middle = [mix(full, self.paper, share) for share in (0.95, 0.5)]
        stops = [*middle, mix(full, "#000030", 0.42)]
        return LinearSegmentedColormap.from_list("mass", stops)

    def depth(self, kind: str) -> Colormap:
        """From paper to the full colour of a kind: a quantity without a sign."""
        stops = [mix(self.colour(kind), self.paper, share) for share in (0.95, 0.5, 0)]
        return LinearSegmentedColormap.from_list(f"depth of {kind}", stops)

    @property
    def signed(self) -> Colormap:
        """From one colour through paper to another: scores around zero."""
        low, high = self.kinds["mismatch"], self.kinds["match"]
        middle = mix(self.paper, self.ink, 0.04)
        return LinearSegmentedColormap.from_list("signed", [low, middle, high])


def mix(colour: str, other: str, share: float) -> str:
    """The colour with a `share` of the `other` one in it."""
    red, green, blue = (1 - share) * np.array(to_rgb(colour)) + share * np.array(
        to_rgb(other)
    )
    return to_hex((red, green, blue))


LIGHT = Theme(
    name="light",
    paper="#FFFFFF",
    ink="#1B1E23",
    muted="#565D67",
    hairline="#D5D9DF",
    stages=("#F1F3F6", "#FFFFFF"),
    kinds=MappingProxyType(
        {
            "signal": "#3F78E0",
            "common": "#D96B00",
            "noise": "#7B3676",
            "easy": "#08764F",
            "hard": "#8E0B1C",
            "match": "#0893B8",
            "mismatch": "#B03468",
            "limit": "#1B1E23",
            "theory": "#1B1E23",
            "loss": "#1B1E23",
            "other": "#8A919B",
        }
    ),
)
DARK = Theme(
    name="dark",
    paper="#14171C",
    ink="#E8EAED",
    muted="#A4ABB5",
    hairline="#363C45",
    stages=("#1E232A", "#14171C"),
    kinds=MappingProxyType(
        {
            "signal": "#3F8CF0",
            "common": "#E0A040",
            "noise": "#BE92D8",
            "easy": "#4CC490",
            "hard": "#D0614F",
            "match": "#5FDAFA",
            "mismatch": "#FB82CA",
            "limit": "#E8EAED",
            "theory": "#E8EAED",
            "loss": "#E8EAED",
            "other": "#7E858F",
        }
    ),
)
THEMES = MappingProxyType({"light": LIGHT, "dark": DARK})
