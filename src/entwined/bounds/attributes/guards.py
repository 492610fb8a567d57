"""What keeps a secret: all that is asked of one, whatever it is about and however it is kept."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol

from entwined.bounds.attributes.far_apart import FarApart
from entwined.canonical import Document
from entwined.numbers import FloatArray
from entwined.queries.plain import PlainSum


class AnswerBox(NamedTuple):
    """How far several answers move together: differences between `lows` and `highs`, and their own covariance.

    `own` is none where it is not counted. Beside that at most `shown` of the secret is shown by what is not moved, and
    with a chance of at most `missed` answers move further.
    """

    lows: list[float]
    highs: list[float]
    own: FloatArray | None
    shown: float = 0.0
    missed: Fraction = Fraction(0)


class KeptSecret(Protocol):
    """What is promised about a whole column."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def words(self) -> str:
        """What an observer must not be able to tell."""

    @property
    def column(self) -> str:
        """The protected column."""

    @property
    def rows(self) -> int:
        """The public number of rows."""

    @property
    def epsilon(self) -> Fraction:
        """How far odds may change."""

    @property
    def delta(self) -> Fraction:
        """But for this chance."""

    @property
    def reading(self) -> str:
        """How a set is read."""


class SecretGuard(Protocol):
    """A secret with all that is declared about it, and the noise that keeps it for given answers."""

    @property
    def secret(self) -> KeptSecret:
        """What is kept."""

    free: ClassVar[str]  # why no noise is needed, where none is

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed for the secret to be kept."""

    @property
    def document(self) -> Document:
        """The secret with its laws as JSON."""

    def least(self, asked: PlainSum) -> Fraction:
        """The variance of noise that keeps the secret for one answer; 0 if none is needed."""

    def slip(self, asked: PlainSum, epsilon: Fraction, variance: Fraction) -> float:
        """The δ at which one answer with this noise keeps ε."""

    def cases(self, asked: Sequence[PlainSum]) -> list[AnswerBox]:
        """How far several answers move together."""

    def combined(self, weights: Mapping[str, Fraction]) -> FarApart:
        """How far a weighted sum of columns moves where slopes show nothing; refuse where they might."""

    def spread(self, steps: Mapping[str, Fraction]) -> float:
        """How little columns vary in any direction given the secret, in squared steps; 0 where it is not said."""

    def __hash__(self) -> int:
        """What is worked out of it is remembered."""
