"""Data: token sequences, and one file per distribution."""

from attnflow.data.cooccurrence import CooccurrenceTask as CooccurrenceTask
from attnflow.data.cooccurrence_orbits import CooccurrenceOrbits as CooccurrenceOrbits
from attnflow.data.disjoint_noise import DisjointNoiseTask as DisjointNoiseTask
from attnflow.data.in_context import InContextTask as InContextTask
from attnflow.data.label_noise import NoisyLabels as NoisyLabels
from attnflow.data.mixture import MixtureTask as MixtureTask
from attnflow.data.noisy_patches import NoisyPatchesTask as NoisyPatchesTask
from attnflow.data.positions import Positions as Positions
from attnflow.data.prompts import PromptQuery as PromptQuery
from attnflow.data.sequences import Sequences as Sequences
from attnflow.data.sequences import from_arrays as from_arrays
from attnflow.data.sequences import sequences as sequences
from attnflow.data.signal_noise import SignalNoiseTask as SignalNoiseTask
from attnflow.data.symmetry import PermutedGroups as PermutedGroups
from attnflow.data.symmetry import PrivateTokens as PrivateTokens
from attnflow.data.symmetry import Symmetry as Symmetry
