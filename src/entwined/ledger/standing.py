"""Where a ledger stands at one moment: what a certificate says of everything released so far."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.ledger.entry import Mark
from entwined.promise.price import Price
from entwined.promise.totals import Written


@dataclass(frozen=True, slots=True)
class Standing:
    """A ledger by its id, the end of its chain, and all that was charged up to there, as it is written."""

    ledger: str
    head: Mark
    cap: Fraction
    rows: tuple[Written, ...]
    price: Price
