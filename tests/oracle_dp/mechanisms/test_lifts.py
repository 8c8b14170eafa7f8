"""Lifts in integers: gain and radius against enumeration, and the noise calibrated to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import stats
from scipy.integrate import quad

from oracle_dp.errors import ParameterError
from oracle_dp.mechanisms.features import CentredBinaryLift, Lift, radius_of, scale_of
from oracle_dp.mechanisms.pi_lift import PiLift
from oracle_dp.mechanisms.radial import GaussianNoise, gaussian_delta, radial_noise

TERNARY, BINARY = np.array([-1, 0, 1]), np.array([0, 1])

GRIDS = {
    "ternary": [TERNARY] * 3,
    "binary": [BINARY] * 5,
    "signs": [np.array([-1, 1])] * 4,
    "step two": [np.array([-2, 0, 2])] * 3,
    "mixed": [np.array([-2, -1, 0, 1, 2]), BINARY, np.array([5]), np.array([-3, 0])],
    "far": [np.array([0, 7]), np.array([-7, 14])],
    "one": [TERNARY],
    "nothing": [np.array([4])],
}


def vectors(lift: Lift, sizes: list[int]) -> np.ndarray:
    """phi of every point that belongs to the set, read off the rewards for unit noise."""
    identity = np.eye(lift.dimension, dtype=np.int64)
    tables = [lift.rewards(row) for row in identity]
    points = []
    for point in itertools.product(*map(range, sizes)):
        entries = []
        for rewards, total in tables:
            entry = sum(int(own[i]) for own, i in zip(rewards, point, strict=True))
            if total is not None:
                more = total.reward(point)
                if more is None:
                    break
                entry += more
            entries.append(entry)
        else:
            points.append(entries)
    return np.array(points)


def check(lift: Lift, phi: np.ndarray) -> float:
    """Hypotheses of the theorem by enumeration; the gain's share of the true one."""
    norms = (phi * phi).sum(axis=1)
    assert norms.max() <= lift.squared_radius
    assert lift.squared_radius <= float(radius_of(lift)) ** 2 * (1 + 1e-12)
    if len(phi) == 1:
        return 1.0
    gains = norms[:, None] - phi @ phi.T
    true = gains[~np.eye(len(phi), dtype=bool)].min()
    assert true >= lift.gain > 0
    return float(lift.gain / true)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("max_norm", [None, 1.5, 2.0])
def test_pi(name: str, max_norm: float | None) -> None:
    values = GRIDS[name]
    lift = PiLift.of(values, max_norm=max_norm)
    phi = vectors(lift, [len(v) for v in values])
    inside = [
        point
        for point in itertools.product(*values)
        if max_norm is None
        or sum(w * w for w, v in zip(point, values, strict=True) if len(v) > 1) <= max_norm**2
    ]
    assert len(phi) == len(inside)
    if len(phi):
        check(lift, phi)
    assert (np.diff(lift.levels, n=2) <= 0).all()


def test_the_gain_of_pi_is_not_given_away() -> None:
    lift = PiLift.of(GRIDS["ternary"])
    assert check(lift, vectors(lift, [3, 3, 3])) > 0.8
    lift = PiLift.of(GRIDS["signs"])
    assert check(lift, vectors(lift, [2] * 4)) == 1.0


def test_pi_is_nearly_on_a_sphere() -> None:
    """Rounding costs at most a tenth: radius^2 / gain against the ideal 2 (T + a little)."""
    for d in (8, 22, 57):
        lift = PiLift.of([TERNARY] * d)
        assert 2 * d < lift.squared_radius / lift.gain < 1.12 * 2 * d


@pytest.mark.parametrize("sizes", [(2,), (2, 2, 2), (2, 1, 2), (1,)])
def test_centred_binary(sizes: tuple[int, ...]) -> None:
    lift = CentredBinaryLift(sizes)
    assert check(lift, vectors(lift, list(sizes))) == 1.0


