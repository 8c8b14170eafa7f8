"""Worst-group loss on Adult: MinimaxClassifier beside private logistic regression, same budget.

    python -m experiments.minimax_adult [--seeds 10] [--epsilon 1] [--output FILE.json] [--dev]
        [--estimators]

Groups: sex x race, ten of them. Both see the same one-hot features and get epsilon, delta = 1e-6,
``replace``. The rival is noisy projected gradient descent on the mean logistic loss with all
records in every step, the same step length and the same averaging: with as many steps, its own best
number on the public rows, and with half as many again (``--rival-steps``). ``--estimators`` adds
:class:`oracle_dp.LogisticRegression` with default options, by two of its methods.

Every fifth of the 30,162 complete training rows is taken to be public, and nothing but it was
looked at to choose the numbers of steps, the step length and ``weight_cap``, for either side:
``--dev`` draws as many rows from it, with replacement, as there are private ones, and measures on
it. The figures are for models trained on the other 24,129 rows and measured on the 15,060 complete
test rows. Runs are seeded; those in the output file, of the same settings, are not made again.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from experiments.result import commit, result, write
from oracle_dp.datasets import AdultData, load_adult
from oracle_dp.estimators.logistic import LogisticRegression
from oracle_dp.estimators.minimax import MinimaxClassifier
from oracle_dp.estimators.minimax_model import MinimaxModel
from oracle_dp.noise import SeededBits
from oracle_dp.variational.calibration import PrivacyTarget, Schedule, noise_multiplier
from oracle_dp.variational.sampling import Sampling, standard_normals
from oracles.monotone import Ball

NAME = "minimax_adult"
GROUPS = ("sex", "race")
DELTA = 1e-6
METHODS = ("minimax", "logistic", "logistic_longer")
ESTIMATORS = ("objective_gaussian", "preconditioned")
SMALLEST = 50
"""Groups with fewer measured rows are left out of the worst group: their mean is mostly chance."""
PUBLIC = 5
"""One of so many training rows is public."""


def private_logistic(
    features: np.ndarray, labels: np.ndarray, *, epsilon: float, seed: int, steps: int, step: float
) -> np.ndarray:
    """Weights of noisy gradient descent: the average over the second half of the steps."""
    n, d = features.shape
    target = PrivacyTarget.checked(epsilon, DELTA, "replace")
    schedule = Schedule(sampling=Sampling.FULL, n_records=n, batch_size=n, releases=steps)
    # One record's gradient has norm at most 1.
    deviation = noise_multiplier(schedule, target) / n
    normals = standard_normals(d, SeededBits(seed))
    ball, w, total = Ball(30.0, np.zeros(d)), np.zeros(d), np.zeros(d)
    for t in range(steps):
        slopes = -labels / (1 + np.exp(labels * (features @ w)))
        w = ball.project(w - step * (slopes @ features / n + deviation * next(normals)))
        if t >= steps // 2:
            total += w
    return total / (steps - steps // 2)


def measured(log_odds: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> dict[str, Any]:
    """Loss and error: of the worst group, and on average."""
    margins = labels * log_odds
    losses, errors = np.logaddexp(0, -margins), margins <= 0
    large = [g for g in np.unique(groups) if (groups == g).sum() >= SMALLEST]
    by_group = [losses[groups == g].mean() for g in large]
    return {
        "worst_loss": float(max(by_group)),
        "worst_group": int(large[int(np.argmax(by_group))]),
        "worst_error": float(max(errors[groups == g].mean() for g in large)),
        "mean_loss": float(losses.mean()),
        "mean_error": float(errors.mean()),
    }


def standard_error(found: np.ndarray) -> float:
    """Of the mean over seeds; NaN for a single one."""
    return float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else math.nan


def chosen_rows(adult: AdultData, seed: int, *, dev: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to measure on."""
    rows = np.asarray(adult.train)
    public, private = rows[::PUBLIC], np.delete(rows, np.s_[::PUBLIC])
    if not dev:
        return private, np.asarray(adult.test)
    return np.random.default_rng(seed).choice(public, len(private)), public


