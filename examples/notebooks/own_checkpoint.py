# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your PyTorch checkpoint, judged
#
# A plain PyTorch loop over the model of paper B; its checkpoints become a run, and
# the paper's claim is judged on that run.

# %%
import torch

import attnflow as af

torch.set_num_threads(1)
EXPERIMENT, SETTING = "mixture/figure1", {"records": 101}
start = af.initial_weights(EXPERIMENT, seed=0, **SETTING)
data = af.samples(EXPERIMENT, seed=0, **SETTING)
x = torch.tensor(data["tokens"][data["key"]])
y, share = torch.tensor(data["label"]), torch.tensor(data["probability"])
weights = {name: torch.tensor(w, requires_grad=True) for name, w in start.items()}


def model(x):
    """Two heads of attention with linear values, and a pair of ReLUs."""
    keys = torch.einsum("hmd,nkd->nhkm", weights["W_K"], x)
    queries = torch.einsum("hmd,nqd->nhqm", weights["W_Q"], x)
    values = torch.einsum("hd,nkd->nhk", weights["w"], x)
    attention = torch.softmax(queries @ keys.transpose(-1, -2), dim=-1)
    heads = (attention * values[:, :, None, :]).sum((-1, -2)) + 0.5
    return torch.relu(heads[:, 0]) - torch.relu(heads[:, 1])


# %%
def training(rate=0.1):
    """Gradient descent; the weights at the steps that the experiment records."""
    steps = set(af.times(EXPERIMENT, **SETTING).astype(int).tolist())
    descent = torch.optim.SGD(weights.values(), lr=rate)
    for step in range(max(steps) + 1):
        if step in steps:
            yield step, {name: w.detach().clone() for name, w in weights.items()}
        descent.zero_grad()
        (share * torch.nn.functional.softplus(-y * model(x))).sum().backward()
        descent.step()


mine = af.observe(EXPERIMENT, [training()], seeds=[0], **SETTING)
mine.attnflow

# %% [markdown]
# attnflow's own run, from the same weights in its reduced form, is the same to
# rounding:

# %%
ours = af.run(EXPERIMENT, **SETTING)
gap = float(abs(mine["loss"] - ours["loss"]).max())
print(f"largest difference of the loss {gap:.1e}")
assert gap < 1e-11

# %% [markdown]
# The verdict on your run, with its scope:

# %%
table = af.paper("mixture").claims.verify("B-Sec3-order", run=mine)
table

# %%
(row,) = table.rows
print(row.verdict, "-", row.reading)
assert row.verdict == af.Verdict.HOLDS
