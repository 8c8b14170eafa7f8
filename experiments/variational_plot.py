"""The picture of :mod:`experiments.variational_rates`; needs the extra ``experiments``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def plot(summaries: dict[str, dict[str, Any]], methods: list[str], path: Path) -> None:
    """Mean gaps and bounds against n, one panel per problem."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    problems = list(dict.fromkeys(name.split("/")[0] for name in summaries))
    figure, axes = pyplot.subplots(1, len(problems), figsize=(6 * len(problems), 6))
    for axis, problem in zip(np.atleast_1d(axes), problems, strict=True):
        for i, method in enumerate(methods):
            found = summaries.get(f"{problem}/{method}")
            if found is None:
                continue
            rows = found["rows"]
            n = [row["n"] for row in rows]
            errors = [1.96 * row["standard_error"] for row in rows]
            axis.errorbar(
                n,
                [r["mean_gap"] for r in rows],
                errors,
                marker="s" if method == "nispp_multi" else "o",
                # Wide, to be seen beneath the same points by the other subsolver.
                linewidth=6 if method == "nispp_multi" else 1.5,
                alpha=0.5 if method == "nispp_multi" else 1.0,
                markersize=10 if method == "nispp_multi" else 5,
                color=f"C{i}",
                label=f"{method}, slope {found.get('slope', float('nan')):.2f}",
            )
            axis.plot(n, [r["gap_bound"] for r in rows], ":", color=f"C{i}")
            worn = [r for r in rows if r["saturated"]]
            axis.plot([r["n"] for r in worn], [r["mean_gap"] for r in worn], "x", color="black",
                      markersize=10)  # fmt: skip
        axis.set(xscale="log", yscale="log", xlabel="records", ylabel="mean saddle gap",
                 title=problem.replace("_", "-"))  # fmt: skip
        axis.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    figure.suptitle("epsilon = 1; bars: 95% intervals; dotted: explicit bounds; crosses: saturated")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
