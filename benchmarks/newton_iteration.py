"""One iteration of double-noise Newton beside the plain transcription of its formulas.

    python -m benchmarks.newton_iteration [--data adult synthetic] [--output FILE.json]

Ours takes rows as they are (Adult: sparse, equal rows merged), the transcription the same matrix,
dense, in plain NumPy. Times are the least of several, since other work on the machine only adds;
the ratio is of one run.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.newton_transcription import transcribed_step
from experiments import logistic_data
from experiments.result import commit, result, write
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton

MODIFICATIONS = ("add", "clip")


def ours(losses: LinearModelLoss, modification: str) -> float:
    """Seconds of one of our iterations: the difference of long and short runs."""
    asked = {"epsilon": 1.0, "delta": logistic_data.delta_for(losses.size)}
    found = []
    for _ in range(5):
        seconds = {}
        for steps in (5, 25):
            settings = DoubleNoise(modification=modification, steps=steps)
            begun = time.perf_counter()
            double_noise_newton(losses, settings=settings, random_state=1, **asked)
            seconds[steps] = time.perf_counter() - begun
        found.append((seconds[25] - seconds[5]) / 20)
    return min(found)


def transcribed(dense: np.ndarray, labels: np.ndarray, modification: str) -> float:
    """Seconds of one iteration of the transcription."""
    rng, w, found = np.random.default_rng(0), np.zeros(dense.shape[1]), []
    for _ in range(10):
        begun = time.perf_counter()
        w = transcribed_step(
            dense, labels, w, rho=0.01, gradient_share=0.75, trace_share=0.1,
            modification=modification, rng=rng,
        )  # fmt: skip
        found.append(time.perf_counter() - begun)
    return min(found)


def side_by_side(
    losses: LinearModelLoss, features: Any, labels: np.ndarray
) -> list[dict[str, Any]]:
    """Both, for both modifications."""
    dense = np.asarray(features.todense() if hasattr(features, "todense") else features)
    losses.second_order(np.zeros(losses.dimension), "upper")  # Compiled and warm.
    lines = []
    for modification in MODIFICATIONS:
        own, plain = ours(losses, modification), transcribed(dense, labels, modification)
        lines.append(
            {
                "modification": modification,
                "rows": losses.size,
                "dimension": losses.dimension,
                "seconds": own,
                "transcription_seconds": plain,
                "ratio": own / plain,
            }
        )
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="a Newton iteration beside its transcription")
    parser.add_argument("--data", choices=["adult", "synthetic"], nargs="+", default=["adult"])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code, lines = commit(), []
    for data in options.data:
        features, labels = getattr(logistic_data, data)()
        for line in side_by_side(logistic_data.losses(features, labels), features, labels):
            lines.append({"data": data, **line})
            print(json.dumps(lines[-1]), flush=True)
    found = result(
        "a Newton iteration beside its transcription", {"lines": lines}, libraries=("numba",),
        code=code,
    )  # fmt: skip
    write(options.output, found)


if __name__ == "__main__":
    main()
