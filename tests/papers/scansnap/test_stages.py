import numpy as np
import pytest

from attnflow.experiment import run
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.stages import series, stage_table, stage_times
from attnflow.papers.scansnap.systems.decoder import Decoder


def made(id, **changes):
    recipe = PAPER.recipe(id)
    return run(recipe.experiment(recipe.with_overrides(changes)))


def rows(found):
    return {row.name: row for row in stage_table(found)}


def test_formulas():
    found = made("figure9", vocabulary=34, value_rate=2.0)
    times = stage_times(found)
    decoder = Decoder(10, 34, 2.0, 1.0)
    assert times["scan_end"] == pytest.approx(5 * np.log(34))
    assert times["decoder_snap"] == pytest.approx(decoder.peak)
    assert times["snap"] == pytest.approx(decoder.snap)


def test_detectors_in_j_and_q():
    """D1 near γ's peak; D2 at 1.28 and 5.1 in J, 0.74 in Q, in units of K/η_Y."""
    expected = {("figure3", 1.0): 1.28, ("figure3", 0.1): 5.1, ("figure3-q", 1.0): 0.74}
    for (id, rate), snap in expected.items():
        table = rows(made(id, score_rate=rate, records=601, until=1e4))
        peak = table["decoder_snap"]
        assert peak.detected == pytest.approx(peak.formula, rel=0.03)
        # Records are 2.7% apart.
        assert table["attention_snap"].detected / 10 == pytest.approx(snap, rel=0.03)
        assert table["slow_growth"].detected > table["attention_snap"].detected
        assert table["snap"].formula > table["scan_end"].formula > peak.formula
        assert peak.note.startswith(id[-1].upper() if "-" in id else "J")


def test_growth_of_the_scalar_model_slows():
    """d ln h²/d ln t = 1 has one root u, and t is a function of it."""
    for vocabulary, root in ((100, 6.65), (1000, 8.60)):
        table = rows(made("figure9", vocabulary=vocabulary, records=2001))
        assert table["slow_growth"].detected / 10 == pytest.approx(root, abs=0.01)
        assert "needs attention_per_class" in table["frozen"].note


def test_steps_of_momentum_are_ten_times_as_fast():
    table = rows(made("figure4-left"))
    assert table["scan_end"].formula == pytest.approx(2 * np.log(34) / 10)
    assert "10 times as fast" in table["scan_end"].note
    assert 10 < table["frozen"].detected < 50
    assert table["attention_snap"].detected is None
    assert rows(made("figure5", steps=20))["scan_end"].formula is None


def test_drift_of_attention():
    found = made("figure4-left", steps=40)
    drift = series.attention_drift(found)
    attention = found["attention_per_class"].isel(seed=0)
    apart = abs(attention.sel(time=16) - attention.sel(time=8)).sum("token").mean() / 2
    assert float(drift.sel(time=8)[0]) == pytest.approx(float(apart))
    assert float(drift["time"].max()) == 20


def test_the_top_token():
    found = made("classes", query=(1, 0), until=10.0)
    assert series.query_of(found) == "query1"
    assert series.top_token(found) == "token1"


def test_computations_have_no_stages():
    assert stage_table(made("figure8", steps=5)) == []
