"""Private logistic regression side by side: excess loss and wall time of every method.

    python -m benchmarks.logistic [--data adult|synthetic] [--relation zero_out] [--seeds 3]
                                  [--epsilons 0.01 0.1 1 10] [--variants qu-add ...] [--json FILE]

Every method runs on the same rows in the same process, one thread. Iterative methods run for each T
of a grid; the best T is chosen *knowing the excess losses*, which is not private: it compares what
methods can reach. Then: how long Newton takes to be as good as the best DP-GD, and the other way.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # after the number of threads is set

from experiments import logistic_data
from benchmarks.newton_transcription import transcribed_step
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.mechanisms.approximate_objective import approximate_objective
from oracle_dp.mechanisms.classical_objective import classical_objective
from oracle_dp.mechanisms.gaussian_objective import gaussian_objective
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.second_order.cubic import cubic_newton
from oracle_dp.second_order.damped import damped_newton
from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton
from oracle_dp.second_order.preconditioned import preconditioned_descent
from oracles.convex import Newton

GD_STEPS = (30, 100, 400, 1600, 3200, 6400)
NEWTON_STEPS = (5, 20, 80, 200)
FACTORS = (1.0, 4.0)
REFRESH = (1, 20)
VARIANTS = ("qu-add", "qu-clip", "hess-add", "hess-clip")
Result = dict[str, Any]


def timed(
    losses: LinearModelLoss, best: float, seeds: int, run: Callable[[int], Any]
) -> tuple[float, float, float, float]:
    """Mean and standard error of the excess loss, and the least wall and processor seconds.

    The least of the runs, since other work on the machine only ever adds.
    """
    excesses, wall, processor = [], [], []
    for seed in range(seeds):
        begun, worked = time.perf_counter(), time.process_time()
        w = run(seed).value
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
        excesses.append(losses.value(w) - best)
    error = float(np.std(excesses) / np.sqrt(seeds))
    return float(np.mean(excesses)), error, min(wall), min(processor)


def variants(kind: str, steps: int, factor: float, refresh: int = 1) -> DoubleNoise:
    """One of the four variants."""
    curvature, modification = kind.split("-")
    return DoubleNoise(
        curvature={"qu": "upper", "hess": "hessian"}[curvature],  # type: ignore[arg-type]  # literal
        modification=modification,
        steps=steps,
        floor_factor=factor,
        refresh=refresh,
    )


def iterative(
    losses: LinearModelLoss, asked: Result, kinds: list[str]
) -> list[tuple[str, int, Any]]:
    """Name, T and run of everything that iterates."""
    found: list[tuple[str, int, Any]] = []
    for t in GD_STEPS:
        found.append(
            ("gd", t, lambda s, t=t: gradient_descent(losses, steps=t, random_state=s, **asked))
        )
    for kind in kinds:
        for factor, refresh in itertools.product(FACTORS, REFRESH):
            for t in NEWTON_STEPS:
                settings = variants(kind, t, factor, refresh)
                found.append(
                    (
                        f"{kind} c={factor:g} r={refresh}",
                        t,
                        lambda s, settings=settings: double_noise_newton(
                            losses, settings=settings, random_state=s, **asked
                        ),
                    )
                )
    for matrices, t in itertools.product((1, 3), (5, 10, 20, 40, 80, 160)):
        found.append(
            (
                f"preconditioned K={matrices}",
                t,
                lambda s, t=t, k=matrices: preconditioned_descent(
                    losses, steps=t, matrices=k, random_state=s, **asked
                ),
            )
        )
    for t in (5, 10, 15, 25, 40):
        found.append(
            ("damped", t, lambda s, t=t: damped_newton(losses, steps=t, random_state=s, **asked))
        )
    return found


def measure(
    losses: LinearModelLoss, epsilon: float, relation: str, seeds: int, kinds: list[str]
) -> list[Result]:
    """Everything at one epsilon."""
    best = Newton(tolerance=1e-9).minimize(losses.problem).objective
    delta = logistic_data.delta_for(losses.size)
    asked: Result = {"epsilon": epsilon, "delta": delta, "neighbors": relation}
    pure = {"epsilon": epsilon, "neighbors": relation}
    others = [
        ("objective_gaussian", 1, lambda s: gaussian_objective(losses, random_state=s, **asked)),
        ("amp", 1, lambda s: approximate_objective(losses, random_state=s, **asked)),
        ("objective (pure)", 1, lambda s: classical_objective(losses, random_state=s, **pure)),
        ("cubic", 4, lambda s: cubic_newton(losses, random_state=s, **asked)),
    ]
    results = []
    for name, t, run in [*iterative(losses, asked, kinds), *others]:
        mean, error, seconds, processor = timed(losses, best, seeds, run)
        results.append(
            {"epsilon": epsilon, "method": name, "steps": t, "excess": mean, "error": error,
             "seconds": seconds, "processor": processor}
        )  # fmt: skip
    return results


def compare(results: list[Result]) -> None:
    """Print the best T of each method, and the race between DP-GD and second-order methods."""
    names = list(dict.fromkeys(r["method"] for r in results))
    tops = {m: min(_of(results, m), key=_excess) for m in names}
    for top in sorted(tops.values(), key=_excess):
        print(
            f"  {top['method']:20} T = {top['steps']:5}  excess {top['excess']:.6f} "
            f"+- {top['error']:.6f}  {top['seconds']:8.4f} s  {top['processor']:8.4f} s processor"
        )
    for prefix in ("qu-", "hess-", "preconditioned", "objective_gaussian"):
        racers = [r for r in results if r["method"].startswith(prefix)]
        if racers:
            race(racers, tops["gd"])
            race(_of(results, "gd"), min(racers, key=_excess))


def race(racers: list[Result], target: Result) -> None:
    """How long the fastest of the racers takes to be as good as the target."""
    reached = [r for r in racers if r["excess"] <= target["excess"]]
    name = racers[0]["method"].split(" ")[0]
    if not reached:
        print(f"  {name} does not reach the {target['excess']:.6f} of {target['method']}")
        return
    fast = min(reached, key=lambda r: float(r["seconds"]))
    wall, processor = (target[k] / fast[k] for k in ("seconds", "processor"))
    each = [1e3 * r["processor"] / r["steps"] for r in (fast, target)]
    print(
        f"  {fast['method']} (T = {fast['steps']}) reaches the {target['excess']:.6f} of "
        f"{target['method']} (T = {target['steps']}) in {fast['seconds']:.4f} s against "
        f"{target['seconds']:.4f} s: {wall:.1f} times as fast ({processor:.1f} in processor "
        f"time); processor time of an iteration {each[0]:.2f} ms against {each[1]:.2f} ms"
    )


def _of(results: list[Result], method: str) -> list[Result]:
    return [r for r in results if r["method"] == method]


def _excess(result: Result) -> float:
    return float(result["excess"])


def per_iteration(losses: LinearModelLoss, features: Any, labels: np.ndarray) -> None:
    """One Newton iteration of ours against the plain transcription on the same dense matrix."""
    dense = np.asarray(features.todense() if hasattr(features, "todense") else features)
    asked = {"epsilon": 1.0, "delta": logistic_data.delta_for(losses.size)}
    for modification in ("add", "clip"):
        ours = []
        for _ in range(5):
            seconds = {}
            for t in (5, 25):
                settings = variants(f"qu-{modification}", t, 1.0)
                begun = time.perf_counter()
                double_noise_newton(losses, settings=settings, random_state=1, **asked)
                seconds[t] = time.perf_counter() - begun
            ours.append((seconds[25] - seconds[5]) / 20)
        rng, w, plain = np.random.default_rng(0), np.zeros(dense.shape[1]), []
        for _ in range(10):
            begun = time.perf_counter()
            w = transcribed_step(
                dense, labels, w, rho=0.01, gradient_share=0.75, trace_share=0.1,
                modification=modification, rng=rng,
            )  # fmt: skip
            plain.append(time.perf_counter() - begun)
        one, other = min(ours), min(plain)
        print(
            f"one iteration, qu-{modification}: {1e3 * one:.2f} ms, plain NumPy {1e3 * other:.2f} "
            f"ms: {one / other:.2f} of it"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="private logistic regression, side by side")
    parser.add_argument("--data", choices=["adult", "synthetic"], default="adult")
    parser.add_argument("--relation", default="zero_out")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.01, 0.1, 1.0, 10.0])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    features, labels = getattr(logistic_data, options.data)()
    losses = logistic_data.losses(features, labels)
    losses.second_order(np.zeros(losses.dimension), "upper")  # Compiled and warm.
    print(f"{options.data}: n = {losses.size:,}, d = {losses.dimension}, {options.relation}")
    per_iteration(losses, features, labels)
    results: list[Result] = []
    for epsilon in options.epsilons:
        found = measure(losses, epsilon, options.relation, options.seeds, options.variants)
        print(f"epsilon = {epsilon:g}", flush=True)
        compare(found)
        results += found
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
