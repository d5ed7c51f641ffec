"""Claims on Figures 6, 11 and 12, judged on a replay of the published runs."""

from functools import partial

import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import PUBLISHED, STEPS
from attnflow.schema.declarations import Request

FIGURE_6 = {
    f"{queries} queries": Request(
        "figure6", {"queries": (queries,), "stream": "published"}, seeds=PUBLISHED
    )
    for queries in (1, 3, 5, 10)
}
"""One request per panel, the same as those of the figures."""
REPLAY = (
    "the published runs themselves: seeds 1 to 10 with the authors' random streams, "
    "which need PyTorch; queries 1, 3, 5, 10, η_Z = 0.5, 1, 2, 3, η_Y/η_Z = 1, 2, 5, 10"
)
REPLAYED = f"our replay of the published runs, seeds {PUBLISHED[0]}–{PUBLISHED[-1]}"


def _over_seeds(evidence: Evidence, name: str) -> xr.DataArray:
    """Mean of an observable over seeds, all four panels together."""
    panels = [run[name].mean("seed") for run in evidence.values()]
    return xr.concat(panels, "queries")


def _means(evidence: Evidence) -> xr.DataArray:
    means = _over_seeds(evidence, "mean_distinct_entropy")
    return means.transpose("queries", "ratio", "score_rate")


def _judge_scores(evidence: Evidence) -> Finding:
    means = _means(evidence)
    rows = (means.diff("score_rate") < 0).all("score_rate")
    check = Exact(float((~rows).sum()), 0.0, "rows of 16 in which H does not fall")
    return Finding((check,), {"means": means.values.tolist()})


def _judge_ratio(evidence: Evidence) -> Finding:
    means = _means(evidence)
    upper = means.sel(ratio=[2.0, 5.0, 10.0]).diff("ratio")
    rows = (upper > 0).all("ratio")
    first = means.sel(ratio=2.0) < means.sel(ratio=1.0)
    check = Exact(float((~rows).sum()), 1.0, "rows of 16 in which H does not rise")
    falls = first.sum("score_rate").values.tolist()
    return Finding((check,), {"rows that fall from 1 to 2, by queries": falls})


def _judge_recall(evidence: Evidence) -> Finding:
    recall = _over_seeds(evidence, "recall").sel(threshold=2.0)
    one_query = recall.sel(queries=1)
    ratio = one_query.sel(score_rate=1.0)
    rates = recall.sel(queries=10, ratio=2.0)
    return Finding(
        (
            Exact(
                float(ratio.sel(ratio=10.0) - ratio.sel(ratio=1.0)) + 0.05,
                0.0,
                "recall at 2/M, ratio 10 less ratio 1, and 0.05",
            ),
            Exact(
                float(rates.sel(score_rate=0.5) - rates.sel(score_rate=3.0)) + 0.05,
                0.0,
                "recall at 2/M, η_Z = 0.5 less 3, and 0.05",
            ),
        ),
        {"by ratio": ratio.values.tolist(), "by η_Z": rates.values.tolist()},
    )


_claim = partial(
    Claim,
    system=STEPS,
    needs=FIGURE_6,
    expected=Verdict.HOLDS,
    scope=Scope.EXPERIMENT,
    conditions=REPLAY,
)
CLAIMS = (
    _claim(
        id="E-Fig6-ez",
        place="Figure 6",
        statement="H(DT) falls as η_Z grows.",
        judge=_judge_scores,
        predicate="the mean over the ten published seeds falls with every step of η_Z, "
        "in all 16 rows of queries and ratios",
        source=REPLAYED,
        mutations=named(
            mutate.reverse("*", "mean_distinct_entropy", "score_rate"),
            mutate.constant("*", "mean_distinct_entropy", "score_rate"),
        ),
    ),
    _claim(
        id="E-Fig6-ratio",
        place="Figure 6",
        statement="H(DT) rises with η_Y/η_Z from a ratio of about 2 on.",
        judge=_judge_ratio,
        predicate="the mean over the ten published seeds rises from 2 to 5 to 10 in at "
        "least 15 of the 16 rows: one cell of one query has a spread of 0.3",
        source=REPLAYED,
        mutations=named(
            mutate.reverse("*", "mean_distinct_entropy", "ratio"),
            mutate.constant("*", "mean_distinct_entropy", "ratio"),
        ),
    ),
    _claim(
        id="E-Fig11-12",
        place="Appendix G, Figures 11 and 12",
        statement="Recall of distinct tokens descends more slowly with its threshold "
        "where η_Y/η_Z is small, and where η_Z is large.",
        judge=_judge_recall,
        predicate="mean recall at the threshold 2/M is at least 0.05 larger at the "
        "ratio 1 than at 10 (one query, η_Z = 1), and at η_Z = 3 than at 0.5 (ten "
        "queries, ratio 2)",
        source=REPLAYED,
        mutations=named(
            mutate.reverse("*", "recall", "ratio"),
            mutate.constant("*", "recall", "score_rate"),
        ),
    ),
)
