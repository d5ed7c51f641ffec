"""Colours that stay apart for every reader, on both backgrounds."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnflow.figures.style import ALIASES, DARK, LIGHT, THEMES, mix
from attnflow.schema.settings import UnknownName

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
TOGETHER = (
    ("signal", "common", "noise", "easy", "hard", "other", "limit"),
    ("match", "mismatch", "other", "limit"),
)


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light):
    xyz = TO_XYZ @ light / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(colour, other):
    lights = sorted(TO_XYZ[1] @ linear(c) for c in (colour, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("kinds", TOGETHER)
def test_kinds_stay_apart(theme, vision, kinds):
    seen = {
        kind: lab(np.clip(VISION[vision] @ linear(theme.colour(kind)), 0, 1))
        for kind in kinds
    }
    for one, other in itertools.combinations(kinds, 2):
        # A difference of 2.3 is just noticeable side by side; thin lines need more.
        distance = np.linalg.norm(seen[one] - seen[other])
        assert distance > 15, (one, other, distance)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_lines_and_words_stand_out(theme):
    for kind in theme.kinds:
        assert contrast(theme.colour(kind), theme.paper) >= 3, kind
    assert contrast(theme.ink, theme.paper) > 7
    assert contrast(theme.muted, theme.paper) > 4.5


def test_themes_know_the_same_kinds():
    assert set(LIGHT.kinds) == set(DARK.kinds) >= set(ALIASES.values())
    assert LIGHT.colour("conflicting") == LIGHT.colour("hard")


def test_shades_differ_and_a_ramp_ends_in_full_colour():
    assert len({LIGHT.colour("common", shade) for shade in range(3)}) == 3
    assert LIGHT.ramp("signal", 4)[-1] == LIGHT.ramp("signal", 1)[0]
    assert mix("#000000", "#ffffff", 0.5) == "#808080"


def test_an_unknown_kind_is_told_the_near_one():
    with pytest.raises(UnknownName, match="Did you mean 'signal'"):
        LIGHT.colour("signl")
