"""What is spent: exact base losses per part of the data, and what they cost together."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Protocol, Self

from entwined.errors import BadCharge, BadLoss
from entwined.ledger.canonical import canonical, fraction_from, fraction_text

LONGEST_ID: Final = 200
LONGEST_KEY: Final = 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The base loss of one part of the data: `one` for entering or leaving it, `both` for a change inside."""

    key: str
    one: Fraction
    both: Fraction

    def __post_init__(self) -> None:
        _require_text("part key", self.key, LONGEST_KEY)
        for loss in (self.one, self.both):
            if not isinstance(loss, Fraction):
                raise BadLoss(f"The loss {loss!r} is a {type(loss).__name__}. Give an exact Fraction.")
            if loss < 0:
                raise BadLoss(f"The loss {loss} is negative. Give losses of at least 0.")
        if self.one == self.both == 0:
            raise BadLoss(
                f"The part {self.key[:80]!r} costs nothing. Leave it out, or give it a loss above 0."
            )

    def __add__(self, other: "Part") -> "Part":
        """Losses on the same part add, exactly."""
        if other.key != self.key:
            raise BadLoss("Losses on different parts do not add. Keep them apart; the accountant joins them.")
        return Part(self.key, self.one + other.one, self.both + other.both)

    @property
    def row(self) -> tuple[str, str, str]:
        """The part as it is written."""
        return self.key, fraction_text(self.one), fraction_text(self.both)

    @classmethod
    def from_row(cls, row: tuple[str, str, str]) -> Self:
        """Read a part as it was written."""
        return cls(row[0], fraction_from(row[1]), fraction_from(row[2]))


@dataclass(frozen=True, slots=True)
class Charge:
    """What one request will cost, known before any row is read.

    `request` names the request, so that a retry is not charged twice. `fingerprint` names the question:
    whoever asks it again gets the stored answer. Losses on the same part are added and parts are sorted.

    >>> tenth = Fraction(1, 10)
    >>> Charge("r1", "q1", (Part("all", tenth, tenth), Part("all", tenth, tenth))).parts[0].one
    Fraction(1, 5)
    """

    request: str
    fingerprint: str
    parts: tuple[Part, ...]
    analyst: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_text("request id", self.request, LONGEST_ID)
        _require_text("fingerprint", self.fingerprint, LONGEST_ID)
        if self.analyst:
            _require_text("analyst", self.analyst, LONGEST_ID)
        if not self.parts:
            raise BadCharge(f"Request {self.request} charges no part. Give at least one part with a loss.")
        try:
            canonical(self.document)
        except (TypeError, ValueError, RecursionError):
            raise BadCharge(
                f"Request {self.request} has a document that is not JSON. Use texts, numbers, lists, maps."
            ) from None
        merged = add_up({}, self.parts)
        object.__setattr__(self, "parts", tuple(merged[key] for key in sorted(merged)))


@dataclass(frozen=True, slots=True)
class Price:
    """What everything spent so far amounts to: the nominal ε, and the leakage under each dependence model."""

    nominal: Fraction
    leakage: Mapping[str, Fraction | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for amount in (self.nominal, *self.leakage.values()):
            if math.isnan(amount) or amount < 0:
                raise BadLoss(f"An accountant gave the price {amount}. A price is at least 0 and a number.")

    @property
    def worst(self) -> Fraction | float:
        """The number that the cap is on: the largest leakage, or the nominal ε where no model is declared."""
        return max(self.leakage.values()) if self.leakage else self.nominal

    @property
    def document(self) -> dict[str, Any]:
        """The price as JSON, exact fractions as text."""
        leakage = {
            name: fraction_text(amount) if isinstance(amount, Fraction) else float(amount)
            for name, amount in self.leakage.items()
        }
        return {"nominal": fraction_text(self.nominal), "leakage": leakage}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a price as it was written."""
        leakage = {
            name: fraction_from(amount) if isinstance(amount, str) else amount
            for name, amount in document["leakage"].items()
        }
        return cls(fraction_from(document["nominal"]), leakage)


class Accountant(Protocol):
    """A pure function from the total loss of every part to a price; equal totals have equal prices."""

    @property
    def identity(self) -> str:
        """A digest of everything the price depends on: models, schema, neighbour relation."""
        ...

    @property
    def document(self) -> Mapping[str, Any]:
        """Everything the price depends on, as JSON."""
        ...

    def differences(self, document: Mapping[str, Any]) -> Sequence[str]:
        """Say in words what another accountant's document has otherwise."""
        ...

    def carried(self, document: Mapping[str, Any], totals: Mapping[str, Part]) -> Mapping[str, Part]:
        """Give what was spent under another accountant as losses under this one, or refuse; never less."""
        ...

    def price(self, totals: Mapping[str, Part]) -> Price:
        """Price all that has been spent, by part key."""
        ...


def add_up(into: dict[str, Part], parts: Iterable[Part]) -> dict[str, Part]:
    """Add losses to totals by part, in place."""
    for part in parts:
        into[part.key] = into[part.key] + part if part.key in into else part
    return into


def _require_text(name: str, text: object, longest: int) -> None:
    """Refuse what some database would store otherwise than it was given."""
    if not isinstance(text, str) or not 0 < len(text) <= longest:
        raise BadCharge(f"The {name} is empty, too long or not a text. Give 1 to {longest} characters.")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadCharge(f"The {name} holds half a character. Give valid Unicode.")
    if "\0" in text:
        raise BadCharge(f"The {name} holds a NUL. Leave it out.")
