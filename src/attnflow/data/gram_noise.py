"""Normal vectors known by their Gram matrix alone, in a basis of their own span.

The Gram matrix of standard normal vectors in n dimensions is Wishart, and its Cholesky
factor has independent entries: standard normal ones below the diagonal, and
`L[i, i]² ~ χ²(n − i)` (Bartlett's decomposition). The rows of L stand for the vectors,
so that n costs nothing. A row hangs on the rows before it by their number alone:
training tokens come first and know nothing of the test, and fewer tokens are the first
of more.

Two columns in front hold the coordinates along the signals, which are not part of the
Wishart matrix.
"""

import numpy as np
from jaxtyping import Float

ALONG = 2


def training_rows(
    along: np.random.Generator,
    normal: np.random.Generator,
    chi: np.random.Generator,
    *,
    freedom: int,
    training: int,
    test: int,
) -> Float[np.ndarray, "training columns"]:
    """Rows of the training tokens, with zeros in the columns that tests add."""
    made = np.zeros((training, ALONG + training + test))
    made[:, :ALONG] = along.standard_normal((training, ALONG))
    made[:, ALONG : ALONG + training] = _triangle(normal, chi, training, freedom)
    return made


def test_rows(
    along: np.random.Generator,
    normal: np.random.Generator,
    chi: np.random.Generator,
    *,
    freedom: int,
    training: int,
    test: int,
) -> Float[np.ndarray, "test columns"]:
    """Rows of the test tokens: below those of training in the same factor."""
    cross, own = normal.spawn(2)
    return np.concatenate(
        [
            along.standard_normal((test, ALONG)),
            # Column by column: fewer training tokens leave the others' as they are.
            cross.standard_normal((training, test)).T,
            _triangle(own, chi, test, freedom - training),
        ],
        axis=1,
    )


def _triangle(
    normal: np.random.Generator, chi: np.random.Generator, count: int, freedom: int
) -> Float[np.ndarray, "count count"]:
    """The Cholesky factor of a Wishart matrix, drawn row by row."""
    made = np.zeros((count, count))
    made[np.tril_indices(count, -1)] = normal.standard_normal(count * (count - 1) // 2)
    # In float64: 10^18 − i is rounded there, which a χ² of that many cannot see.
    left = float(freedom) - np.arange(count)
    np.fill_diagonal(made, np.sqrt(chi.chisquare(left)))
    return made
