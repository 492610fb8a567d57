"""What every counter over steps can say of itself: a public strategy, with its noise left open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from entwined.canonical import Document

State = TypeVar("State")
Draw: TypeAlias = Callable[[int, int], Sequence[int]]
"""So many draws of the noise of a level."""
Kept: TypeAlias = Any
"""What has to be remembered of a step, as JSON; nothing, where a later step remembers all."""


class NoiseShare(NamedTuple):
    """So many draws of the noise of a level, each with this weight, in the answer of a step."""

    level: int
    weight: float
    copies: int


@dataclass(frozen=True, slots=True)
class Advanced:
    """Where a counter is after some steps, with their answers and what must be remembered of each."""

    state: Any
    answers: tuple[int, ...]
    kept: tuple[Kept, ...]


class StepCounter(Protocol):
    """A public strategy that answers at every step.

    Answer t is the number asked for plus B_t z, where z are independent draws and, for a strategy matrix A, B A x is
    that number for every series x of steps. What is shown up to any step can be made of A x + z. If one step changes
    by d, A x moves by d times a column of A, so the loss is that of noise on such a column: `share` of it at each
    level in pure loss, `stretch` times as much as noise on the step itself in ρ.

    The same holds if later steps depend on answers that came before. Let step s have two values that may depend on
    the answers before s. Moving z by d times column s of A leaves the answers before s as they are, because B A is
    lower triangular, and turns the later ones into those of the other value, whatever comes in later. So outputs
    with the one value and with the other are matched by a shift of z, and its cost is the loss.
    """

    kind: ClassVar[str]

    @property
    def horizon(self) -> int | None:
        """How many steps there are at most; without end, if none is given."""

    @property
    def document(self) -> Document:
        """The strategy as JSON."""

    @property
    def stretch(self) -> int:
        """By how much the change of a step, or its square where ρ is charged, grows before noise is added."""

    def share(self, level: int) -> Fraction:
        """The part of the loss that is spent at a level; all of them add up to 1 at most."""

    def shares(self, step: int) -> tuple[NoiseShare, ...]:
        """Which draws are in the answer of a step, the first being 1."""

    def mean_copies(self) -> tuple[tuple[int, float], ...]:
        """How many draws of each level are in an answer on average over all steps, each by its squared weight."""

    @property
    def words(self) -> str:
        """The strategy in words, without its noise."""

    def begin(self) -> Any:
        """Where it is before the first step."""

    def advance(self, state: Any, exact: Sequence[int], draw: Draw) -> Advanced:
        """Answer the next steps."""

    def restored(self, kept: Sequence[Kept]) -> Any:
        """Where it is after steps of which this was remembered."""