def run(
    seed: int,
    *,
    epsilon: float,
    dev: bool,
    options: dict[str, Any],
    rival_steps: int,
    attributes: list[str] | None = None,
    estimators: bool = False,
) -> dict[str, Any]:
    """One seed of all methods."""
    adult = load_adult(missing="drop")
    domain = adult.domain if attributes is None else adult.domain[attributes]
    rows, fresh = chosen_rows(adult, seed, dev=dev)
    train, test = adult.X.iloc[rows], adult.X.iloc[fresh]
    y_train, y_test = adult.y.iloc[rows], adult.y.iloc[fresh]
    model = MinimaxClassifier(
        epsilon, groups=GROUPS, domain=domain, classes=adult.classes, delta=DELTA,
        random_state=seed, **options,
    ).fit(train, y_train)  # fmt: skip
    features = MinimaxModel.one_hot_features(domain, test)
    labels = np.where(y_test == adult.classes[1], 1.0, -1.0)
    codes = adult.domain[list(GROUPS)].encode(test)
    groups = codes[:, 0] * adult.domain["race"].n_levels + codes[:, 1]
    seen = MinimaxModel.one_hot_features(domain, train)
    signs = np.where(y_train == adult.classes[1], 1.0, -1.0)
    rivals = {
        name: private_logistic(
            seen, signs, epsilon=epsilon, seed=seed, steps=steps, step=model.step
        )
        for name, steps in (("logistic", model.steps), ("logistic_longer", rival_steps))
    }
    log_odds = {name: features @ w for name, w in rivals.items()}
    for method in ESTIMATORS if estimators else ():
        other = LogisticRegression(
            epsilon, delta=DELTA, method=method, domain=domain, classes=adult.classes,
            random_state=seed,
        ).fit(train, y_train)  # fmt: skip
        log_odds[method] = other.decision_function(test)
    released = model.release_.value
    return {
        "seed": seed,
        "mixture": {name: round(p, 3) for name, p in released.mixture.items()},
        "minimax": measured(features @ np.array(released.weights), labels, groups),
        **{name: measured(odds, labels, groups) for name, odds in log_odds.items()},
    }


def finished(path: Path | None, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of an interrupted experiment with the same settings; none of any other."""
    if path is None or not path.exists():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))
    same = before["experiment"] == NAME and all(before.get(k) == v for k, v in settings.items())
    return list(before["runs"]) if same else []


def main() -> None:
    """All seeds, means and paired differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--rival-steps", type=int, default=1200)
    parser.add_argument("--attributes", type=lambda text: text.split(","))
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--estimators", action="store_true")
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Of every fit; these are seeded runs on public data.
    code = commit()
    settings = {
        "epsilon": given.epsilon,
        "dev": given.dev,
        "options": given.options,
        "rival_steps": given.rival_steps,
        "attributes": given.attributes,
        "estimators": given.estimators,
    }
    runs = finished(given.output, settings)[: given.seeds]
    for seed in range(len(runs), given.seeds):
        runs.append(run(seed, **settings))
        write(given.output, result(NAME, {**settings, "delta": DELTA, "runs": runs}, code=code))
    methods = (*METHODS, *ESTIMATORS) if given.estimators else METHODS
    table: dict[str, Any] = {}
    for key in ("worst_loss", "worst_error", "mean_loss", "mean_error"):
        values = {m: np.array([r[m][key] for r in runs]) for m in methods}
        table[key] = {m: float(found.mean()) for m, found in values.items()}
        for m, found in values.items():
            table[key][f"standard error of {m}"] = standard_error(found)
        for rival in methods[1:]:
            difference = values["minimax"] - values[rival]
            table[key][f"minimax - {rival}"] = float(difference.mean())
            table[key][f"standard error of minimax - {rival}"] = standard_error(difference)
        print(key, {name: round(x, 4) for name, x in table[key].items()})
    print(runs[0]["mixture"])
    fields = {**settings, "delta": DELTA, "table": table, "runs": runs}
    write(given.output, result(NAME, fields, code=code))


if __name__ == "__main__":
    main()
