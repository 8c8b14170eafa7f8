"""Private optimisation with second-order information: Newton's method in several forms."""
