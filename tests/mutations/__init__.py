"""Planted faults, and whether the tests notice."""
