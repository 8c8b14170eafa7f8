"""Selection problems: integer vectors of a countable set with losses that have modular minorants.

A *base set* is a product of blocks of variables, each a box with at most one linear row: a free
choice, exactly or at most p of n, a knapsack. It is counted exactly, and sums of
``exp(slope @ w)`` over it cost one dynamic program. A *loss* gives for every box of such vectors a
linear function that is nowhere above it. Together they bound partition functions, as a relaxation
bounds minima.
"""
