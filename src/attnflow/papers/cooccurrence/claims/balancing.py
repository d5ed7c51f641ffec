"""Claims of `cooccurrence`: balancing."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
