"""What does not carry over to training: Theorem 2(a), and two insights.

Lemma 1 in the limit of long sequences: gradient flow of both tables from 0, classes
equally frequent, time in samples. Next tokens that never occur move alike. NumPy and
SciPy alone.
"""

import numpy as np
from scipy.integrate import solve_ivp


def features(P, z):
    """The unit vectors f_n of all classes."""
    attention = P * np.exp(z)
    return attention / np.linalg.norm(attention, axis=1, keepdims=True)


def train(P, vocabulary, score_rate, value_rate, end):
    """Scores at the end, of tokens with these weights in K classes (rows)."""
    K, tokens = P.shape
    counts = np.append(np.ones(K), vocabulary - K)

    def velocity(log_time, state):
        z, Y = state[:tokens], state[tokens:].reshape(tokens, K + 1)
        f = features(P, z)
        weight = np.exp(f @ Y)
        pull = np.eye(K, K + 1) - weight / (weight @ counts)[:, None]
        back = (pull * counts) @ Y.T
        push = np.mean(f * (back - f * np.sum(f * back, axis=1, keepdims=True)), axis=0)
        both = np.append(score_rate * push, value_rate * (f.T @ pull / K).ravel())
        return np.exp(log_time) * both

    start, span = np.zeros(tokens * (K + 2)), (np.log(1e-9 * end), np.log(end))
    exact = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-13}
    return solve_ivp(velocity, span, start, **exact).y[:tokens, -1]


def entropy(z):
    """H(DT): the entropy of attention among the distinct tokens of a class."""
    share = (SMALL * np.exp(z))[0, 10:20]
    return -np.sum(share / share.sum() * np.log(share / share.sum()))


RISING = np.arange(1, 11) / 10
SMALL = np.hstack([np.ones((2, 10)), np.kron(np.eye(2), RISING)])
FIGURE_3 = np.hstack([np.ones((10, 1)), np.kron(np.eye(10), RISING)])
PAIR = np.array([[0.5, 0.5, 0.0], [0.1, 0.0, 0.9]])

print(f"z of the token that loses = {train(PAIR, 100, 1.0, 1.0, 1e5)[1]:.5f}")
for ratio in (1, 10, 20):
    z = train(SMALL, 33, 1.0, float(ratio), 1e5)
    print(f"H(DT) at ratio {ratio} = {entropy(z):.5f}")
for rate in (1, 10, 1000):
    z = train(SMALL, 33, float(rate), float(rate), 1e3)
    print(f"H(DT) at both rates {rate} = {entropy(z):.5f}")
print(f"growth in Figure 3 at 10 = {train(FIGURE_3, 1000, 0.5, 10.0, 1e5)[10]:.6f}")
