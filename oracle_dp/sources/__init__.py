"""Tables that are read anew for every pass: Parquet files, Dask data frames.

A source is tables in parts of a fixed order. Whoever sums over it gets every part's sum and adds
them up in that order, so that a result does not depend on threads, workers or machines.

``LogisticRegression.fit_blocks`` takes any :class:`Source`.
"""

from oracle_dp.sources.base import Source
from oracle_dp.sources.dask import DaskSource
from oracle_dp.sources.parquet import ParquetSource

__all__ = ["DaskSource", "ParquetSource", "Source"]
