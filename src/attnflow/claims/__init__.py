"""Claims with fair verdicts."""

from attnflow.claims.base import Claim as Claim
from attnflow.claims.base import Correction as Correction
from attnflow.claims.base import Evidence as Evidence
from attnflow.claims.base import Exact as Exact
from attnflow.claims.base import Finding as Finding
from attnflow.claims.base import Ladder as Ladder
from attnflow.claims.base import Measurement as Measurement
from attnflow.claims.base import Scope as Scope
from attnflow.claims.base import Seeds as Seeds
from attnflow.claims.base import Slope as Slope
from attnflow.claims.base import Unchecked as Unchecked
from attnflow.claims.base import Verdict as Verdict
