"""What is charged: exact base losses, part by part of the data. Losses on the same part add."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

from entwined.canonical import fraction_from, fraction_text
from entwined.errors import BadCharge, BadLoss

LONGEST_KEY: Final = 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The base loss of one part of the data: `one` for entering or leaving it, `both` for a change inside."""

    key: str
    one: Fraction
    both: Fraction

    def __post_init__(self) -> None:
        require_text("part key", self.key, LONGEST_KEY)
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


def add_up(into: dict[str, Part], parts: Iterable[Part]) -> dict[str, Part]:
    """Add losses to totals by part, in place."""
    for part in parts:
        into[part.key] = into[part.key] + part if part.key in into else part
    return into


def require_text(name: str, text: object, longest: int) -> None:
    """Refuse what some database would store otherwise than it was given."""
    if not isinstance(text, str) or not 0 < len(text) <= longest:
        raise BadCharge(f"The {name} is empty, too long or not a text. Give 1 to {longest} characters.")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadCharge(f"The {name} holds half a character. Give valid Unicode.")
    if "\0" in text:
        raise BadCharge(f"The {name} holds a NUL. Leave it out.")
