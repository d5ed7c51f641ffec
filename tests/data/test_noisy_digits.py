"""Digits under border noise: factors, borders, patches, classes."""

import numpy as np
import pytest

from attnflow.data.deep_samples import (
    PIXELS,
    NoisyDigits,
    at_ratio,
    border,
    mixed,
    patches,
)
from attnflow.data.real import digits

on_images = pytest.mark.usefixtures("data_at_hand")
FEW = {"samples": 6, "test_samples": 5}


def test_factors():
    assert mixed(0.9) == (0.9, pytest.approx(0.1))
    # The two that paper D prints.
    assert at_ratio(0.2) == (pytest.approx(1 / 6), pytest.approx(5 / 6))
    assert at_ratio(2.0) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    for wrong in (0.0, 1.1):
        with pytest.raises(ValueError, match="share"):
            mixed(wrong)
    with pytest.raises(ValueError, match="positive"):
        at_ratio(0.0)


@pytest.mark.parametrize(("width", "inner"), [(4, 400), (7, 196), (0, 784), (14, 0)])
def test_border(width, inner):
    frame = border(width)
    assert (~frame).sum() == inner
    assert np.array_equal(frame, frame.T) and np.array_equal(frame, frame[::-1])


@pytest.mark.parametrize("side", [4, 7])
def test_patches_hold_neighbouring_pixels(side):
    image = np.arange(784.0).reshape(28, 28)
    cut = patches(image[None], side)[0]
    across = 28 // side
    for number in (0, 1, across, across**2 - 1):
        top, left = divmod(number, across)
        there = image[side * top :, side * left :][:side, :side]
        assert np.array_equal(cut[number].reshape(side, side), there)


@on_images
def test_noise_is_on_the_border_alone_and_scaled():
    clean = NoisyDigits(factors=(1.0, 0.0), **FEW).training(3)
    for factors in (mixed(0.3), at_ratio(2.0)):
        noisy = NoisyDigits(factors=factors, **FEW).training(3)
        noise = (noisy.tokens - factors[0] * clean.tokens) / factors[1]
        inside = ~patches(border(7), 7)
        assert np.abs(noise[:, inside]).max() < 1e-15
        assert noise[:, ~inside].std() == pytest.approx(1, abs=0.05)
    assert clean.tokens.min() == 0.0 and clean.tokens.max() == 1.0


@on_images
def test_patches_of_noise():
    assert NoisyDigits().noisy.sum() == 12
    assert NoisyDigits(border=4, patch=4).noisy.sum() == 24
    assert NoisyDigits(border=4, patch=7).noisy.sum() == 0


@on_images
def test_two_classes_have_signs_and_ten_have_numbers():
    two = NoisyDigits(samples=40, test_samples=5).training(0)
    assert set(two.label) == {1.0, -1.0}
    ten = NoisyDigits(samples=60, digits=tuple(range(10)), test_samples=3)
    assert set(ten.training(0).label) == set(range(10))
    # The first three of the published test images.
    assert ten.test(0).label.tolist() == [7, 2, 1]
    assert NoisyDigits(digits=(7, 3), test_samples=1).test(0).label.tolist() == [1.0]
    assert len(NoisyDigits().test(0).label) == 1010 + 1028


@on_images
def test_settings_of_a_seed_share_their_draws():
    many = NoisyDigits(samples=8, test_samples=5)
    few = NoisyDigits(samples=6, test_samples=5)
    assert np.array_equal(many.training(1).tokens[:6], few.training(1).tokens)
    assert np.array_equal(many.test(1).tokens, few.test(1).tokens)
    assert not np.array_equal(many.test(1).tokens, many.test(2).tokens)


@on_images
def test_test_images_without_noise():
    clean = NoisyDigits(factors=(0.4, 0.0), **FEW).test(0)
    bare = NoisyDigits(factors=(0.4, 0.6), test_noise=False, **FEW).test(0)
    assert np.array_equal(clean.tokens, bare.tokens)


@on_images
def test_scales_of_pixels():
    unit, standard, whole = (
        NoisyDigits(factors=(1.0, 0.0), pixels=pixels, **FEW).training(0).tokens
        for pixels in ("unit", "standard", "bytes")
    )
    assert np.array_equal(whole, 255 * unit)
    assert np.allclose(0.3081 * standard + 0.1307, unit, atol=1e-15)


@on_images
def test_standard_pixels_are_so_over_all_training_images():
    dark, span = PIXELS["standard"]
    image = digits("train").image
    # Four printed digits of numbers below 1, in units of a white pixel.
    assert image.mean() == pytest.approx(dark, abs=255 * 5e-5)
    assert image.std() == pytest.approx(span, abs=255 * 5e-5)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"patch": 5}, "patches have"),
        ({"patch": 0}, "patches have"),
        ({"patch": -7}, "patches have"),
        ({"border": 15}, "border=7"),
        ({"digits": (3,)}, "different"),
        ({"digits": (3, 3)}, "different"),
        ({"digits": (3, 11)}, "0 to 9"),
        ({"samples": 0}, "at least 1"),
        ({"test_samples": 0}, "at least 1"),
        ({"pixels": "byte"}, "bytes"),
    ],
)
def test_wrong_settings_say_what_is_allowed(wrong, said):
    with pytest.raises(ValueError, match=said):
        NoisyDigits(**wrong)


@on_images
def test_more_samples_than_there_are():
    with pytest.raises(ValueError, match="Use fewer"):
        NoisyDigits(samples=20_000).training(0)
