"""Reader's notes on the text of `vit`: slips, gaps and conditions not met.

The version read is the text extracted from the paper; its formulas are broken over
lines, and what looks like a slip may be due to the extraction or be corrected
elsewhere. Most notes concern proofs and affect no statement.
"""

from attnflow.papers.vit.notes.experiments import EXPERIMENTS
from attnflow.papers.vit.notes.proofs import PROOFS
from attnflow.schema.declarations import Note

NOTES: tuple[Note, ...] = (*PROOFS, *EXPERIMENTS)
