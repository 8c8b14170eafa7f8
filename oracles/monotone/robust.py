"""Worst-case logistic regression as a saddle point: over groups of records, or over tasks.

A maximum of averages is a maximum over mixtures, ``max_j R_j(w) = max over p in the simplex of
sum_j p_j R_j(w)``, which is convex in w and linear in p. Losses enter centred, at half of their
largest value: a constant common to all R_j moves no solution, and halves what one record can do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from oracles.arrays import FloatArray, floats, scalar
from oracles.errors import ProblemError
from oracles.monotone.games import clip_rows, finite, positive
from oracles.monotone.operators import ALL, RecordOperator, Records
from oracles.monotone.product import Product
from oracles.monotone.sets import Ball, ConvexSet
from oracles.monotone.simplex import CappedSimplex, Simplex


class GroupRobustLogistic(RecordOperator):
    """min over w, max over groups of the group's mean logistic loss.

    The mean over records of ``p_g / share_g (loss(w) - centre)``, where g is the record's group.
    With shares equal to the groups' fractions it is the mixture of the groups' mean losses, less
    the constant.

    Args:
        features: Shape ``(n_records, n_features)``; rows are scaled down to ``feature_norm``.
        labels: -1 or 1, shape ``(n_records,)``.
        groups: Group of each record, integers from 0, shape ``(n_records,)``.
        shares: Fraction of the records in each group, positive, public, shape ``(n_groups,)``.
        radius: Weights live in the ball of this radius around 0; public.
        feature_norm: R, public.
        loss_cap: Losses above it count as it in the groups' losses; public. The operator is then
            **not monotone**. None: no cap but the largest loss in the ball.
        weight_cap: No group has a weight of more than this times its share, which must be at least
            1; public. The maximum is then over such mixtures, a conditional value at risk: the
            largest group's loss, or an average over several small ones. None: no cap.
        loss_share: In (0, 1), public: how :meth:`scale` divides the squared bound of one between
            groups' losses and the gradient.
        smallest_group: How many records every group must have. 0 where the records' groups are
            private: a refusal would tell a group's size.

    Raises:
        ProblemError: A shape or a constant is wrong, an entry is not finite, or a group has
            fewer than ``smallest_group`` records.
    """

    enforced = True

    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike,
        shares: ArrayLike,
        *,
        radius: float,
        feature_norm: float = 1.0,
        loss_cap: float | None = None,
        weight_cap: float | None = None,
        loss_share: float = 0.5,
        smallest_group: int = 2,
    ) -> None:
        self.feature_norm = positive("feature_norm", feature_norm)
        self.features = clip_rows(finite("features", features, 2), self.feature_norm)
        self.n_records, self.n_features = self.features.shape
        self.labels = signs("labels", labels, (self.n_records,))
        weights = 1 / _shares(shares)
        self.groups = _groups(groups, self.n_records, len(weights), smallest_group)
        self.group_weights = weights
        reach = positive("radius", radius) * self.feature_norm
        largest = float(np.logaddexp(0.0, reach))
        if loss_cap is not None:
            largest = min(largest, positive("loss_cap", loss_cap))
            self.monotone = False
        self.loss_cap = largest
        self.half_range = largest / 2
        self.loss_share = scalar("loss_share", loss_share)
        if not 0 < self.loss_share < 1:
            raise ProblemError(f"loss_share: between 0 and 1 expected, not {loss_share}")
        mixtures = _mixtures(weights, weight_cap)
        self.domain = Product(Ball(radius, np.zeros(self.n_features)), mixtures)
        top, norm = float(weights.max()), self.feature_norm
        self.top_mixture = top if weight_cap is None else min(top, weight_cap)
        self.bound = math.hypot(self.top_mixture * norm, top * self.half_range)
        # Norm of [[R^2 / 4, R], [-R, 0]], which dominates the Jacobian's blocks.
        self.lipschitz = top * (norm**2 / 8 + math.hypot(norm**2 / 8, norm))

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's operator, shape ``(number of records, n_features + n_groups)``."""
        features, groups = self.features[records], self.groups[records]
        slopes, losses = self._slopes_and_losses(point, features, self.labels[records])
        weights = self.group_weights[groups]
        values = np.zeros((len(groups), self.n_features + len(self.group_weights)))
        factors = slopes * weights * point[self.n_features :][groups]
        np.multiply(features, factors[:, None], out=values[:, : self.n_features])
        values[np.arange(len(groups)), self.n_features + groups] = -losses * weights
        return values

    def total(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """The sum, by one product of matrix and vector each way."""
        return self.summed(records)(point)

    def summed(self, records: Records) -> Callable[[FloatArray], FloatArray]:
        """The sum over records that are picked once."""
        features, groups = self.features[records], self.groups[records]
        labels = self.labels[records]

        def total(point: FloatArray) -> FloatArray:
            slopes, losses = self._slopes_and_losses(point, features, labels)
            mixture = self.group_weights * point[self.n_features :]
            sums = np.bincount(groups, losses, minlength=len(mixture))
            gradient = (slopes * mixture[groups]) @ features
            return np.concatenate([gradient, -self.group_weights * sums])

        return total

    def scale(self, point: FloatArray) -> FloatArray:
        """Per coordinate: the mixture's own weight for w, each group's for its loss.

        A record of group g moves the gradient by at most ``R p_g / share_g`` and one loss by at
        most ``half_range / share_g``: the squares over these scales add up to at most 1.
        """
        mixture = np.maximum(point[self.n_features :], 0.0) * self.group_weights
        # The least scale keeps noise in directions that no record can move at this point.
        return self._scales(max(float(mixture.max()), 1e-6))

    @property
    def scale_norm(self) -> float:
        """Of :meth:`scale` where the mixture is all on the smallest group."""
        return float(np.linalg.norm(self._scales(self.top_mixture)))

    def _scales(self, largest: float) -> FloatArray:
        gradient = largest * self.feature_norm / math.sqrt(1 - self.loss_share)
        losses = self.half_range * self.group_weights / math.sqrt(self.loss_share)
        return np.concatenate([np.full(self.n_features, gradient), losses])

    def group_losses(self, weights: FloatArray) -> FloatArray:
        """Mean logistic loss of each group, without centre or cap, shape ``(n_groups,)``."""
        losses = np.logaddexp(0.0, -self.labels * (self.features @ weights))
        size = len(self.group_weights)
        return np.asarray(
            np.bincount(self.groups, losses, size) / np.bincount(self.groups, None, size)
        )

    def _slopes_and_losses(
        self, point: FloatArray, features: FloatArray, labels: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        margins = labels * (features @ point[: self.n_features])
        losses = np.logaddexp(0.0, -margins)
        # exp(-margin - loss) is 1 / (1 + exp(margin)) without overflow.
        slopes = -labels * np.exp(-margins - losses)
        return slopes, np.minimum(losses, self.loss_cap) - self.half_range


class MaxLogistic(RecordOperator):
    """min over w, max over tasks j of the mean logistic loss for the j-th label column.

    Args:
        features: Shape ``(n_records, n_features)``; rows are scaled down to ``feature_norm``.
        labels: -1 or 1, shape ``(n_records, n_tasks)``.
        radius: Weights live in the ball of this radius around 0; public.
        feature_norm: R, public.

    Raises:
        ProblemError: A shape or a constant is wrong, or an entry is not finite.
    """

    enforced = True

    def __init__(
        self, features: ArrayLike, labels: ArrayLike, *, radius: float, feature_norm: float = 1.0
    ) -> None:
        norm = positive("feature_norm", feature_norm)
        self.features = clip_rows(finite("features", features, 2), norm)
        self.n_records, self.n_features = self.features.shape
        columns = np.asarray(labels)
        if columns.ndim != 2 or columns.shape[1] == 0:
            raise ProblemError("labels: two dimensions with at least one task expected")
        self.labels = signs("labels", labels, (self.n_records, columns.shape[1]))
        tasks = columns.shape[1]
        self.half_range = float(np.logaddexp(0.0, positive("radius", radius) * norm)) / 2
        self.domain = Product(Ball(radius, np.zeros(self.n_features)), Simplex(tasks))
        # One record has a loss in every task: the mixture's gradient is at most R, the vector of
        # centred losses at most half_range sqrt(tasks).
        self.bound = math.hypot(norm, self.half_range * math.sqrt(tasks))
        self.lipschitz = norm**2 / 8 + math.hypot(norm**2 / 8, norm * math.sqrt(tasks))

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's operator, shape ``(number of records, n_features + n_tasks)``."""
        features, labels = self.features[records], self.labels[records]
        margins = labels * (features @ point[: self.n_features])[:, None]
        losses = np.logaddexp(0.0, -margins)
        slopes = (-labels * np.exp(-margins - losses)) @ point[self.n_features :]
        return np.hstack([features * slopes[:, None], self.half_range - losses])


def signs(name: str, given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Labels -1 and 1 as floats.

    Raises:
        ProblemError: They are something else.
    """
    labels = floats(name, given)
    if labels.shape != shape or not np.isin(labels, (-1.0, 1.0)).all():
        raise ProblemError(f"{name}: -1 or 1 expected, one for each record, shape {shape}")
    return labels


def _mixtures(weights: FloatArray, cap: float | None) -> ConvexSet:
    """The simplex, or those of its points with ``p_g <= cap share_g``."""
    if cap is None:
        return Simplex(len(weights))
    shares = 1 / weights
    if positive("weight_cap", cap) * shares.sum() < 1:
        raise ProblemError(f"weight_cap: at least 1 / sum of shares expected, not {cap}")
    return CappedSimplex(np.minimum(cap * shares, 1.0))


def _shares(given: ArrayLike) -> FloatArray:
    shares = finite("shares", given, 1)
    if not len(shares) or (shares <= 0).any() or shares.sum() > 1 + 1e-9:
        raise ProblemError("shares: positive fractions that add up to at most 1 expected")
    return shares


def _groups(
    given: ArrayLike, n_records: int, n_groups: int, smallest: int
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    groups = np.array(given)
    if groups.shape != (n_records,) or groups.dtype.kind not in "iu":
        raise ProblemError("groups: one integer for each record expected")
    if n_records and not 0 <= groups.min() <= groups.max() < n_groups:
        raise ProblemError(f"groups: numbers from 0 to {n_groups - 1} expected, one per share")
    sizes = np.bincount(groups, minlength=n_groups)
    if (sizes < smallest).any():
        small = int(np.argmin(sizes))
        least = "two" if smallest == 2 else str(smallest)
        raise ProblemError(
            f"groups: group {small} has fewer than {least} records; leave it out of groups and "
            "shares, or merge it with another"
        )
    return groups.astype(np.intp)
