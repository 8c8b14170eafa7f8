"""Test error against epsilon on Adult: every mechanism, at equal epsilon, under ``replace``.

    python -m experiments.adult_accuracy [--quick | --full]

Complete rows with two, three, five and seven categorical attributes, and all rows with ``?`` as a
category with three and five.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from experiments import diffprivlib_env
from experiments.adult_curves import CURVES
from experiments.adult_data import Task, task
from experiments.adult_mechanisms import NEIGHBORS, WEIGHTS
from experiments.adult_page import page
from experiments.framework import Config, Experiment, Record, main
from oracle_dp.errors import UncertifiedError
from oracles import Limits
from oracles.zero_one import minimize

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
FEW = (0.1, 1, 10)
SEEDS = 20
SETS = (
    ("five", "drop"), ("two", "drop"), ("three", "drop"), ("five", "category"),
    ("three", "category"), ("seven", "drop"),
)  # fmt: skip
QUICK = (
    "exponential", "opdisc_one_hot", "counts", "blockwise", "newton", "gd", "objective",
    "diffprivlib",
)  # fmt: skip

SECONDS = 20.0
"""Of one draw; beyond it a mechanism counts as not reaching a proof."""

SOLVED = 60.0
"""The same where a MIP solver is needed."""

PROVED_WITHIN = 60.0
"""Seconds for the fewest errors without privacy."""

SEARCHED = 2.0
"""Seconds of the search on noisy counts, which is post-processing and needs no proof."""

SOLVING = ("opdisc_pi_gamma", "opdisc_pi_gaussian", "released_code")
SEARCHING = ("exponential", "opdisc_one_hot", "top_r")
SECONDS_EACH = ("counts", "top_r", "sgd")


def tried(features: str, missing: str, mechanism: str) -> tuple[float, ...]:
    """The epsilons at which a mechanism is run; at the others a record says that it was not."""
    hard = missing == "category" or features == "seven"
    if mechanism in SOLVING and features != "two":
        return () if hard else (0.1, 1)
    if features == "seven" and mechanism in (*SEARCHING, "counts"):
        return () if mechanism == "counts" else (1,)
    return EPSILONS


def configs(quick: bool) -> list[Config]:
    """References, then a config per mechanism and epsilon; the costly ones come last."""
    if quick:
        return [*_references("three", "drop"), *_grid("three", "drop", QUICK, FEW, 3)]
    found: list[Config] = []
    for features, missing in SETS:
        found += _references(features, missing)
        found += _grid(features, missing, tuple(CURVES), EPSILONS, SEEDS)
    return sorted(found, key=_cost)


def _cost(config: Config) -> int:
    mechanism = config.get("mechanism")
    if mechanism in (*SOLVING, "opsamp"):
        return 2
    return 1 if mechanism in SECONDS_EACH or config["features"] == "seven" else 0


def _seconds(mechanism: str) -> float:
    if mechanism == "counts":
        return SEARCHED
    return SOLVED if CURVES[mechanism].slow else SECONDS


def _references(features: str, missing: str) -> list[Config]:
    where = {"features": features, "missing": missing}
    return [{**where, "reference": kind} for kind in ("errors", "logistic")]


def _grid(
    features: str, missing: str, names: Sequence[str], epsilons: Sequence[float], seeds: int
) -> list[Config]:
    return [
        {
            "features": features,
            "missing": missing,
            "mechanism": name,
            "epsilon": epsilon,
            "seeds": list(range(seeds)),
            "seconds": _seconds(name),
            "tried": epsilon in tried(features, missing, name),
        }
        for name in names
        for epsilon in epsilons
    ]


def run(config: Config) -> list[Record]:
    """The errors of all seeds of a mechanism at an epsilon, or of a model without privacy."""
    rows = task(config["features"], config["missing"])
    common = {
        "rows": rows.train.n_rows,
        "test_rows": rows.test.n_rows,
        "levels": rows.dimension,
        "cells": rows.train.n_cells,
    }
    if "reference" in config:
        found = _least_errors(rows) if config["reference"] == "errors" else _likeliest(rows)
        return [{**common, **found}]
    private = {
        "neighbors": NEIGHBORS,
        "epsilon": config["epsilon"],
        "delta": 0.0 if CURVES[config["mechanism"]].pure else rows.delta,
    }
    return [{**common, **private, **_trained(rows, config)}]


def _trained(rows: Task, config: Config) -> Record:
    """Errors and the guarantee, or why there are none."""
    if not config["tried"]:
        return {"reached": False, "reason": "not tried", "detail": "cost", "done": 0}
    limit, errors, guarantees = config["seconds"], [], []
    mechanism = CURVES[config["mechanism"]].mechanism
    begun = drawn = time.perf_counter()
    processor = time.process_time()
    try:
        for answer in mechanism(rows, config["epsilon"], config["seeds"], Limits(seconds=limit)):
            errors.append(answer.error)
            if answer.guarantee not in guarantees:
                guarantees.append(answer.guarantee)
            drawn = time.perf_counter()
    except UncertifiedError as error:
        in_time = time.perf_counter() - drawn < limit
        reason = "refused" if in_time else f"no proof in {limit:g} s"
        detail = str(error)
    except diffprivlib_env.MissingError as error:
        reason, detail = diffprivlib_env.MISSING, str(error)
    else:
        (guarantee,) = guarantees
        spent = round(time.perf_counter() - begun, 3)
        return {"reached": True, "error": errors, "guarantee": guarantee, "spent": spent}
    # The draws that were done are no sample of all: hard ones are missing.
    return {
        "reached": False,
        "reason": reason,
        "detail": detail,
        "done": len(errors),
        "spent": round(time.perf_counter() - begun, 3),
        "processor_seconds": round(time.process_time() - processor, 3),
    }


def _least_errors(rows: Task) -> Record:
    """The scoring card with the fewest training errors, and what always the majority errs."""
    solution = minimize(rows.train, WEIGHTS, limits=Limits(seconds=PROVED_WITHIN))
    share = rows.test.positive.sum() / rows.test.n_rows
    return {
        "error": rows.error_of_weights(solution.require_point()),
        "training_errors": solution.objective,
        "bound": float(solution.bound),
        "certificate": solution.certificate.value,
        "majority_error": float(min(share, 1 - share)),
    }


def _likeliest(rows: Task) -> Record:
    """Logistic regression without regularisation, by scikit-learn."""
    encoder = OneHotEncoder(categories=[list(a.labels) for a in rows.domain])
    train = encoder.fit_transform(rows.x_train)
    model = LogisticRegression(C=np.inf, max_iter=5000, tol=1e-6).fit(train, rows.y_train)
    wrong = model.predict(encoder.transform(rows.x_test)) != rows.y_test
    return {"error": float(wrong.mean()), "iterations": int(model.n_iter_[0])}


EXPERIMENT = Experiment(
    name="adult_accuracy",
    title="Adult: test error against epsilon",
    configs=configs,
    run=run,
    page=page,
)

if __name__ == "__main__":
    main(EXPERIMENT)
