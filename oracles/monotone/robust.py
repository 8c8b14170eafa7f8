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

    A point is w and, for G groups, ``v_g = p_g / (G share_g)``: the mixture itself if all groups
    are equally large. In v no record moves a coordinate by more than any other record can, so that
    small groups raise neither M, nor L, nor the noise on the losses.

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
        self.shares = _shares(shares)
        self.n_groups = len(self.shares)
        self.groups = _groups(groups, self.n_records, self.n_groups, smallest_group)
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
        self.mixtures = _mixtures(self.shares, weight_cap)
        self.domain = Product(Ball(radius, np.zeros(self.n_features)), self.mixtures)
        norm, count = self.feature_norm, self.n_groups
        largest_weight = 1 / float(self.shares.min())
        self.top_weight = largest_weight if weight_cap is None else min(largest_weight, weight_cap)
        self.bound = math.hypot(self.top_weight * norm, count * self.half_range)
        # Norm of [[top R^2 / 4, G R], [-G R, 0]], which dominates the Jacobian's blocks.
        curved = self.top_weight * norm**2 / 8
        self.lipschitz = curved + math.hypot(curved, count * norm)

    def per_record(self, point: FloatArray, records: Records = ALL) -> FloatArray:
        """Every record's operator, shape ``(number of records, n_features + n_groups)``."""
        features, groups = self.features[records], self.groups[records]
        slopes, losses = self._slopes_and_losses(point, features, self.labels[records])
        values = np.zeros((len(groups), self.n_features + self.n_groups))
        factors = slopes * self.n_groups * point[self.n_features :][groups]
        np.multiply(features, factors[:, None], out=values[:, : self.n_features])
        values[np.arange(len(groups)), self.n_features + groups] = -self.n_groups * losses
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
            weights = self.n_groups * point[self.n_features :]
            sums = np.bincount(groups, losses, minlength=self.n_groups)
            gradient = (slopes * weights[groups]) @ features
            return np.concatenate([gradient, -self.n_groups * sums])

        return total

    def mixture(self, point: FloatArray) -> FloatArray:
        """The groups' probabilities p at a point, shape ``(n_groups,)``."""
        return np.asarray(self.n_groups * self.shares * point[self.n_features :])

    def scale(self, point: FloatArray) -> FloatArray:
        """Per coordinate: the mixture's own weight for w, the same for all groups' losses.

        A record of group g moves the gradient by at most ``R p_g / share_g`` and one loss by at
        most ``G half_range``: the squares over these scales add up to at most 1.
        """
        weights = self.n_groups * np.maximum(point[self.n_features :], 0.0)
        # The least scale keeps noise in directions that no record can move at this point.
        return self._scales(max(float(weights.max()), 1e-6))

    @property
    def scale_norm(self) -> float:
        """Of :meth:`scale` where a group has the largest weight that it can have."""
        return float(np.linalg.norm(self._scales(self.top_weight)))

    def _scales(self, largest: float) -> FloatArray:
        gradient = largest * self.feature_norm / math.sqrt(1 - self.loss_share)
        losses = self.n_groups * self.half_range / math.sqrt(self.loss_share)
        return np.repeat([gradient, losses], [self.n_features, self.n_groups])

    def group_losses(self, weights: FloatArray) -> FloatArray:
        """Mean logistic loss of each group, without centre or cap, shape ``(n_groups,)``."""
        losses = np.logaddexp(0.0, -self.labels * (self.features @ weights))
        size = self.n_groups
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


def _mixtures(shares: FloatArray, cap: float | None) -> ConvexSet:
    """All v with v >= 0, ``sum G share_g v_g = 1`` and, with a cap, ``G v_g <= cap``."""
    count = len(shares)
    if cap is not None and positive("weight_cap", cap) * shares.sum() < 1 - 1e-9:
        raise ProblemError(f"weight_cap: at least 1 / sum of shares expected, not {cap}")
    weights = count * shares
    if cap is None and (weights == 1).all():
        return Simplex(count)
    top = 1 / shares if cap is None else np.minimum(cap, 1 / shares)
    return CappedSimplex(top / count, weights)


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
