"""Patterns for which attention features under uniform attention are separable.

SciPy's linear programmes alone. K = 2, L = 3, b = 1/2.
"""

import itertools

import numpy as np
from scipy.optimize import linprog

BIAS = 0.5


def separable(rows):
    """Whether some w has w · row ≥ 1 for all rows."""
    size = rows.shape[1]
    free = [(None, None)] * size
    return linprog(np.zeros(size), -rows, -np.ones(len(rows)), bounds=free).status == 0


# The four conflicting samples (basis c1, c2, v1, v2): uniform attention reads the sum
# of the tokens.
reads = np.array(
    [[1, 0, s, -s] if k == 0 else [0, 1, -s, s] for k in (0, 1) for s in (1, -1)], float
)
label = np.array([s for _ in (0, 1) for s in (1, -1)])
bits = list(itertools.product((0.0, 1.0), repeat=4))
# A head's pattern is possible where some w, b have those signs of w · read + b.
extended = np.column_stack([reads, np.ones(4)])
possible = [a for a in bits if separable((2 * np.array(a) - 1)[:, None] * extended)]
count = 0
for plus, minus in itertools.product(map(np.array, possible), repeat=2):
    feature = np.column_stack(
        [plus[:, None] * reads, -minus[:, None] * reads, BIAS * (plus - minus)]
    )
    count += separable(label[:, None] * feature)
print(f"possible = {len(possible) ** 2}")
print(f"separable = {count}")
