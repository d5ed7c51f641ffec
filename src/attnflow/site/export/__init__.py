"""Claims as folders that a referee reads without attnflow, and re-runs with it."""

from attnflow.site.export.claims import Exported as Exported
from attnflow.site.export.claims import export_claims as export_claims
