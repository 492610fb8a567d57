"""How often an attack guesses right, beside a naive one without a release and a control of people not in the table.

As Anonymeter does (Giomi et al. 2023): the naive attack is what anybody could say beforehand; the control attacks
somebody whose own record is left out of the table (a stranger's stands there instead), so that what it still finds was
said by others.
"""

from dataclasses import dataclass
from typing import Final, Self

from scipy.special import betainccinv, betaincinv

from entwined.canonical import Document
from entwined.numbers import FloatArray, IntArray

CONFIDENCE: Final = 0.95


def likely_range(hits: int, tries: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Give Clopper and Pearson's interval of a chance.

    >>> [round(end, 4) for end in likely_range(8, 10)]
    [0.4439, 0.9748]
    """
    missed = (1 - confidence) / 2
    low = float(betaincinv(hits, tries - hits + 1, missed)) if hits else 0.0
    high = float(betainccinv(hits + 1, tries - hits, missed)) if hits < tries else 1.0
    return low, high


@dataclass(frozen=True, slots=True)
class Guesses:
    """How many of so many guesses were right: without a release, with it, and with one that leaves the target out."""

    tries: int
    naive: int
    attack: int
    control: int

    @classmethod
    def of(cls, truth: IntArray, *beliefs: FloatArray) -> Self:
        """Guess the likeliest value of each row, naively, after a release, and after the control's."""
        return cls(truth.size, *(int((one.argmax(axis=1) == truth).sum()) for one in beliefs))

    @property
    def risk(self) -> float:
        """What a record adds to the guesses about its own person, of all that was left to guess."""
        held_back = self.tries - self.control
        return (self.attack - self.control) / held_back if held_back else 0.0

    @property
    def document(self) -> Document:
        """The shares, each with its interval."""
        named = {"naive": self.naive, "attack": self.attack, "control": self.control}
        shares: Document = {
            name: {"share": hits / self.tries, "interval": list(likely_range(hits, self.tries))}
            for name, hits in named.items()
        }
        return {"tries": self.tries, "confidence": CONFIDENCE, **shares, "risk_of_taking_part": self.risk}
