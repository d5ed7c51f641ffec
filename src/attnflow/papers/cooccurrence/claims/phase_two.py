"""Claims of `cooccurrence`: phase_two."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
