"""Stage tables of runs of `mixture`: closed forms beside detected times.

For simultaneous training the table has

| name | event | closed form |
|---|---|---|
| `t_neuron` | w₊ᵀv1 reaches 1/4 | stage 1 |
| `t_consistent` | the consistent samples' loss falls to 0.1 | stage 1 |
| `t_onset` | the main score S₊[c1, v1] reaches 0.1 | `formulas.onset_time` |
| `t_attention` | the largest score reaches 1/2 | – |
| `t_conflict` | the conflicting samples' loss leaves its plateau: 0.9 log 2 | – |
| `t_learned` | that loss falls to 0.1 | – |

and for Algorithm 1 the times `T_half`, `T1`, `T2`, `T3` at which its stages end. The
paper gives orders of magnitude only; the closed forms are ours. They hold at infinite
width for K = 2, L = 3.
"""

from attnflow.papers.mixture.formulas import alignment_time as alignment_time
from attnflow.papers.mixture.formulas import stage_one_time as stage_one_time
from attnflow.papers.mixture.stages.table import LEARNED as LEARNED
from attnflow.papers.mixture.stages.table import LEFT_PLATEAU as LEFT_PLATEAU
from attnflow.papers.mixture.stages.table import attention_grown as attention_grown
from attnflow.papers.mixture.stages.table import (
    consistent_learned as consistent_learned,
)
from attnflow.papers.mixture.stages.table import (
    convergence_margins as convergence_margins,
)
from attnflow.papers.mixture.stages.table import learned as learned
from attnflow.papers.mixture.stages.table import (
    main_score_reaches as main_score_reaches,
)
from attnflow.papers.mixture.stages.table import neurons_aligned as neurons_aligned
from attnflow.papers.mixture.stages.table import plateau_left as plateau_left
from attnflow.papers.mixture.stages.table import shading as shading
from attnflow.papers.mixture.stages.table import stage_table as stage_table
