"""What may be said on the command line, without importing what it stands for."""

from __future__ import annotations

from enum import StrEnum


class PublicData(StrEnum):
    """What a plan may be made on."""

    ADULT = "adult"
    SYNTHETIC = "synthetic"


class Mechanism(StrEnum):
    """Mechanisms that train a 0-1-loss classifier."""

    EXPONENTIAL = "exponential"
    OPDISC = "opdisc"
    COUNTS = "counts"
    TOP_R = "top_r"
    BLOCKWISE = "blockwise"


class Lift(StrEnum):
    """What objective perturbation adds noise along."""

    ONE_HOT = "one_hot"
    PI = "pi"
    CENTRED_BINARY = "centred_binary"


class Noise(StrEnum):
    """Noises of objective perturbation."""

    GEOMETRIC = "geometric"
    EXPONENTIAL = "exponential"
    GAMMA_NORM = "gamma_norm"
    GAUSSIAN = "gaussian"


class Model(StrEnum):
    """What is trained."""

    ZERO_ONE = "zero_one"
    LOGISTIC = "logistic"
    MINIMAX = "minimax"


class Missing(StrEnum):
    """What becomes of rows with a missing value."""

    DROP = "drop"
    CATEGORY = "category"


class Relation(StrEnum):
    """Neighbour relations."""

    REPLACE = "replace"
    ADD_REMOVE = "add_remove"
    ZERO_OUT = "zero_out"


class Composing(StrEnum):
    """How charges on a ledger add up."""

    BASIC = "basic"
    ZCDP = "zcdp"


def split(text: str) -> list[str]:
    """The parts of a comma-separated list."""
    return [part.strip() for part in text.split(",")]


def integers(text: str, *, name: str = "weights") -> tuple[int, ...]:
    """Comma-separated integers, of the option ``name``.

    Raises:
        ParameterError: They are something else.
    """
    from oracle_dp.errors import ParameterError

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            f"{name}: comma-separated integers expected, such as -1,0,1, not {text!r}"
        ) from None
