"""Closed forms of the decoder against their equations and numerical solutions."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from attnflow.papers.scansnap.systems import quasi_static
from attnflow.papers.scansnap.systems.decoder import Decoder, discrete_heights, log_odds
from attnflow.papers.scansnap.systems.fixed_features import (
    equal_correlations,
    train_decoder,
)

VOCABULARIES = (10.0, 34.0, 1e3, 1e5, 1e8)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("rate", [0.01, 1.0, 10.0])
def test_the_defining_equation(vocabulary, rate):
    visits = np.geomspace(1e-9, 1e9, 500)
    u = log_odds(visits, vocabulary, rate)
    assert np.isfinite(u).all() and (np.diff(u) > 0).all()
    right = vocabulary * rate * visits
    left = np.exp(u) + (vocabulary - 1) * u
    assert np.abs(left / (right + 1) - 1).max() < 1e-14
    # Without the 1 on both sides early times must have their digits too.
    assert np.abs((np.expm1(u) + (vocabulary - 1) * u) / right - 1).max() < 1e-14
    assert log_odds(0.0, vocabulary, rate) == 0


@pytest.mark.usefixtures("precise")
def test_compiled_programs_have_the_same():
    import jax.numpy as jnp

    visits = np.geomspace(1e-9, 1e9, 300)
    for vocabulary in VOCABULARIES:
        compiled = quasi_static.log_odds(
            jnp.asarray(visits), jnp.asarray(vocabulary), jnp.asarray(0.5)
        )
        # The equation fixes u to its own rounding and no better: 4e-15 at u = 40.
        np.testing.assert_allclose(
            compiled, log_odds(visits, vocabulary, 0.5), rtol=1e-13
        )


def test_the_differential_equation():
    M, rate = 200.0, 0.7
    solved = solve_ivp(
        lambda t, h: rate / (M - 1 + np.exp(M * h)),
        (0, 1e4),
        [0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-16,
        t_eval=[1.0, 30.0, 1e4],
    )
    np.testing.assert_allclose(solved.y[0], log_odds(solved.t, M, rate) / M, rtol=1e-9)


def test_steps_and_the_continuous_height():
    """Appendix D.3: 0 ≤ h* − h ≤ 2η/M, and the gap closes."""
    for vocabulary, rate, largest in ((1000, 0.1, 0.1849), (1000, 5.0, 0.3253)):
        gap = discrete_heights(20000, vocabulary, rate)
        gap = gap - log_odds(np.arange(20001), vocabulary, rate) / vocabulary
        assert gap.min() > -1e-15
        assert gap.max() * vocabulary / rate == pytest.approx(largest, abs=1e-4)
        assert gap[-1] < 0.1 * gap.max()


@pytest.mark.parametrize(
    ("vocabulary", "peak", "snap"),
    [(34, 3.28, 10.3), (100, 3.96, 12.9), (1e3, 5.64, 18.2), (1e5, 9.51, 28.3)],
)
def test_the_peak_of_the_speed(vocabulary, peak, snap):
    decoder = Decoder(10, vocabulary, value_rate=2.0, score_rate=1.0)
    assert decoder.peak / decoder.clock == pytest.approx(peak, abs=0.005)
    assert decoder.snap / decoder.clock == pytest.approx(snap, abs=0.05)
    around = decoder.speed(decoder.peak * np.array([0.999, 1.0, 1.001]))
    assert around[1] > max(around[0], around[2])
    assert around[1] == pytest.approx(decoder.largest_speed, rel=1e-12)


def test_the_integral_of_the_speed():
    decoder = Decoder(10, 1000, value_rate=1.0, score_rate=0.5)
    assert decoder.drive_integral(0.0, 2.352) == 0
    for t in (3.0, 60.0, 900.0):
        area = quad(lambda s: float(decoder.speed(s)), 0, t, epsabs=0, epsrel=1e-12)[0]
        assert decoder.speed_integral(t) == pytest.approx(0.5 * area, rel=1e-11)
    printed = decoder.printed_drive_integral(50.0, 2.352)
    ours = decoder.drive_integral(50.0, 2.352)
    assert printed - ours == pytest.approx(np.log(2.352) / 4, rel=1e-12)


def test_the_constant_of_lemma_8():
    constants = [Decoder(1, m, 1.0, 1.0).omega1 for m in (1e2, 1e3, 1e4, 1e6)]
    assert constants == pytest.approx([0.403, 0.320, 0.267, 0.203], abs=5e-4)


def test_fixed_features():
    """Remark 1's margins, and the coupling as an integral of confusions."""
    times = np.linspace(0, 100, 2001)
    courses = train_decoder(equal_correlations(5, 0.3), 1000, 1.0, times)
    other, rest = (margin[-1] for margin in courses.margins())
    assert (other, rest) == pytest.approx((6.574, 9.304), abs=5e-4)
    shares, weights = courses.shares(), courses.weights
    now = shares[-1]
    crossed = (now[0, 1] + shares[:, 1, 0]) - (now[0] * weights * shares[:, 1]).sum(-1)
    area = np.trapezoid(crossed, times) / 5
    # 2000 trapezia of a smooth curve.
    assert -courses.coupling()[-1, 0, 1] == pytest.approx(area, rel=1e-4)


def test_a_decoder_of_independent_classes_is_the_closed_form():
    courses = train_decoder(np.eye(4), 50, 2.0, np.array([0.0, 3.0, 40.0]))
    u = log_odds(np.array([0.0, 3.0, 40.0]) / 4, 50, 2.0)
    other, rest = courses.margins()
    np.testing.assert_allclose(other, u, rtol=1e-8)
    np.testing.assert_allclose(rest, u, rtol=1e-8)


def test_every_output_may_be_predicted():
    """K = M has no other outputs: the one case of Remark 1 that holds."""
    courses = train_decoder(equal_correlations(20, 0.3), 20, 1.0, np.array([0, 400.0]))
    slower = log_odds(20.0, 20, 0.7)
    assert courses.logits[-1, 0, 0] - courses.logits[-1, 0, 1] == pytest.approx(slower)
