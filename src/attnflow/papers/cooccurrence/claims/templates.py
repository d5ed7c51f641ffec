"""What claims about one system share: their kind, conditions, setting and source."""

from functools import partial

from attnflow import claims as c
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.conditions import THEOREM

in_theory = partial(
    c.Claim,
    kind=c.Kind.ASYMPTOTIC,
    under=THEOREM,
    system=ev.FLOW,
    settings=ev.ALONG_M,
    expected=c.Verdict.HOLDS,
)
"""Orders of magnitude under the theorems' conditions, along the width."""
of_phase_one = partial(in_theory, needs=ev.FIRST_PHASE)
of_phase_two = partial(in_theory, needs=ev.ALL_WIDTHS, source=ev.THEORY_RUNS)
at_large_widths = partial(in_theory, settings=ev.ALONG_LARGE_M, source=ev.THEORY_RUNS)
observed = partial(
    c.Claim,
    kind=c.Kind.OBSERVATION,
    under=(),
    system=ev.DESCENT,
    settings=ev.APPENDIX_A,
    expected=c.Verdict.HOLDS,
)
"""What is seen in the paper's experiment."""
