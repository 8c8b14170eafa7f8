"""Side-by-side timings: ratios in one run."""
