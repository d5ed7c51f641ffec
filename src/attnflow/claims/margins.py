"""From margins to the rule over seeds."""

import numpy as np
import xarray as xr

from attnflow.claims.base import Seeds


def per_seed(
    margin: xr.DataArray | np.ndarray,
    what: str,
    q: float = 0.9,
    *,
    strict: bool = False,
) -> Seeds:
    """A property of each seed, which holds where its margin is not negative.

    A margin that is not a number is not known, and so the property does not hold.

    **Arguments:**

    - `margin`: one number for each seed, in units of the claim's own scale.
    - `what`: the property in words; `q`: the share of seeds that must have it.
    - `strict`: it must be positive.

    !!! example

        >>> import numpy as np
        >>> from attnflow.claims import per_seed
        >>> per_seed(np.array([0.5, 0.0, np.nan]), "values come first").held
        (True, True, False)
    """
    known = np.nan_to_num(np.asarray(margin, float), nan=-1.0)
    held = known > 0 if strict else known >= 0
    return Seeds(tuple(held.tolist()), tuple(known.tolist()), what, q)
