"""Reader's notes on `vit`: places to read with care.

The version read is the text extracted from the paper; its formulas are broken over
lines, and what looks like a slip may be the extraction's, or be mended elsewhere. Most
notes are within proofs, and harm no statement.
"""

from attnflow.papers.vit.notes.experiments import EXPERIMENTS
from attnflow.papers.vit.notes.proofs import PROOFS
from attnflow.schema.declarations import Note

NOTES: tuple[Note, ...] = (*PROOFS, *EXPERIMENTS)
