"""The exponential mechanism: its law exactly, its guarantee on neighbours, and what it refuses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import chisquare

from experiments import exactness
from oracle_dp import Ledger, Neighbors, OverspendError, ParameterError, UncertifiedError
from oracle_dp.mechanisms import rejection
from oracle_dp.mechanisms.exponential import ZeroOneExponential, exponential
from oracle_dp.mechanisms.rejection import EnvelopeError, Sampler
from oracle_dp.noise import SeededBits
from oracle_dp.noise.reals import MANTISSA, dyadic
from oracle_dp.privacy import ContingencyKind
from oracles import Certificate, Limits, ProblemError
from oracles.zero_one import CellTable, minimize
from oracles.zero_one.partition import PartitionTree

TERNARY = (-1, 0, 1)


def random_cells(seed: int, levels: tuple[int, ...], n: int) -> CellTable:
    generator = np.random.default_rng(seed)
    codes = np.column_stack([generator.integers(0, m, n) for m in levels])
    return CellTable.from_codes(codes, generator.random(n) < 0.5, levels)


def classifiers(cells: CellTable, weights: tuple[int, ...] = TERNARY) -> list[tuple[int, ...]]:
    return list(itertools.product(weights, repeat=sum(cells.levels)))


def flat(value: tuple[np.ndarray, ...]) -> tuple[int, ...]:
    return tuple(int(w) for w in np.concatenate(value))


def law(
    cells: CellTable, rate: float, prior: float = 0.0, limit: int | None = None
) -> dict[tuple[int, ...], float]:
    """Enumerated probabilities."""
    masses = {}
    for w in classifiers(cells):
        blocks = cells.split(w)
        if limit is not None and sum(bool(block.any()) for block in blocks) > limit:
            continue
        masses[w] = math.exp(-rate * cells.errors(blocks) - prior * np.count_nonzero(w))
    total = sum(masses.values())
    return {w: mass / total for w, mass in masses.items()}


def chi_square(
    seen: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float], n: int
) -> float:
    assert set(seen) <= set(expected)
    counts = np.array([seen[w] for w in expected])
    return exactness.p_value(counts, np.array(list(expected.values())))


# -- the law -----------------------------------------------------------------------------------


def test_preregistered_rule_on_fewer_draws() -> None:
    # The large run is committed; this is the same code and the same rule with n / 150.
    records = [exactness.run_instance(i, 400) for i in range(len(exactness.instances()))]
    assert len(records) >= 30
    assert exactness.verdict(records)["passes"], records


def test_the_rule_catches_a_wrong_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    # Epsilon a tenth too small in the sampler only.
    right = ZeroOneExponential.__init__

    def wrong(self: ZeroOneExponential, cells: CellTable, **parameters: object) -> None:
        parameters["epsilon"] = Fraction(parameters["epsilon"]) * 9 / 10
        right(self, cells, **parameters)

    monkeypatch.setattr(ZeroOneExponential, "__init__", wrong)
    chosen = [i for i, instance in enumerate(exactness.instances()) if instance[-1] == 2][:4]
    records = [exactness.run_instance(i, 4_000) for i in chosen]
    assert not exactness.verdict(records)["passes"]


@pytest.mark.parametrize("threshold", [math.inf, 0.0, -2.0, -900.0])
@pytest.mark.parametrize("levels", [(3, 2, 2), (4, 3), (5,), (2, 1, 2)])
def test_trial_probabilities_multiply_to_the_target(
    levels: tuple[int, ...], threshold: float
) -> None:
    """For a fixed partition and one trial: path times acceptance times leaf law, exactly."""
    cells, beta = random_cells(sum(levels), levels, 30), Fraction(1, 3)
    tree, least = make_tree(cells, beta), reference(cells)
    tree.refine(threshold, 10**9)
    tree.gather()
    with ctx.workprec(300):
        root = mass(tree, 0)
        covered = 0
        for node, chance in complete_nodes(tree):
            leaf = tree.leaf(node)
            rows = leaf.costs.tolist()
            inside = [[real_exp(beta, cost) for cost in row] for row in rows]
            total = real_exp(beta, leaf.base - tree.reference)
            for sums in inside:
                total *= sum(sums, arb(0))
            accepted = total / mass(tree, node)
            assert accepted < 1
            for choice in itertools.product(range(3), repeat=len(rows)):
                covered += 1
                drawn = arb(1)
                for sums, i in zip(inside, choice, strict=True):
                    drawn *= sums[i] / sum(sums, arb(0))
                point = leaf.fixed.copy()
                point[leaf.levels] = choice
                weights = tree.layout.weights(point)
                target = real_exp(beta, cells.errors(weights) - least) / root
                assert abs(chance * accepted * drawn / target - 1) < 1e-60
        assert covered == 3 ** sum(levels)


class Script:
    """Random words given one by one; afterwards whatever comes."""

    is_private = False

    def __init__(self, words: list[int]) -> None:
        self.words = iter(words)
        self.rest = SeededBits(0)

    def bits(self, n: int, /) -> int:
        word = next(self.words, None)
        return (
            self.rest.bits(n) if word is None else word >> (64 - n) if n <= 64 else word << (n - 64)
        )


def test_the_trial_itself_accepts_with_the_target_probability() -> None:
    """Every first word of the acceptance on a table with one complete node: the code's own walk.

    The share of words that are accepted is the node's sum over its mass, to the resolution of a
    grid of words; a fault in the acceptance would move it.
    """
    cells, beta = random_cells(4, (2,), 12), Fraction(1)
    tree = make_tree(cells, beta)
    losses = [cells.errors(cells.split(w)) - reference(cells) for w in classifiers(cells)]
    expected = sum(math.exp(-loss) for loss in losses) / math.exp(tree.log_mass(0))
    tree._nodes.log_mass[0] += 0.7  # A looser mass: fewer acceptances, the same law.
    grid = 400
    accepted = 0
    for i in range(grid):
        sampler = Sampler([tree], beta, trials_left=1, gathered=10**6)
        accepted += sampler.trial(Script([int((i + 0.5) / grid * 2**64)])) is not None
    assert accepted / grid == pytest.approx(expected * math.exp(-0.7), abs=1.5 / grid)


def reference(cells: CellTable) -> int:
    return min(cells.errors(cells.split(w)) for w in classifiers(cells))


def make_tree(cells: CellTable, beta: Fraction) -> PartitionTree:
    free = [np.zeros((m, 3), dtype=np.int64) for m in cells.levels]
    return PartitionTree(
        cells, np.array(TERNARY), free, beta=float(beta), reference=reference(cells)
    )


def real_exp(beta: Fraction, cost: int) -> arb:
    exponent = -beta * cost
    return arb(fmpq(exponent.numerator, exponent.denominator)).exp()


def mass(tree: PartitionTree, node: int) -> arb:
    return arb(dyadic(tree.log_mass(node), 1200)) / arb(2) ** (1200 + MANTISSA)


def complete_nodes(tree: PartitionTree) -> list[tuple[int, arb]]:
    """Every complete node with the probability that a walk reaches it."""
    found, stack = [], [(0, arb(1))]
    while stack:
        node, chance = stack.pop()
        children = tree.children(node)
        if not children:
            found.append((node, chance))
        for child in children:
            stack.append((child, chance * mass(tree, child) / mass(tree, node)))
    return found


def test_bounds_nest_and_hold_at_every_node() -> None:
    cells, beta = random_cells(3, (3, 2, 2), 40), Fraction(1, 2)
    tree = make_tree(cells, beta)
    tree.refine(-900.0, 10**9)
    least = reference(cells)
    losses = {w: cells.errors(cells.split(w)) - least for w in classifiers(cells)}
    total = sum(math.exp(-float(beta) * loss) for loss in losses.values())
    assert math.log(total) <= tree.log_mass(0)
    before = [tree.log_mass(node) for node in range(tree.n_nodes)]
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if children:
            assert sum(math.exp(before[c]) for c in children) <= math.exp(before[node])
    tree.gather()
    assert tree.log_mass(0) == pytest.approx(math.log(total), abs=1e-5)


def test_a_bound_planted_too_low_is_an_error_and_not_a_draw() -> None:
    cells = random_cells(4, (3, 3), 40)
    tree = make_tree(cells, Fraction(1))
    tree._nodes.log_mass[0] -= 3
    sampler = Sampler([tree], Fraction(1), trials_left=10**6, gathered=10**6)
    with pytest.raises(EnvelopeError):
        [sampler.trial(SeededBits(seed)) for seed in range(200)]


def test_a_leaf_planted_too_low_is_an_error() -> None:
    cells = random_cells(4, (3,), 40)
    tree = make_tree(cells, Fraction(1))
    tree._nodes.log_mass[0] -= 0.5
    sampler = Sampler([tree], Fraction(1), trials_left=10, gathered=10)
    with pytest.raises(EnvelopeError, match="below its sum"):
        sampler.trial(SeededBits(0))


@pytest.mark.parametrize(("sparsity", "limit"), [(0.7, None), (0, 1), (0.4, 2)])
def test_base_measures(sparsity: float, limit: int | None) -> None:
    cells = random_cells(5, (2, 2, 2), 30)
    mechanism = ZeroOneExponential(
        cells, epsilon=1, neighbors="add_remove", sparsity=sparsity, max_attributes=limit
    )
    prior = float(mechanism.sparsity)
    assert abs(prior - sparsity) <= 1 / 32
    n = 6_000
    seen = Counter(flat(r.value) for r in mechanism.releases(n, random_state=8))
    assert chi_square(seen, law(cells, 1.0, prior, limit), n) > 1e-5
    # Another prior would be seen.
    assert chi_square(seen, law(cells, 1.0, prior + 0.2, limit), n) < 1e-5


@pytest.mark.parametrize("empty", ["a", "b", "rest", "tied", "all"])
@pytest.mark.parametrize("sparsity", [0, 0.5])
def test_limits_on_attributes_where_levels_are_empty(empty: str, sparsity: float) -> None:
    """Trees side by side: each must carry the sums of its levels without cells."""
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [2, 0, 1], [0, 0, 1], [2, 1, 0]] * 4)
    labels = np.array([True, False, True, True, False, False] * 4)
    levels = {
        "a": (4, 2, 2),
        "b": (3, 3, 2),
        "rest": (3, 2, 3),
        "tied": (3, 2, 2),
        "all": (1, 2, 5),
    }
    if empty == "tied":
        codes, labels = np.vstack([codes, [[0, 0, 0]] * 4]), np.r_[labels, [False] * 4]
    codes = np.minimum(codes, np.array(levels[empty]) - 1)
    cells = CellTable.from_codes(codes, labels, levels[empty])
    mechanism = ZeroOneExponential(cells, epsilon=1, max_attributes=1, sparsity=sparsity)
    n = 2_000
    seen = Counter(flat(r.value) for r in mechanism.releases(n, random_state=3))
    expected = law(cells, 0.5, float(mechanism.sparsity), limit=1)
    assert chi_square(seen, expected, n) > 1e-5
    used = Counter(tuple(b.any() for b in cells.split(w)) for w in seen.elements())
    for pattern, count in used.items():
        p = sum(v for w, v in expected.items() if tuple(b.any() for b in cells.split(w)) == pattern)
        assert abs(count - n * p) < 5 * math.sqrt(n * p * (1 - p)) + 1


def test_released_arrays_do_not_tell_how_the_search_was_laid_out() -> None:
    for value in (
        exponential(random_cells(1, (2, 5, 3), 40), epsilon=1).value,
        minimize(random_cells(1, (2, 5, 3), 40)).value,
    ):
        assert value is not None
        assert all(block.base is None for block in value)


def test_many_levels_in_the_second_attribute() -> None:
    generator = np.random.default_rng(0)
    codes = np.column_stack([generator.integers(0, m, 60) for m in (600, 550)])
    cells = CellTable.from_codes(codes, generator.random(60) < 0.5, (600, 550))
    assert exponential(cells, epsilon=5, random_state=1).value[1].shape == (550,)


@pytest.mark.parametrize("n", [0, 1])
def test_weights_too_large_are_refused_whatever_the_rows(n: int) -> None:
    cells = random_cells(1, (2, 2), n)
    ledger = Ledger({"people": 1.0})
    with pytest.raises((ProblemError, ParameterError), match="2\\^53"):
        exponential(cells, epsilon=1, weights=(0, 2**52), ledger=ledger, dataset="people")
    assert ledger.charges == ()


def test_a_sparsity_that_could_overflow_is_refused_at_once() -> None:
    with pytest.raises(ParameterError, match="sparsity"):
        ZeroOneExponential(random_cells(1, (2, 2), 5), epsilon=1e-6, sparsity=1e6)


def test_threads_may_share_a_mechanism() -> None:
    mechanism = ZeroOneExponential(random_cells(14, (4, 3, 3, 2), 200), epsilon=1)
    next(mechanism.releases(1, random_state=0))
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda s: list(mechanism.releases(40, random_state=s)), range(8))
    assert sum(map(len, found)) == 320


def test_levels_without_rows_have_their_prior() -> None:
    codes = np.array([[0, 0], [1, 0], [1, 1]] * 5)
    cells = CellTable.from_codes(codes, np.arange(15) % 2 == 0, (4, 3))
    mechanism = ZeroOneExponential(cells, epsilon=2)
    n = 3_000
    seen = [flat(r.value) for r in mechanism.releases(n, random_state=1)]
    for level in (2, 3, 6):
        counts = Counter(w[level] for w in seen)
        assert chisquare([counts[v] for v in TERNARY]).pvalue > 1e-5


def test_draws_from_one_tree_are_independent() -> None:
    mechanism = ZeroOneExponential(random_cells(6, (2, 2), 20), epsilon=1)
    draws = [flat(r.value) for r in mechanism.releases(8_000, random_state=4)]
    top = [w for w, _ in Counter(draws).most_common(6)]
    index = {w: i for i, w in enumerate(top)}
    pairs = np.zeros((7, 7))
    for first, second in itertools.pairwise(draws):
        pairs[index.get(first, 6), index.get(second, 6)] += 1
    expected = np.outer(pairs.sum(axis=1), pairs.sum(axis=0)) / pairs.sum()
    assert chisquare(pairs.ravel(), expected.ravel(), ddof=12).pvalue > 1e-5


# -- the guarantee -----------------------------------------------------------------------------


def exact_of(mechanism: ZeroOneExponential, cells: CellTable) -> np.ndarray:
    """Enumeration at the rate that the mechanism uses."""
    return np.array(list(law(cells, float(mechanism.rate)).values()))


@pytest.mark.parametrize("relation", ["replace", "add_remove", "zero_out"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_neighbours_are_within_epsilon_and_attain_it(relation: str, epsilon: float) -> None:
    generator = np.random.default_rng(7)
    levels = (2, 2)
    worst = 0.0
    for _ in range(40):
        n = int(generator.integers(1, 8))
        codes = np.column_stack([generator.integers(0, m, n + 1) for m in levels])
        labels = generator.random(n + 1) < 0.5
        first = CellTable.from_codes(codes[1:], labels[1:], levels)
        rows = np.r_[0, 2 : n + 1] if relation == "replace" else np.arange(n + 1)
        second = CellTable.from_codes(codes[rows], labels[rows], levels)
        pair = [
            exact_of(ZeroOneExponential(c, epsilon=epsilon, neighbors=relation), c)
            for c in (first, second)
        ]
        worst = max(worst, float(np.abs(np.log(pair[0] / pair[1])).max()))
    assert worst <= epsilon + 1e-12
    far = tight_pair(relation, epsilon)
    pair = [exact_of(ZeroOneExponential(c, epsilon=epsilon, neighbors=relation), c) for c in far]
    worst = max(worst, float(np.abs(np.log(pair[0] / pair[1])).max()))
    assert worst <= epsilon + 1e-12
    assert worst >= 0.99 * epsilon


def tight_pair(relation: str, epsilon: float) -> tuple[CellTable, CellTable]:
    """A crowd that decides the prediction of a cell, and one record in it.

    Nearly all mass is where the record's loss moves one way, and the rare classifiers that predict
    against the crowd are where it moves the other way.
    """
    crowd = int(60 / epsilon)
    labels = np.ones(crowd + 1, dtype=bool)
    codes = np.zeros((crowd + 1, 2), dtype=int)
    first = CellTable.from_codes(codes, labels, (2, 1))
    if relation == "replace":
        labels = labels.copy()
        labels[-1] = False
        return first, CellTable.from_codes(codes, labels, (2, 1))
    return first, CellTable.from_codes(codes[:-1], labels[:-1], (2, 1))


def test_the_rate_is_epsilon_over_the_range() -> None:
    cells = random_cells(1, (2, 2), 9)
    for relation, expected in (("replace", 2), ("add_remove", 1), ("zero_out", 1)):
        mechanism = ZeroOneExponential(cells, epsilon="1/3", neighbors=relation)
        assert mechanism.rate == Fraction(1, 3) / expected


def test_release_states_its_guarantee() -> None:
    guarantee = exponential(random_cells(1, (2, 2), 9), epsilon=0.5).guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.5, 0, 0.5**2 / 8)
    assert guarantee.neighbors is Neighbors.REPLACE
    assert guarantee.certificate is Certificate.EXACT
    assert {c.kind for c in guarantee.contingencies} == {ContingencyKind.RUNNING_TIME}


def test_seed_reproduces() -> None:
    cells = random_cells(2, (4, 3, 2), 50)
    first, second = (exponential(cells, epsilon=1, random_state=3) for _ in range(2))
    assert flat(first.value) == flat(second.value)
    assert not first.guarantee.is_private


# -- odd data and bad input --------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        CellTable.from_codes(np.empty((0, 2)), np.empty(0, dtype=bool), (2, 3)),
        CellTable.from_codes([[0, 0], [0, 0]], [True, False], (2, 2)),
        CellTable.from_codes([[0]], [True], (1,)),
        random_cells(15, (200, 2), 600),
        CellTable.from_matrix([[2, -3], [1, 0], [0, 0]], [True, False, True]),
        CellTable.from_codes([[0, 0], [1, 1]], [True, False], (2, 2)).scaled(10**12),
    ],
    ids=["no rows", "tied", "one level", "200 levels", "matrix", "large counts"],
)
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1e9])
def test_odd_tables_draw(cells: CellTable, epsilon: float) -> None:
    release = exponential(cells, epsilon=epsilon, random_state=1)
    assert tuple(len(block) for block in release.value) == cells.levels
    assert set(flat(release.value)) <= set(TERNARY)
    if epsilon == 1e9 and cells.n_cells and cells.n_cells < 3:
        optimum = np.minimum(cells.positive, cells.negative).sum()
        assert cells.errors(release.value) == optimum


def test_each_draw_is_charged_before_it_is_made() -> None:
    ledger = Ledger({"people": 1.0})
    mechanism = ZeroOneExponential(random_cells(1, (2, 2), 9), epsilon=0.5)
    draws = mechanism.releases(3, ledger=ledger, dataset="people", random_state=1)
    next(draws)
    assert len(ledger.charges) == 1
    next(draws)
    with pytest.raises(OverspendError):
        next(draws)
    assert len(ledger.charges) == 2


def test_a_limit_refuses_and_the_charge_stays() -> None:
    cells = random_cells(9, (5, 4, 3), 400)
    ledger = Ledger({"people": 1.0})
    with pytest.raises(UncertifiedError, match="depends on the data"):
        exponential(
            cells,
            epsilon=1,
            limits=Limits(seconds=1e-9),
            ledger=ledger,
            dataset="people",
        )
    assert len(ledger.charges) == 1
    release = exponential(cells, epsilon=1, limits=Limits(rounds=10_000), random_state=1)
    assert ContingencyKind.COMPLETION in {c.kind for c in release.guarantee.contingencies}


def test_rounds_do_not_change_the_law() -> None:
    # Draws that happen to be accepted in the first trials have the same law as all others.
    cells = random_cells(10, (2, 2), 25)
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(1_200):
        try:
            release = exponential(cells, epsilon=2, limits=Limits(rounds=1), random_state=seed)
        except UncertifiedError:
            continue
        seen[flat(release.value)] += 1
    n = sum(seen.values())
    assert n > 150
    assert chi_square(seen, law(cells, 1.0), n) > 1e-5


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": math.nan}, ParameterError),
        ({"neighbors": "friends"}, ParameterError),
        ({"weights": (1, 2)}, ProblemError),
        ({"weights": (0, 0.5)}, ProblemError),
        ({"sparsity": -1}, ParameterError),
        ({"max_attributes": 0}, ParameterError),
        ({"max_attributes": 1.5}, ParameterError),
    ],
)
def test_bad_parameters(parameters: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        ZeroOneExponential(random_cells(1, (2, 2), 9), **{"epsilon": 1, **parameters})


def test_the_schedule_only_moves_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = random_cells(12, (3, 2), 30)
    expected = law(cells, 0.5)
    for share in (1e-9, 0.9):
        monkeypatch.setattr(rejection, "FIRST_SHARE", share)
        mechanism = ZeroOneExponential(cells, epsilon=1)
        n = 4_000
        seen = Counter(flat(r.value) for r in mechanism.releases(n, random_state=2))
        assert chi_square(seen, expected, n) > 1e-5
