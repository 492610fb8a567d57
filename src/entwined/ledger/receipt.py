"""What a request gets once it is charged."""

from dataclasses import dataclass

from entwined.ledger.entry import Mark
from entwined.promise.price import Price


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a request is charged: either its stored answer, or the right to draw one.

    `mark` is the entry of the charge, for a stored answer that of the charge it was drawn under. `price` is
    what everything amounted to when the charge was made.
    """

    mark: Mark
    run: int
    request: str
    price: Price
    answer: bytes | None = None

    @property
    def position(self) -> int:
        """The position of the charge."""
        return self.mark.position
