"""Cells from rows that lie anywhere: a frame, Parquet files, DuckDB, Dask.

Every engine does the same three things where the rows are: it reads each entry as the code of its
level (:class:`Encoding`), counts the rows of each distinct combination of codes and class, and
hands over nothing but these counts. The table is the same by every route: distinct rows of codes
in lexicographic order.
"""

from oracles.zero_one.sources.schema import Encoding, Encodings

__all__ = ["Encoding", "Encodings"]
