"""What noise is in a rule that is out: on what, by which law, and how strong."""

from typing import Final, NamedTuple

from entwined.noise import Additive

COEFFICIENT: Final = "each coefficient"


class AddedNoise(NamedTuple):
    """The law of one noise with its scale, and its standard deviation, both in units of what it is on."""

    on: str
    law: str
    deviation: float

    @classmethod
    def of(cls, on: str, noise: Additive, steps: float) -> "AddedNoise":
        """Tell of a noise in whole steps, so many of which are one unit."""
        law = noise.words(lambda scale: f"{float(scale) / steps:.4g}")
        return cls(on, law, noise.variance**0.5 / steps)

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        return f"Noise on {self.on}: {self.law}, standard deviation {self.deviation:.4g}."
