"""Claims of `cooccurrence`: initial."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
