"""Claims of `cooccurrence`: end."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
