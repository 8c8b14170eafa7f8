"""Planted faults: one small change of the source each, and the tests that have to notice it."""

from __future__ import annotations

from tests.mutations.convex_faults import CONVEX_FAULTS
from tests.mutations.fault import Fault
from tests.mutations.program_faults import PROGRAM_FAULTS

M, N, E = "tests/oracle_dp/mechanisms", "tests/oracle_dp/noise", "tests/oracle_dp/estimators"

FAULTS = [
    # -- too little noise ----------------------------------------------------------------------
    Fault(
        "noise halved",
        "oracle_dp/mechanisms/perturbation.py",
        "return self.epsilon / (self.coordinates * self.shift)",
        "return 2 * self.epsilon / (self.coordinates * self.shift)",
        (f"{M}/test_opdisc.py",),
    ),
    Fault(
        "noise for one coordinate instead of all",
        "oracle_dp/mechanisms/perturbation.py",
        "coordinates=max(1, sum(size > 1 for size in sizes)),",
        "coordinates=1,",
        ("tests/oracle_dp/audit/test_standing.py",),
    ),
    Fault(
        "a shift that is not strict, so that ties tell",
        "oracle_dp/mechanisms/perturbation.py",
        "return int(self.scale * self.sensitivity) + 1",
        "return int(self.scale * self.sensitivity)",
        (f"{M}/test_opdisc.py",),
    ),
    Fault(
        "Gaussian noise for one direction instead of the worst",
        "oracle_dp/mechanisms/radial.py",
        "mu = _largest_mu(self.epsilon, self.delta, self.dimension)",
        "mu = _largest_mu(self.epsilon, self.delta, 1)",
        (f"{M}/test_lifts.py", "tests/oracle_dp/audit/test_standing.py"),
    ),
    Fault(
        "gamma-norm noise of half the radius",
        "oracle_dp/mechanisms/radial.py",
        "return self.radius / self.epsilon",
        "return self.radius / self.epsilon / 2",
        (f"{M}/test_lifts.py", "tests/oracle_dp/audit/test_standing.py"),
    ),
    Fault(
        "a lift whose gain is overstated",
        "oracle_dp/mechanisms/pi_lift.py",
        "inner = np.minimum(_integer_sqrt(a * b), (a + b - self.gap**2) // 2)",
        "inner = np.minimum(_integer_sqrt(a * b), (a + b - 4 * self.gap**2) // 2)",
        (f"{M}/test_lifts.py",),
    ),
    Fault(
        "no noise on empty cells",
        "oracle_dp/mechanisms/counts.py",
        "noisy: IntArray = table + two_sided_geometric_array(exponent, table.shape, source)",
        "noisy: IntArray = table + (table != 0) * two_sided_geometric_array("
        "exponent, table.shape, source)",
        (f"{M}/test_counts.py",),
    ),
    # -- the wrong neighbours, the wrong sensitivity -------------------------------------------
    Fault(
        "the wrong neighbour relation, for counts",
        "oracle_dp/mechanisms/counts.py",
        "L1_SENSITIVITY = {Neighbors.REPLACE: 2,",
        "L1_SENSITIVITY = {Neighbors.REPLACE: 1,",
        (f"{M}/test_counts.py", "tests/oracle_dp/audit/test_standing.py"),
    ),
    Fault(
        "the wrong neighbour relation, for the 0-1 loss",
        "oracle_dp/sensitivity.py",
        "ZERO_ONE = {Neighbors.REPLACE: 2,",
        "ZERO_ONE = {Neighbors.REPLACE: 1,",
        (f"{M}/test_exponential.py", "-k", "neighbours or rate"),
    ),
    Fault(
        "sensitivity read from the data",
        "oracle_dp/mechanisms/top_r.py",
        'range_sensitivity = larger_reading("sensitivity", sensitivity)',
        'range_sensitivity = min(larger_reading("sensitivity", sensitivity), '
        "Fraction(max(1, problem.loss_spread)))",
        (f"{M}/test_top_r.py",),
    ),
    Fault(
        "sensitivity rounded down",
        "oracle_dp/mechanisms/base.py",
        "return max(smaller, printed, Fraction(*value.as_integer_ratio()))",
        "return smaller",
        (f"{M}/test_opdisc.py", f"{M}/test_top_r.py"),
    ),
    Fault(
        "epsilon rounded up",
        "oracle_dp/noise/exact.py",
        "return min(shortest, Fraction(*value.as_integer_ratio()))",
        "return max(shortest, Fraction(*value.as_integer_ratio()))",
        (f"{N}/test_parameters.py",),
    ),
    Fault(
        "an update paid for at the rate of removal",
        "oracle_dp/mechanisms/blockwise.py",
        "reach = ZERO_ONE[neighbors]",
        "reach = 1",
        (f"{M}/test_blockwise.py",),
    ),
    # -- composition ---------------------------------------------------------------------------
    Fault(
        "the budget not split between classes",
        "oracle_dp/estimators/split_budget.py",
        '"epsilon": epsilon / parts,',
        '"epsilon": epsilon,',
        (f"{E}/test_split_budget.py",),
    ),
    Fault(
        "one update not counted",
        "oracle_dp/mechanisms/blockwise.py",
        "basic = epsilon / (updates * reach)",
        "basic = epsilon / (max(1, updates - 1) * reach)",
        (f"{M}/test_blockwise.py",),
    ),
    Fault(
        "a gap counted once",
        "oracle_dp/mechanisms/opdisc.py",
        'most + 2 * larger_reading("gap", gap)',
        'most + larger_reading("gap", gap)',
        (f"{M}/test_opdisc_gap.py", "-k", "larger"),
    ),
    Fault(
        "delta dropped from the charge",
        "oracle_dp/mechanisms/opdisc.py",
        "        delta=perturbation.delta,\n        neighbors=promise.neighbors,",
        "        neighbors=promise.neighbors,",
        (f"{M}/test_opdisc_lifts.py", "-k", "charged"),
    ),
    Fault(
        "deltas not added up",
        "oracle_dp/accounting/spend.py",
        "used = sum((Fraction(e.delta) for e in added), Fraction(0))",
        "used = max((Fraction(e.delta) for e in added), default=Fraction(0))",
        ("tests/oracle_dp/accounting/test_spend.py",),
    ),
    Fault(
        "the exponential mechanism's rho for every pure mechanism",
        "oracle_dp/accounting/spend.py",
        "exact * exact / (8 if bounded_range else 2)",
        "exact * exact / 8",
        ("tests/oracle_dp/accounting/test_spend.py",),
    ),
    # -- noise that is not what it is said to be ------------------------------------------------
    Fault(
        "zero twice as likely",
        "oracle_dp/noise/exact.py",
        "        if magnitude:\n            return -magnitude",
        "        return -magnitude",
        (f"{N}/test_exact.py",),
    ),
    Fault(
        "a remainder instead of a rejection",
        "oracle_dp/noise/bits.py",
        "    while (drawn := source.bits(width)) >= n:\n        pass\n    return drawn",
        "    return source.bits(width) % n",
        (f"{N}/test_bits.py", f"{N}/test_exact.py"),
    ),
    Fault(
        "noise shared between a process and its fork",
        "oracle_dp/noise/bits.py",
        "            self._words.clear()\n",
        "",
        (f"{N}/test_bits.py",),
    ),
    Fault(
        "noise shared between copies that go to workers",
        "oracle_dp/noise/bits.py",
        "        return SystemBits, ()",
        "        return _with_words, (list(self._words),)\n\n\n"
        "def _with_words(words: list[int]) -> SystemBits:\n"
        "    copy = SystemBits()\n"
        "    copy._words = words\n"
        "    return copy\n\n\n"
        "class _Rest:",
        (f"{N}/test_bits.py",),
    ),
    Fault(
        "a draw in several sets of attributes is accepted in each",
        "oracle_dp/mechanisms/exponential.py",
        "if bernoulli(Fraction(1, self._multiplicity(weights)), source):",
        "if weights:",
        (f"{M}/test_exponential.py", "-k", "measures or limits"),
    ),
    # -- what is released, and under which promise ----------------------------------------------
    Fault(
        "an unproven incumbent released",
        "oracle_dp/mechanisms/base.py",
        "if solution.value is None or not proven:",
        "if solution.value is None:",
        (f"{M}/test_opdisc.py", "-k", "certificate or lying"),
    ),
    Fault(
        "Top-R with the points that were found in time",
        "oracle_dp/mechanisms/top_r.py",
        "if len({point.positions for point in best}) != expected:",
        "if not best:",
        (f"{M}/test_top_r.py",),
    ),
    Fault(
        "a seeded release not marked",
        "oracle_dp/mechanisms/base.py",
        "if not source.is_private:",
        "if source is None:",
        (f"{M}/test_opdisc.py", "-k", "seed"),
    ),
    Fault(
        "a solver's bound not named",
        "oracle_dp/mechanisms/base.py",
        "    if solver is not None:",
        "    if solver == '':",
        (f"{M}/test_opdisc.py", "-k", "contingency or foreign"),
    ),
    Fault(
        "a guarantee that states less than it spends",
        "oracle_dp/mechanisms/base.py",
        "Fraction(nearest) < value if toward > 0 else Fraction(nearest) > value",
        "Fraction(nearest) > value if toward > 0 else Fraction(nearest) < value",
        (f"{M}/test_base.py",),
    ),
    Fault(
        "charged after the noise",
        "oracle_dp/mechanisms/counts.py",
        "    charge_before_noise(ledger, dataset, mechanism=MECHANISM, epsilon=target, "
        "neighbors=relation)\n"
        "    noisy = noisy_differences(cells, epsilon=target, neighbors=relation, source=source)\n",
        "    noisy = noisy_differences(cells, epsilon=target, neighbors=relation, source=source)\n"
        "    charge_before_noise(ledger, dataset, mechanism=MECHANISM, epsilon=target, "
        "neighbors=relation)\n",
        (f"{M}/test_base.py",),
    ),
    # -- oracles ---------------------------------------------------------------------------------
    Fault(
        "a bound rounded up",
        "oracles/verdict.py",
        "math.ceil(bound - max(",
        "math.ceil(bound + max(",
        ("tests/oracles/test_highs.py", "-k", "weak_bound or truth"),
    ),
    Fault(
        "an infeasible point accepted",
        "oracles/verdict.py",
        "    if not program.is_feasible(point):\n        return refuted\n    if _contradicts",
        "    if _contradicts",
        ("tests/oracles/test_highs.py", "-k", "lie"),
    ),
    Fault(
        "a foreign oracle believed",
        "oracles/verdict.py",
        "    if type(oracle) in (Exhaustive, Highs, Pulp):\n",
        "    if oracle is not None:\n",
        (f"{M}/test_opdisc.py", "-k", "lying or foreign"),
    ),
    Fault(
        "a wrong big M",
        "oracles/zero_one/formulation.py",
        "big_m = np.where(wants_positive, 1 - least[priced], -greatest[priced])",
        "big_m = np.where(wants_positive, -least[priced], -greatest[priced])",
        ("tests/oracles/zero_one/test_minimize.py",),
    ),
    Fault(
        "a stale warm start believed",
        "oracles/highs.py",
        "        if known is not None and not program.is_feasible(known):\n"
        "            known = None\n",
        "",
        ("tests/oracles/test_highs_process.py", "-k", "start"),
    ),
    # -- ledger, messages ------------------------------------------------------------------------
    Fault(
        "a ledger that reads before it locks",
        "oracle_dp/ledger_file.py",
        'connection.execute("BEGIN IMMEDIATE")',
        'connection.execute("BEGIN DEFERRED")',
        ("tests/oracle_dp/test_ledger_file.py", "-k", "threads or processes"),
    ),
    Fault(
        "only one of a run of equal charges counted",
        "oracle_dp/_ledger_tables.py",
        "total = total.plus(_charge(*figures), times=times)",
        "total = total.plus(_charge(*figures), times=1)",
        ("tests/oracle_dp/test_ledger_file.py", "-k", "tenths"),
    ),
    Fault(
        "a private value in a message",
        "oracle_dp/domain.py",
        'f"column {single.column!r} {refusal};',
        'f"column {single.column!r} {refusal} {codes.tolist()};',
        ("tests/oracle_dp/test_domain.py",),
    ),
    *CONVEX_FAULTS,
    *PROGRAM_FAULTS,
]
