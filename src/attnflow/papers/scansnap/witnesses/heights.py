"""Remark 2: by how many visits h* (Equation 33) is ahead of h (Equation 45)."""

import math

M, RATE = 30, 1.0

u = 0.0
for visit in range(1, 20001):
    u += M * RATE / (M - 1 + math.exp(u))
    if visit in (200, 20000):
        # Equation 45 gives the time at which the flow has the height u/M.
        time = (math.exp(u) + (M - 1) * u - 1) / (M * RATE)
        print(f"c at {visit} = {time - visit:.4f}")
