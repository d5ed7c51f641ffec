"""Claims of all papers, judged side by side; what was judged already is read."""

from attnflow.runs.verifying.drive import verify_claims as verify_claims
from attnflow.runs.verifying.identity import judging_code as judging_code
from attnflow.runs.verifying.identity import verdict_key as verdict_key
from attnflow.runs.verifying.verdicts import Verdicts as Verdicts
