"""What a model would be if more were known: smaller classes of laws, to be tried and named in words.

Every one of them is an example. Which law a first step has, how small the largest group is or how strong an edge, only
whoever declares the model can know; what is tried here shows how much knowing it would be worth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from entwined.dependence.model import Dependence

HALF: Final = 0.5
Tied_co = TypeVar("Tied_co", bound="Dependence", covariant=True)


@dataclass(frozen=True, slots=True)
class Narrower:
    """A smaller class of laws: what it is about in a word, what would be known, and the model then."""

    about: str
    knowing: str
    model: "Dependence"


@dataclass(frozen=True, slots=True)
class Tie(Generic[Tied_co]):
    """What ties a unit to others: its name, its log odds, and the model in which it is so many times as strong."""

    name: str
    log_odds: float
    times_as_strong: Callable[[float], Tied_co]

    @property
    def halved(self) -> Narrower:
        """Suppose that it is half as strong."""
        odds = f"{self.log_odds:.3g}, were at most {self.log_odds * HALF:.3g}"
        return Narrower("edge", f"the log odds {self.name}, now {odds}", self.times_as_strong(HALF))
