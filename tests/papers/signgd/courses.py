"""A synthetic run whose stages end at known steps.

Ten neurons and four samples, all inner products piecewise linear in the step:

- mean value noise is (t − 3) times 1 … 4, so that all are positive from t = 3 on;
- in neuron s key noise of sample 0 crosses zero at s + 1, and is aligned from there on;
- signals turn to the neuron's vote every third step, the last at 30;
- sample 3 is the minority: its key noise turns at 150 and its query noise at 300, so
  that they cross zero at 300 and 600;
- s21 is 1/(2 + 3 (t/100)²), and s11 is 1/2 up to 400 and then 200/t.
"""

import json

import numpy as np
import xarray as xr

from attnflow.papers.signgd.settings import Train

NEURONS, SAMPLES = 10, 4
TOKENS = ["mu", *(f"noise{i + 1}" for i in range(SAMPLES))]
STEPS = np.concatenate([np.arange(61.0), np.arange(65.0, 605, 5), [620.0, 640.0]])
FORWARD = np.where(np.arange(NEURONS) % 2, -1.0, 1.0)
"""The signs of the neurons' votes."""

TURNS = 30.0 - 3 * np.arange(NEURONS)[::-1]


def course(*, setting=None, seeds=1, steps=STEPS):
    """The run; further seeds are copies of the first."""
    tables = {
        "value": (("head", "token"), _values(steps)[:, None]),
        "key_neuron": (("head", "neuron", "token"), _keys(steps)[:, None]),
        "query_neuron": (("head", "neuron", "token"), _queries(steps)[:, None]),
        "attention": (
            ("sample", "head", "query_position", "key_position"),
            _attention(steps),
        ),
    }
    rows = {
        name: (("seed", "time", *dims), np.repeat(table[None], seeds, axis=0))
        for name, (dims, table) in tables.items()
    }
    rows["recorded"] = (("seed", "time"), np.ones((seeds, len(steps)), bool))
    setting = vars(setting or Train(embed=400)) | {}
    return xr.Dataset(
        rows,
        {"seed": np.arange(seeds), "time": steps, "token": TOKENS},
        {"setting": json.dumps(setting)},
    )


def with_setting(run, **changes):
    """The run as if it had been made with another setting."""
    setting = json.loads(run.attrs["setting"]) | changes
    return run.assign_attrs(setting=json.dumps(setting))


def doubled(run):
    """The run with a second noise token in each sample, which attention shuns.

    It is the mirror image of the first one, and stands before it in samples 0 and 2.
    """
    tokens = np.repeat(np.arange(1, SAMPLES + 1), 2)
    signs = np.tile([-1, 1, 1, -1], SAMPLES // 2)
    factor = xr.DataArray(np.append(1, signs), dims="token")
    tables = {
        name: run[name].isel(token=np.append(0, tokens)).drop_vars("token") * factor
        for name in ("value", "key_neuron", "query_neuron")
    }
    names = [f"noise{i}.{j}" for i in range(1, SAMPLES + 1) for j in (1, 2)]
    is_attended = signs.reshape(SAMPLES, 2) > 0
    mass = run["attention"].values
    # A sample's attention to noise, 9 : 1; both noise queries pay alike.
    shares = np.where(is_attended, 0.9, 0.1)[:, None, None]
    keys = np.concatenate([mass[..., :1], mass[..., 1:] * shares], axis=-1)
    attention = keys[..., [0, 1, 1], :]
    long = run.drop_dims("token").drop_vars("attention").assign(tables)
    long = long.assign(attention=(run["attention"].dims, attention))
    long = long.assign_coords(token=["mu", *names])
    return with_setting(long, length=3, noise_tokens=2)


def _values(t):
    noise = (t[:, None] - 3) * np.arange(1.0, SAMPLES + 1)
    return np.concatenate([0.1 * t[:, None], noise], axis=1)


def _queries(t):
    noise = np.repeat((t + 1)[:, None], SAMPLES, axis=1)
    noise[:, 3] = np.where(t < 300, -(t + 0.1), t - 600.1)
    return _joined(FORWARD * _signals(t), noise)


def _keys(t):
    noise = np.repeat((t + 1)[:, None], SAMPLES, axis=1)
    noise[:, 3] = np.where(t < 150, -(t + 0.1), t - 300.1)
    joined = _joined(-FORWARD * _signals(t), noise)
    first = t[:, None] - np.arange(1.0, NEURONS + 1)
    joined[:, :, 1] = FORWARD * first
    return joined


def _signals(t):
    """In the direction of the vote, from the step `TURNS` of each neuron on."""
    return 0.2 * (t[:, None] - TURNS)


def _joined(signal, noise):
    """Tables `(time, neuron, token)`."""
    spread = FORWARD[:, None] * noise[:, None]
    return np.concatenate([signal[:, :, None], spread], axis=2)


def _attention(t):
    noise = 1 / (2 + 3 * (t / 100) ** 2)
    signal = np.where(t < 400, 0.5, 200 / np.maximum(t, 1.0))
    rows = [np.stack([part, 1 - part], axis=-1) for part in (signal, noise)]
    table = np.stack(rows, axis=1)
    return np.broadcast_to(table[:, None, None], (len(t), SAMPLES, 1, 2, 2)).copy()
