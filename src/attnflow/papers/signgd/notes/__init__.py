"""Reader's notes on `signgd`: places to read with care.

The version read is the text extracted from arXiv 2410.04870 (ICLR 2025). Its formulas
are mangled in places and whole displays of Lemmas E.2, E.3, E.7 and E.9 are missing,
which is never noted: what looks like a slip may be the extraction's, or be mended
elsewhere. The four stages are there, in the order stated, wherever the conditions of
the theory can be met at all; most of what follows is within proofs, and harms no
statement.
"""

from attnflow.papers.signgd.notes.conditions import CONDITIONS
from attnflow.papers.signgd.notes.proofs_early import EARLY
from attnflow.papers.signgd.notes.proofs_late import LATE
from attnflow.papers.signgd.notes.statements import STATEMENTS
from attnflow.schema.declarations import Note

NOTES: tuple[Note, ...] = (*STATEMENTS, *CONDITIONS, *EARLY, *LATE)
