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
# # Training at infinite width
#
# Width is a number: it enters through the law of one small matrix. So widths up to
# 10¹², and infinite width, cost the same.

# %%
import matplotlib.pyplot as plt
import numpy as np

import attnflow as af


def show(fraction, text):
    """A progress bar of one line."""
    print(f"\r{fraction:4.0%}  {text:<60}", end="")


limit = af.run("mixture/figure1", width="infinite", progress=show)

# %%
widths = 10.0 ** np.arange(1, 13)
gaps = []
for width in widths:
    run = af.run("mixture/figure1", width=int(width), seeds=8)
    gap = abs(run["score"] - limit["score"].isel(seed=0, drop=True))
    gaps.append(float(gap.max(["time", "head", "key", "query"]).mean()))

figure, axes = plt.subplots()
axes.loglog(widths, gaps, "o", label="largest difference of a score")
axes.loglog(widths, gaps[-1] * np.sqrt(widths[-1] / widths), label="$1/\\sqrt{m}$")
axes.set(xlabel="width m")
axes.legend()
# %%
slope = np.polyfit(np.log(widths[2:]), np.log(gaps[2:]), 1)[0]
print(f"slope {slope:.3f}")
assert abs(slope + 0.5) < 0.05
