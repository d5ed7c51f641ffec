"""Claims of `cooccurrence`: closed_system."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
