"""Reader's notes on `scansnap`."""

from attnflow.papers.scansnap.notes.decoder import DECODER
from attnflow.papers.scansnap.notes.experiments import EXPERIMENTS
from attnflow.papers.scansnap.notes.phases import PHASES

NOTES = (*DECODER, *PHASES, *EXPERIMENTS)
