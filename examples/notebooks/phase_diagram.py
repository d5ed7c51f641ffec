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
# # A phase diagram
#
# A sweep over two settings is one `xarray.Dataset`, drawn by one function. Here: how
# long attention takes to be learned, over the initial scale ω and the width.

# %%
import attnflow as af
from attnflow import figures


def show(fraction, text):
    """A progress bar of one line."""
    print(f"\r{fraction:4.0%}  {text:<60}", end="")


result = af.sweep(
    "mixture/figure1",
    omega="0.01..0.5:7:log",
    width="8..512:7:log",
    steps=2500,
    seeds=2,
    measure="largest_score@0.5",
    executor="here",
    progress=show,
)
times = result["largest_score@0.5"].mean("seed")

# %%
figures.phase_grid(times)

# %% [markdown]
# The time depends on ω, as its logarithm, and hardly on the width:

# %%
print(times.round(0).to_pandas().to_string())
over_omega = float(times.isel(omega=0).mean() / times.isel(omega=-1).mean())
over_width = float(times.isel(width=-1).mean() / times.isel(width=0).mean())
print(f"factor over omega {over_omega:.2f}, over width {over_width:.2f}")
assert over_omega > 2.5 > 1.5 > over_width
