"""A run written by hand, whose stages end at known steps.

Two samples of three tokens, with labels +1 and −1, in the benign course:

- the signal's value is t/1000 and that of all noise 1/10000, so that it is 3M = 9 times
  as large from t = 0.9 on, and above 0.1 from t = 100 on;
- attention to the signal is t/(100 + t), 0.9 at t = 900;
- the loss is 100/t, 0.05 at t = 2000, and the run ends there.

In the harmful course signal and strong noise are exchanged.
"""

import json

import numpy as np
import xarray as xr

from attnflow.papers.vit.settings import Theory

STEPS = np.concatenate([np.arange(51.0), np.arange(60.0, 2001.0, 20.0)])
SETTING = Theory(samples=2, length=3, target=0.05, strength=1e8)


def course(regime="benign", *, seeds=1, setting=SETTING, label=(1.0, -1.0)):
    """The run; further seeds are copies of the first."""
    winner = 0 if regime == "benign" else 1
    share = STEPS / (100 + STEPS)
    attention = np.repeat(((1 - share) / 2)[:, None], 3, axis=1)
    attention[:, winner] = share
    shape = (len(STEPS), 2, 1, 3, 3)
    tables = {
        "pair_value": (("sample", "head", "key_position"), _values(winner, label)),
        "attention": (
            ("sample", "head", "query_position", "key_position"),
            np.broadcast_to(attention[:, None, None, None, :], shape),
        ),
        "label": (("sample",), np.tile(label, (len(STEPS), 1))),
        "loss": ((), 100 / np.maximum(STEPS, 1.0)),
    }
    rows = {
        name: (("seed", "time", *dims), np.repeat(table[None], seeds, axis=0))
        for name, (dims, table) in tables.items()
    }
    rows["recorded"] = (("seed", "time"), np.ones((seeds, len(STEPS)), bool))
    return xr.Dataset(
        rows,
        {"seed": np.arange(seeds), "time": STEPS},
        {"setting": json.dumps(vars(setting))},
    )


def _values(winner, label):
    """Values at each position: those of labels −1 are negative for the winner."""
    values = np.full((len(STEPS), 2, 1, 3), 1e-4)
    values[:, :, 0, 2] *= -1
    values[:, :, 0, winner] = STEPS[:, None] / 1000
    return values * np.array(label)[:, None, None]


def cut(run, last, *, loss):
    """The run stopped at `last`, between two records, with this final loss."""
    stopped = run.copy(deep=True)
    stopped["recorded"] = stopped["recorded"] & (stopped["time"] <= last)
    seeds = run.sizes["seed"]
    return stopped.assign(
        loss_at_end=(("seed", "stage"), np.full((seeds, 1), loss)),
        end_time=("seed", np.full(seeds, float(last))),
        outcome=("seed", np.full(seeds, "event" if loss <= 0.05 else "finished")),
    )
