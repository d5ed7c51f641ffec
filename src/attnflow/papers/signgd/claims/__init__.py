"""The claims of `signgd`."""

from attnflow.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
