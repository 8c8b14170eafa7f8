"""The errors and warnings of the privacy side, all in one tree.

::

    PrivacyError
    ├── ParameterError (also ValueError)   a parameter is not one a mechanism accepts
    ├── DomainError (also ValueError)      data do not fit the public schema
    │   └── ColumnTypeError (also TypeError)  a column needs a domain, and none is given
    ├── UncertifiedError                   no certificate, so no release; the charge stays
    ├── LedgerError                        the ledger cannot take the charge
    │   ├── OverspendError             the charge would exceed the budget
    │   └── LedgerFileError            a ledger's file is missing, damaged, foreign or in use
    └── ReleaseFormatError (also ValueError)  a saved release cannot be read

    PrivacyLeakWarning (UserWarning)       something public was read from the data
    RepeatedFitWarning (UserWarning)       copies of one estimator each spend
    VacuousBoundWarning (UserWarning)      a bound says nothing: expect mostly noise

Messages name the parameter and its value, and for data the column only: no private value is
ever shown. The optimisation side has its own tree, :mod:`oracles.errors`.
"""


class PrivacyError(Exception):
    """Base of every error that the package ``oracle_dp`` raises on purpose."""


class ParameterError(PrivacyError, ValueError):
    """A parameter has a value that the mechanism cannot honour."""


class DomainError(PrivacyError, ValueError):
    """Data do not fit the public domain. Names the column, never a private value."""


class ColumnTypeError(DomainError, TypeError):
    """Without a domain a column must hold numbers or booleans, and this one does not."""


class UncertifiedError(PrivacyError):
    """The oracle gave no proof of optimality, so nothing is released.

    The budget stays charged: whether a proof was found depends on the data, and epsilon does
    not cover that.
    """


class LedgerError(PrivacyError):
    """The ledger cannot take this charge: unknown data set, or another neighbour relation."""


class OverspendError(LedgerError):
    """The charge would exceed the data set's budget. Nothing was charged."""


class LedgerFileError(LedgerError):
    """A ledger's file cannot be used: missing, damaged, not a ledger, too new, read-only, in use.

    Nothing is released without the charge having been written.
    """


class ReleaseFormatError(PrivacyError, ValueError):
    """A saved release is damaged, or was written by a version this one cannot read."""


class PrivacyLeakWarning(UserWarning):
    """A parameter that must be public was read from private data; no epsilon covers that."""


class RepeatedFitWarning(UserWarning):
    """Copies of one estimator are fitted, as in cross-validation: each fit spends epsilon."""


class VacuousBoundWarning(UserWarning):
    """A bound holds for any point, or added noise outweighs any answer: expect mostly noise."""
