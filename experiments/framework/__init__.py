"""What every table and figure of the page is made with: experiments, records, runner and page."""

from experiments.framework.cells import Cell, Table, label, quoted
from experiments.framework.commands import main
from experiments.framework.experiment import (
    Config,
    Experiment,
    NotAvailableError,
    Record,
    Section,
)
from experiments.framework.records import promised

__all__ = [
    "Cell",
    "Config",
    "Experiment",
    "NotAvailableError",
    "Record",
    "Section",
    "Table",
    "label",
    "main",
    "promised",
    "quoted",
]
