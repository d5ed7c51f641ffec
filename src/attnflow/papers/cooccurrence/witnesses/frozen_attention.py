"""Readouts, learned scores and rates of attention at uniform attention, n = 60, L = 5.

Many neurons and a large width: the readout gain b is constant, and what attention
learns is too small to act. Written from equation (4) and Lemma C.4 with A_K = A_Q =
σ0² m I, from initial outputs of 0; the clock is b t. NumPy and SciPy alone.
"""

import numpy as np
from scipy.integrate import solve_ivp

N, L = 60, 5
WIDTHS = (8192, 32768, 131072, 524288, 1048576)
HELD = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]], float)
LABEL, SHARE = np.array([1, -1, -1, -1.0]), np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])
SLOTS = L - HELD.sum(axis=1)


def outputs(state):
    """F of a sample of each type."""
    return HELD @ state[:3] + SLOTS * state[3:7]


def pushes(state):
    """L √m D[key, μ1] for the keys μ1, μ2, μ3 and fillers of a both-target sample."""
    G, F = state[:3], outputs(state)
    both, first = (SHARE * LABEL / (1 + np.exp(LABEL * F)))[:2]
    own, common = (both * (g - F[0] / L) + first * (g - F[1] / L) for g in G[[0, 2]])
    other = both * (G[1] - F[0] / L)
    filler = both / (N * SHARE[0]) * (state[3] - F[0] / L)
    return np.array([own, other, common, *[filler] * int(SLOTS[0])])


def velocity(state):
    """Of G(μ1), G(μ2), G(μ3), the fillers of each type, and C12 over its unit."""
    pull = LABEL / (1 + np.exp(LABEL * outputs(state)))
    return [*((SHARE * pull) @ HELD), *(pull / N), 2 * pushes(state)[1]]


def loss(state):
    """The mean logistic loss."""
    return SHARE @ np.logaddexp(0, -LABEL * outputs(state))


def attention(state):
    """Largest of ∂p/∂t for μ2 and −∂p/∂t for μ3, over Loss σ0² m / (m L²)."""
    push = pushes(state)
    moved = 2 * (push - push.mean())
    return max(moved[1], -moved[2]) / loss(state)


def gains(state):
    """What moving attention adds to the margins of types 1 and 2, in one unit.

    All pairs of tokens of a sample: D[key, query] of a pair of named tokens has a term
    from each type that holds both, one with a filler from its own sample alone.
    """
    F, parts = outputs(state), []
    pull = LABEL / (1 + np.exp(LABEL * F))
    for kind in (0, 1):
        named = list(np.flatnonzero(HELD[kind]))
        tokens = [*named, *[-1] * int(SLOTS[kind])]
        read = np.array([state[t] if t >= 0 else state[3 + kind] for t in tokens])
        moved = np.zeros((L, L))
        for q, query in enumerate(tokens):
            for k, key in enumerate(tokens):
                if min(key, query) < 0:
                    moved[q, k] = pull[kind] / N * (read[k] - F[kind] / L)
                else:
                    both = HELD[:, key] * HELD[:, query]
                    moved[q, k] = (both * SHARE * pull) @ (state[key] - F / L)
        rate = moved - moved.mean(axis=1, keepdims=True)
        parts.append(LABEL[kind] * (rate * read).sum())
    return np.array(parts)


clocks = np.geomspace(20, 2e7, 3000)
course = solve_ivp(
    lambda s, state: np.exp(s) * np.array(velocity(state)),
    (np.log(1e-6), np.log(2e7)),
    np.zeros(8),
    method="DOP853",
    t_eval=np.log(clocks),
    rtol=1e-10,
    atol=1e-13,
).y.T
losses = np.array([loss(state) for state in course])
largest = []
for m in WIDTHS:
    inside = course[losses >= 1 / m]
    largest.append(max(attention(state) for state in inside) / np.sqrt(m))
    if m in (WIDTHS[0], WIDTHS[-1]):
        # b grows by 7% at the smaller width, and initial outputs are 0 here.
        digits = 0 if m == WIDTHS[0] else 1
        print(f"-G(mu3) where the loss is 1/{m} = {-inside[-1][2]:.{digits}f}")
        learned = inside[-1][7] / (1 + L / np.sqrt(m))
        print(f"C12 over its printed size at width {m} = {learned:.{digits}e}")
both, one = gains(course[np.argmin(abs(np.log(losses / 1e-5)))])
print(f"attention's part of margins, one target over both = {one / both:.4f}")
slope = np.polyfit(np.log(WIDTHS), np.log(largest), 1)[0]
print(f"exponent of m of the rate of attention = {slope:.2f}")
