"""Data sets that ship with their public schema."""

from oracle_dp.datasets.adult import AdultData, load_adult

__all__ = ["AdultData", "load_adult"]