def test_half_of_the_noise() -> None:
    """One flip's noise, in units of loss, is about half of what it is with pi on {0, 1}^d."""
    d = 22
    centred, pi = CentredBinaryLift((2,) * d), PiLift.of([BINARY] * d)

    def noise(lift: Lift) -> float:
        unit = np.eye(1, lift.dimension, dtype=np.int64)[0]
        flip = int(np.ptp(lift.rewards(unit)[0][0]))
        return flip * math.sqrt(lift.squared_radius) / lift.gain

    assert 0.45 < noise(centred) / noise(pi) < 0.5


def test_pi_grows_with_the_square_of_the_reach() -> None:
    near, far = (PiLift.of([np.arange(-reach, reach + 1)] * 4) for reach in (2, 4))
    ratio = (far.squared_radius / far.gain) / (near.squared_radius / near.gain)
    assert ratio == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("sensitivity", [Fraction(1), Fraction(2), Fraction(7, 3), Fraction(1, 9)])
def test_the_shift_is_strict(sensitivity: Fraction) -> None:
    for lift in (CentredBinaryLift((2, 2)), PiLift.of(GRIDS["ternary"])):
        scale = scale_of(lift, sensitivity)
        assert scale * sensitivity < lift.gain <= (scale + 1) * sensitivity


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="two values"):
        CentredBinaryLift((2, 3))
    with pytest.raises(ParameterError, match="sensitivity"):
        scale_of(CentredBinaryLift((2,)), Fraction(128))
    with pytest.raises(ParameterError, match="max_norm"):
        PiLift.of([np.arange(100)] * 3)
    for norm in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="max_norm"):
            PiLift.of([TERNARY], max_norm=norm)


# -- the worst-direction formula -----------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 9, 58])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_gaussian_delta_is_the_expectation(dimension: int, epsilon: float) -> None:
    law = stats.chi(dimension)
    for mu in (0.05, 0.3, 1.0, 4.0):

        def integrand(x: float, mu: float = mu) -> float:
            return float(law.pdf(x) * max(0.0, -math.expm1(epsilon - mu * x - mu * mu / 2)))

        start = max(0.0, epsilon / mu - mu / 2)
        expected = quad(integrand, start, start + 40, limit=500, epsabs=1e-300)[0]
        enclosed = gaussian_delta(Fraction(epsilon), Fraction(mu), dimension)
        assert float(enclosed) == pytest.approx(expected, rel=1e-6, abs=1e-15)
        assert not enclosed < arb(expected) * (1 - arb(1e-6))


SIGMAS = [
    # epsilon, delta, d, sigma in units of the shift over epsilon: by SciPy's quadrature and brentq
    (1, 1e-3, 1, 3.15),
    (1, 1e-3, 57, 8.98),
    (1, 1e-6, 8, 6.12),
    (1, 1e-6, 104, 13.0),
    (0.1, 1e-6, 43, 9.06),
]


@pytest.mark.parametrize(("epsilon", "delta", "d", "units"), SIGMAS)
def test_sigma(epsilon: float, delta: float, d: int, units: float) -> None:
    noise = GaussianNoise(
        epsilon=Fraction(epsilon), delta=Fraction(delta), radius=Fraction(3), dimension=d + 1
    )
    assert float(noise.scale) * epsilon / 3 == pytest.approx(units, rel=5e-3)
    assert gaussian_delta(Fraction(epsilon), 3 / noise.scale, d + 1) <= arb(delta)
    assert not gaussian_delta(
        Fraction(epsilon), Fraction(1001, 1000) * 3 / noise.scale, d + 1
    ) <= arb(delta)


@pytest.mark.parametrize(
    ("name", "delta", "fault"),
    [("gamma_norm", 1e-6, "delta"), ("gaussian", 0.0, "delta"), ("gaussian", 1.0, "delta")],
)
def test_noise_refuses(name: str, delta: float, fault: str) -> None:
    with pytest.raises(ParameterError, match=fault):
        radial_noise(
            name, epsilon=Fraction(1), delta=Fraction(delta), radius=Fraction(1), dimension=2
        )


