"""Runs inside the environment of diffprivlib: one JSON object from stdin, one to stdout.

Rows are one-hot with a constant column, scaled as ``oracle_dp.LogisticRegression`` scales them: the
attributes together have the norm of the constant, and a row has norm 1. The constant is a column
and not diffprivlib's intercept, so that its constants hold: it takes the curvature of a row to be
0.25 times the norm, where it is 0.25 times the norm's square.
"""

import json
import math
import sys
from importlib.metadata import version

import numpy as np
from diffprivlib.models import LogisticRegression


def main() -> None:
    """Train one model per seed."""
    asked = json.load(sys.stdin)
    columns = np.array(asked["columns"])
    cells, attributes = columns.shape
    level, constant = 1 / math.sqrt(2 * attributes), 1 / math.sqrt(2)
    distinct = np.zeros((cells, asked["dimension"] + 1))
    distinct[np.arange(cells)[:, None], columns] = level
    distinct[:, -1] = constant
    positive, negative = np.array(asked["positive"]), np.array(asked["negative"])
    rows = np.vstack([np.repeat(distinct, positive, axis=0), np.repeat(distinct, negative, axis=0)])
    labels = np.repeat([1, 0], [positive.sum(), negative.sum()])
    lines = []
    for seed in asked["seeds"]:
        # A hair above 1, so that rounding clips no row.
        model = LogisticRegression(
            epsilon=asked["epsilon"], data_norm=1 + 1e-9, fit_intercept=False, random_state=seed
        ).fit(rows, labels)
        w = model.coef_[0]
        lines.append([(w[:-1] * level).tolist(), float(w[-1] * constant)])
    names = ("diffprivlib", "scikit-learn", "numpy")
    json.dump({"lines": lines, "versions": {name: version(name) for name in names}}, sys.stdout)


if __name__ == "__main__":
    main()
