"""Reader's notes on `signgd`: errata and caveats.

The version read is text extracted from arXiv 2410.04870 (ICLR 2025). Some formulas are
mangled by the extraction, and whole displays of Lemmas E.2, E.3, E.7 and E.9 are
missing; these are not noted, and what looks like a slip may be due to the extraction or
corrected elsewhere. The four stages occur in the stated order wherever the theory's
conditions can be met; most notes concern proofs and affect no statement.
"""

from attnflow.papers.signgd.notes.conditions import CONDITIONS
from attnflow.papers.signgd.notes.proofs_early import EARLY
from attnflow.papers.signgd.notes.proofs_late import LATE
from attnflow.papers.signgd.notes.statements import STATEMENTS
from attnflow.schema.declarations import Note

NOTES: tuple[Note, ...] = (*STATEMENTS, *CONDITIONS, *EARLY, *LATE)