def test_an_extreme_delta_is_met_and_not_given_up() -> None:
    delta = Fraction(1, 10**1000)
    noise = GaussianNoise(epsilon=Fraction(1), delta=delta, radius=Fraction(1), dimension=2)
    assert gaussian_delta(Fraction(1), 1 / noise.scale, 2) <= arb(1) / arb(10) ** 1000


# -- the whole mechanism, by quadrature over two dimensions of noise -----------------------------


def two_dimensional_law(
    lift: Lift, scale: int, losses: np.ndarray, density: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest probability of each point, over tie-breaks, for noise on a window."""
    reach = np.arange(-140, 140)
    x, y = np.meshgrid(reach, reach, indexing="ij")
    # Mass of a unit cell by the midpoint rule on a 5 x 5 refinement.
    fine = (np.arange(5) + 0.5) / 5
    mass = sum(
        density(np.stack([x + u, y + v])) for u in fine for v in fine
    ) / 25  # fmt: skip
    mass = mass / mass.sum()
    phi = vectors(lift, [len(losses)])
    values = scale * losses[:, None, None] - phi[:, 0, None, None] * x - phi[:, 1, None, None] * y
    least = values == values.min(axis=0)
    alone = least & (least.sum(axis=0) == 1)
    return (alone * mass).sum(axis=(1, 2)), (least * mass).sum(axis=(1, 2))


def worst_excess(noise_name: str, seed: int, delta: float, share: float = 1.0) -> float:
    """The worst event's excess over e^epsilon times its neighbour, with a share of the noise."""
    generator = np.random.default_rng(seed)
    epsilon = 2.0
    lift = PiLift.of([TERNARY])
    scale = 3  # Coarser than the gain allows, with the sensitivity that it is good for.
    sensitivity = Fraction(lift.gain - 1, scale)
    assert scale_of(lift, sensitivity) == scale
    noise = radial_noise(
        noise_name,
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        radius=radius_of(lift),
        dimension=2,
    )
    sigma = share * float(noise.scale)

    def density(xi: np.ndarray) -> np.ndarray:
        norm = np.linalg.norm(xi, axis=0) / sigma
        return np.exp(-norm) if noise_name == "gamma_norm" else np.exp(-(norm**2) / 2)

    reach = int(sensitivity)
    first = generator.integers(0, 2 * reach, 3)
    second = first + generator.integers(0, reach + 1, 3)
    if seed == 0:  # As bad as the sensitivity allows for the last point.
        first, second = np.array([0, 0, 0]), np.array([0, 0, reach])
    _, on_first = two_dimensional_law(lift, scale, first, density)
    on_second, _ = two_dimensional_law(lift, scale, second, density)
    return float(np.maximum(on_first - math.exp(epsilon) * on_second, 0).sum())


NOISES = [("gamma_norm", 0.0), ("gaussian", 1e-2)]


@pytest.mark.parametrize(("noise", "delta"), NOISES)
@pytest.mark.parametrize("seed", range(8))
def test_neighbours_by_enumeration(noise: str, delta: float, seed: int) -> None:
    """One coordinate of 3 values: every event, whatever breaks ties, up to the window's edge."""
    assert worst_excess(noise, seed, delta) <= delta + 1e-3


@pytest.mark.parametrize(
    # In two dimensions the bound for Gaussian noise leaves room, and only a quarter shows.
    ("noise", "delta", "share"),
    [("gamma_norm", 0.0, 0.5), ("gaussian", 1e-2, 0.25)],
)
def test_too_little_noise_is_caught(noise: str, delta: float, share: float) -> None:
    assert worst_excess(noise, 0, delta, share=share) > delta + 1e-2
