"""How fast margins of the four types grow with log t, for many samples.

Fillers carry nothing then, attention is uniform and the readout gain b constant: what
is left is logistic regression on how often the three named tokens occur, by gradient
flow on the clock b t. Runge-Kutta steps in log t, up to b t = 10^8. NumPy alone.
"""

import numpy as np

HELD = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]], float)
LABEL, SHARE = np.array([1, -1, -1, -1.0]), np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])
SIGNED = LABEL[:, None] * HELD


def velocity(log_time, readouts):
    """Of the three readouts, by log t."""
    weights = SHARE / (1 + np.exp(SIGNED @ readouts))
    return np.exp(log_time) * weights @ SIGNED


def course(first=-5.0, last=8.0, steps=100_000):
    """Powers of ten and margins of the four types there."""
    times = np.linspace(first, last, steps + 1) * np.log(10)
    step, readouts, margins = times[1] - times[0], np.zeros(3), []
    for time in times:
        margins.append(SIGNED @ readouts)
        one = velocity(time, readouts)
        two = velocity(time + step / 2, readouts + step / 2 * one)
        three = velocity(time + step / 2, readouts + step / 2 * two)
        four = velocity(time + step, readouts + step * three)
        readouts = readouts + step / 6 * (one + 2 * two + 2 * three + four)
    return times, np.array(margins)


if __name__ == "__main__":
    times, margins = course()
    late = times >= 7 * np.log(10)
    growth = np.polyfit(times[late], margins[late], 1)[0]
    ratio = growth.max() / growth.min()
    print(f"rate with neither target over both = {ratio:.2f}")
