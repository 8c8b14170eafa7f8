"""Differentially private optimisation: noise, accounting and release."""
