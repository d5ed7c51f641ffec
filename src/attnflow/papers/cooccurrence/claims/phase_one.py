"""Claims of `cooccurrence`: phase_one."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
