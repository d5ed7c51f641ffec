"""How often some neuron reads more of averaged values than Corollary D.5 allows.

The weights of Section 2.2 at n = 60, L = 5, m1 = 64, m = 2048, attention uniform as it
is at time 0 up to 1/m, and δ = 0.1. NumPy alone.
"""

import numpy as np

N, L, M, M1, DRAWS, DELTA = 60, 5, 2048, 64, 300, 0.1
NAMED = [(0, 1, 2)] * 30 + [(0, 2)] * 10 + [(1, 2)] * 10 + [(2,)] * 10
generator = np.random.default_rng(0)

# Every sample holds its named tokens and fillers of its own.
weights, filler = np.zeros((163, N)), 3
for sample, tokens in enumerate(NAMED):
    own = range(filler, filler + L - len(tokens))
    weights[[*tokens, *own], sample] = 1 / L
    filler += len(own)
assert filler == len(weights)

violated = 0
for _ in range(DRAWS):
    # In units of σ0 and σ1, which both sides of the bound share.
    values = generator.normal(size=(M, len(weights))) @ weights
    readings = generator.normal(size=(M1, M)) @ values
    violated += np.abs(readings).max() > np.sqrt(M / L * np.log(M1 * N * L / DELTA))
print(f"share of draws that violate Corollary D.5 = {violated / DRAWS:.1f}")
