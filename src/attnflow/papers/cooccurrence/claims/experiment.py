"""Claims of `cooccurrence`: experiment."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
