"""An iteration of double-noise Newton beside a plain NumPy transcription, on Adult's rows.

    python -m benchmarks.logistic

The same matrix, dense, in the same process, one thread, in turns. How methods compare in excess
loss and time is in ``experiments.second_order_time``.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # after the number of threads is set

from benchmarks.newton_transcription import transcribed_step
from experiments import logistic_data
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton

ROUNDS = 5


def ours(losses: LinearModelLoss, modification: str) -> float:
    """Processor seconds of one iteration: of 25 less those of 5."""
    seconds = []
    for steps in (5, 25):
        settings = DoubleNoise(modification=modification, steps=steps)
        begun = time.process_time()
        double_noise_newton(
            losses,
            epsilon=1.0,
            delta=logistic_data.delta_for(losses.size),
            settings=settings,
            random_state=1,
        )
        seconds.append(time.process_time() - begun)
    return (seconds[1] - seconds[0]) / 20


def plain(dense: np.ndarray, labels: np.ndarray, modification: str) -> float:
    """Processor seconds of one iteration of the transcription."""
    rng, w = np.random.default_rng(0), np.zeros(dense.shape[1])
    begun = time.process_time()
    transcribed_step(
        dense, labels, w, rho=0.01, gradient_share=0.75, trace_share=0.1,
        modification=modification, rng=rng,
    )  # fmt: skip
    return time.process_time() - begun


def main() -> None:
    """Print the least of some rounds, and the ratio."""
    features, labels = logistic_data.adult()
    losses, dense = logistic_data.losses(features, labels), features.toarray()
    losses.second_order(np.zeros(losses.dimension), "upper")  # Compiled and warm.
    for modification in ("add", "clip"):
        pairs = [
            (ours(losses, modification), plain(dense, labels, modification)) for _ in range(ROUNDS)
        ]
        one, other = (min(pair[i] for pair in pairs) for i in (0, 1))
        print(
            f"one iteration, qu-{modification}: {1e3 * one:.2f} ms, plain NumPy {1e3 * other:.2f} "
            f"ms: {one / other:.2f} of it"
        )


if __name__ == "__main__":
    main()
