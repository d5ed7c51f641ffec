"""Claims of all papers, judged side by side; what was judged already is read."""

from attnflow.verifying.drive import verify_claims as verify_claims
from attnflow.verifying.identity import judging_code as judging_code
from attnflow.verifying.identity import verdict_key as verdict_key
from attnflow.verifying.verdicts import Verdicts as Verdicts
