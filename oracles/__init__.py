"""Oracles find minima and prove it; they know nothing of privacy."""
