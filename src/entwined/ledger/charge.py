"""What one request will cost, and who says what everything spent amounts to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from entwined.canonical import canonical
from entwined.errors import BadCharge
from entwined.promise.part import Part, add_up, require_text
from entwined.promise.price import Price

LONGEST_ID: Final = 200


@dataclass(frozen=True, slots=True)
class Charge:
    """What one request will cost, known before any row is read.

    `request` names the request, so that a retry is not charged twice. `fingerprint` names the question:
    whoever asks it again gets the stored answer. `asked` says in words what that is, for people. Losses on the same
    part are added and parts are sorted. `unguarded` says where the table's rollback guard cannot be kept.

    >>> from fractions import Fraction
    >>> tenth = Fraction(1, 10)
    >>> Charge("r1", "q1", (Part("all", tenth, tenth), Part("all", tenth, tenth))).parts[0].one
    Fraction(1, 5)
    """

    request: str
    fingerprint: str
    parts: tuple[Part, ...]
    analyst: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    unguarded: str = ""

    def __post_init__(self) -> None:
        require_text("request id", self.request, LONGEST_ID)
        require_text("fingerprint", self.fingerprint, LONGEST_ID)
        if self.analyst:
            require_text("analyst", self.analyst, LONGEST_ID)
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


class Accountant(Protocol):
    """A pure function from the total loss of every part to a price; equal totals have equal prices."""

    @property
    def identity(self) -> str:
        """A digest of everything the price depends on: models, schema, neighbour relation."""
        ...

    @property
    def is_for_one_batch(self) -> bool:
        """Whether the price holds only if all losses were fixed before anything was seen."""
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

    def outside(self, totals: Mapping[str, Part]) -> str | None:
        """Say how totals leave what was reserved before anything was seen, where something was and they do."""
        ...
