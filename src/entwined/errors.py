"""The exception tree. A message says what was given, what is wrong, and what to do.

EntwinedError                 everything we raise on purpose
├── BadInput                  the caller's file or value is wrong               exit code 2
│   ├── BadModel              a dependence model that cannot be
│   ├── BadLoss               a loss, leakage or weight that cannot be
│   ├── BadCertificate        a certificate that cannot be read
│   ├── BadKey                a key or a signature that is none, or a key that others may read
│   ├── BadNoise              a scale, confidence or rate that no noise can have
│   ├── BadCharge             a charge that cannot be, or a request id that stands for another question
│   ├── BadLedger             a ledger that is not what the caller says it is
│   │   └── NoLedger          there is none at that place
│   ├── BadSchema             a schema that cannot be, or changed after it was approved
│   ├── BadTable              a source of rows that cannot be opened, or lacks a declared column
│   └── BadQuery              a question that cannot be asked of this schema
├── Refused                   the input is fine, the guarantee cannot be given   exit code 1
│   ├── DoesNotApply          this theorem says nothing about this model
│   ├── NoTheorem             no theorem does
│   ├── OverBudget            the total would leak more than the cap
│   ├── ChargeClosed          a charged run failed or was overtaken: no answer comes from it
│   ├── LedgerDamaged         a ledger that was edited, cut, or put back from an old copy
│   ├── LedgerUnavailable     a ledger that cannot be read or written durably now
│   ├── Unreachable           no loss above zero meets the target
│   ├── Unreadable            the rows could not be read; the words are the same whatever they hold
│   │   └── SourceLost        the connection to them broke: nothing was read, and the charge stays open
│   ├── QueryTooComplex       a condition or table too large to be worked out exactly
│   └── Unapproved            nothing is released under a schema the holder has not approved
└── HolderError               built from private rows: for the holder's eyes only  exit code 1
"""

from typing import ClassVar


class EntwinedError(Exception):
    """Everything that entwined raises on purpose."""

    exit_code: ClassVar[int] = 1


class BadInput(EntwinedError):  # noqa: N818  (the tree reads as what happened, not as "Error")
    """What the caller gave is wrong."""

    exit_code: ClassVar[int] = 2


class BadModel(BadInput):
    """A dependence model that cannot be."""


class BadLoss(BadInput):
    """A loss, leakage or weight that cannot be."""


class BadCertificate(BadInput):
    """A certificate that cannot be read."""


class BadKey(BadInput):
    """A key or a signature that is none, or a key that others may read."""


class BadNoise(BadInput):
    """A scale, confidence or rate that no noise can have."""


class BadCharge(BadInput):
    """A charge that cannot be, or a request id that already stands for another question."""


class BadLedger(BadInput):
    """A ledger that is not what the caller says it is."""


class NoLedger(BadLedger):
    """There is no ledger at that place."""


class BadSchema(BadInput):
    """A schema that cannot be, or that changed after it was approved."""


class BadTable(BadInput):
    """A source of rows that cannot be opened, or that lacks a declared column."""


class BadQuery(BadInput):
    """A question that cannot be asked of this schema."""


class Refused(EntwinedError):  # noqa: N818
    """The input is fine, but the guarantee cannot be given."""


class DoesNotApply(Refused):
    """A theorem says nothing about this model."""


class NoTheorem(Refused):
    """No theorem covers this model and knowledge."""


class OverBudget(Refused):
    """The total would leak more than the cap."""


class ChargeClosed(Refused):
    """A charged run failed or was overtaken: the charge stays and no answer comes from it."""


class LedgerDamaged(Refused):
    """A ledger that was edited, cut, or put back from an old copy."""


class LedgerUnavailable(Refused):
    """A ledger that cannot be read or written durably now: full, read-only, busy or out of reach."""


class Unreachable(Refused):
    """No loss above zero keeps the leakage within the target."""


class Unreadable(Refused):
    """The rows could not be read; the words are the same whatever they hold."""


class SourceLost(Unreadable):
    """The connection to the rows broke and could not be made again; the charge stays open for the same question."""


class QueryTooComplex(Refused):
    """A condition or table too large to be worked out exactly."""


class Unapproved(Refused):
    """Nothing is released under a schema that the holder has not approved."""


class HolderError(EntwinedError):
    """A message built from private rows: the holder may see it, an analyst never."""


class SlowReadingError(HolderError):
    """A reading of rows that was stopped when its time was over, which tells of the rows."""
