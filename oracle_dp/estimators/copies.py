"""A warning where copies of one estimator are fitted, as in cross-validation and grid search.

An estimator cannot know who calls ``fit``. But scikit-learn's searches clone it once per fit and
ask it to make the clone (``__sklearn_clone__``), so that it and all its clones can share a count.
The count stays in its process, and is not saved: workers of joblib start their own.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Self

from sklearn.base import BaseEstimator

from oracle_dp.errors import RepeatedFitWarning

_PRIVATE = ("_fits_of_copies", "_is_counted")


class WarnsOfRepeatedFits(BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Warns once when a second one of an estimator and its clones is about to be fitted."""

    def __sklearn_clone__(self) -> Self:
        twin: Self = super().__sklearn_clone__()
        twin._fits_of_copies = self._count()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _PRIVATE}

    def _count(self) -> itertools.count[int]:
        fits: itertools.count[int] = self.__dict__.setdefault("_fits_of_copies", itertools.count(1))
        return fits

    def _warn_of_repeated_fits(self, *, counted: bool) -> None:
        """Call before anything is charged.

        Args:
            counted: Whether a ledger is given.
        """
        if self.__dict__.get("_is_counted", False):
            return
        self._is_counted = True
        if next(self._count()) == 2:
            who = "the ledger counts them" if counted else "no ledger counts them; pass one"
            warnings.warn(
                "a second copy of one estimator is being fitted, as in cross-validation or grid "
                f"search: every fit spends its epsilon, and on the same rows they add up ({who}). "
                "Compare settings on public data instead",
                RepeatedFitWarning,
                stacklevel=3,
            )
