"""Planted faults of searches with totals, private programs, variational methods, and SQL."""

from __future__ import annotations

from tests.mutations.fault import Fault

TOTALS = ("tests/oracles/zero_one/test_lagrangian.py", "-k", "enumeration or bounds")

PROGRAM_FAULTS = [
    Fault(
        "totals that a node is thought not to have",
        "oracles/zero_one/_total.py",
        "high += most",
        "high += least",
        TOTALS,
    ),
    Fault(
        "a leaf whose total costs nothing beyond its price",
        "oracles/zero_one/_total.py",
        "cost = total.least[arrays.n_a, end] + total.slack[end]",
        "cost = total.least[arrays.n_a, end]",
        TOTALS,
    ),
    Fault(
        "a window of totals that is never searched",
        "oracles/zero_one/lagrangian.py",
        "((window.first, middle), (middle + 1, window.last))",
        "((window.first, middle), (middle + 2, window.last))",
        TOTALS,
    ),
    Fault(
        "values left out that a total may need",
        "oracles/zero_one/_coupled.py",
        "self.allowed = np.ones(self.own.shape, dtype=bool)",
        "self.allowed = self.own - self.own.min(axis=1, keepdims=True) <= "
        "self.layout.level_gain[:, None]",
        TOTALS,
    ),
    Fault(
        "a stopped search whose bound forgets a window of totals",
        "oracles/zero_one/lagrangian.py",
        "for bound, *_ in waiting if bound < self.objective",
        "for bound, *_ in waiting[1:] if bound < self.objective",
        TOTALS,
    ),
    Fault(
        "recourse that is feasible up to a tolerance",
        "oracles/recourse.py",
        "if values is None or not left.holds(values):",
        "if values is None:",
        ("tests/oracles/test_recourse.py",),
    ),
    Fault(
        "a gap that forgets how far floats may err",
        "oracles/released.py",
        "bound -= gap_margin(lifted)",
        "bound -= 0.0",
        ("tests/oracles/test_recourse.py", "tests/oracle_dp/mechanisms/test_opdisc_gap.py"),
    ),
    Fault(
        "masses that stay where the reference was",
        "oracle_dp/mechanisms/partition_sampler.py",
        "log_mass=node.log_mass + moved + margin",
        "log_mass=node.log_mass + margin",
        ("tests/oracle_dp/mechanisms/test_partition_sampler.py", "-k", "reference or nats"),
    ),
    Fault(
        "a replaced record that counts as a removed one, for the certificate",
        "oracle_dp/variational/gap.py",
        "reach = 2 if relation is Neighbors.REPLACE else 1",
        "reach = 1",
        ("tests/oracle_dp/audit/test_standing.py", "-k", "closed_forms"),
    ),
    Fault(
        "one half step of two accounted for",
        "oracle_dp/variational/calibration.py",
        "composed = 1 if sampling is Sampling.SINGLE_PASS else releases",
        "composed = 1 if sampling is Sampling.SINGLE_PASS else releases / 2",
        ("tests/oracle_dp/audit/test_standing.py", "-k", "closed_forms"),
    ),
    Fault(
        "an edge that belongs to the level below, in SQL",
        "oracles/zero_one/sources/duckdb.py",
        'f"WHEN {number} < {_double(edge)}',
        'f"WHEN {number} <= {_double(edge)}',
        ("tests/oracles/zero_one/sources/test_routes.py", "-k", "in_memory"),
    ),
    Fault(
        "a parser that may run for ever",
        "oracles/_parser.py",
        "process.communicate(request, timeout=seconds)",
        "process.communicate(request)",
        ("tests/oracles/test_parser.py", "-k", "ended"),
    ),
    Fault(
        "a parser that runs on after Ctrl-C",
        "oracles/_parser.py",
        "            process.kill()\n",
        "            pass\n",
        ("tests/oracles/test_parser.py", "-k", "ctrl_c"),
    ),
    Fault(
        "a parser that hangs, begun although it is of no use",
        "oracles/_parser_child.py",
        "if _HOPELESS in message:",
        "if _HOPELESS == message:",
        ("tests/oracles/test_parser.py", "-k", "fixed"),
    ),
]
