"""``python -m oracle_dp.cli``, where the console script is not installed."""

from __future__ import annotations

from oracle_dp.cli import main

if __name__ == "__main__":
    main()
