"""Each step answered by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from entwined.canonical import Document
from entwined.mechanisms.streams.counter import Advanced, Draw, Kept, NoiseShare


@dataclass(frozen=True, slots=True)
class EachStep:
    """An answer about each step alone: a step enters one answer, so it is charged once however long it goes on."""

    horizon: int | None = None
    kind: ClassVar[str] = "each"

    @property
    def document(self) -> Document:
        """The strategy as JSON."""
        return {"kind": self.kind, "horizon": self.horizon}

    @property
    def stretch(self) -> int:
        """A step enters as it is."""
        return 1

    def share(self, level: int) -> Fraction:
        """All of it in the one answer."""
        return Fraction(level == 0)

    def shares(self, step: int) -> tuple[NoiseShare, ...]:  # noqa: ARG002  (all steps are alike)
        """One draw."""
        return (NoiseShare(0, 1.0, 1),)

    def mean_copies(self) -> tuple[tuple[int, float], ...]:
        """One draw in every answer."""
        return ((0, 1.0),)

    @property
    def words(self) -> str:
        """The strategy in words."""
        return "one draw a step"

    def begin(self) -> None:
        """It remembers nothing."""

    def advance(self, state: None, exact: Sequence[int], draw: Draw) -> Advanced:
        """Add a draw to each step."""
        answers = tuple(one + noise for one, noise in zip(exact, draw(0, len(exact)), strict=True))
        return Advanced(state, answers, (None,) * len(exact))

    def restored(self, kept: Sequence[Kept]) -> None:
        """It remembers nothing."""
