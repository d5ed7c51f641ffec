"""Claims of `cooccurrence`: reductions."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
