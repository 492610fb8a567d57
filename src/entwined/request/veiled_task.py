"""What a release that keeps secrets asks for, as one task: questions that leave together, or one mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.offered import Offered
from entwined.mechanisms.veiled import VeiledAnswers
from entwined.mechanisms.veiled_regression import VeiledRegression
from entwined.promise.promise import Promise
from entwined.promise.secrets import NOT_PROTECTED
from entwined.queries import Query
from entwined.request.tasks import Task

NAME = "answers"
KEEPING: Final[tuple[type[VeiledAnswers | VeiledRegression], ...]] = (VeiledAnswers, VeiledRegression)


@dataclass(frozen=True, slots=True)
class VeiledTask(Task):
    """What keeps the secrets of the promise, within a leakage of rows, or of rows that are not protected."""

    @classmethod
    def of(cls, asked: Mapping[str, Query], leakage: Fraction | None, loss: Fraction | None) -> Self:
        """Put named questions together."""
        return cls(NAME, VeiledAnswers, dict(asked), leakage, loss)

    def __post_init__(self) -> None:
        if self.leakage is not None and self.loss is not None:
            raise BadInput("Both a leakage and a loss are given. Keep one of them.")
        if self.kind not in KEEPING:
            raise BadInput(
                f"A {self.kind.kind} keeps no secrets about whole columns. Ask for counts, means and totals, or for "
                f"one {VeiledRegression.kind}."
            )

    @property
    def asked(self) -> Document:
        """What was asked of rows."""
        unprotected = self.leakage is None and self.loss is None
        return {"individuals": NOT_PROTECTED} if unprotected else super(VeiledTask, self).asked

    def settled(self, promise: Promise) -> Offered:
        """Work out the noise and what is charged; no row is read."""
        kind = next(one for one in KEEPING if one is self.kind)
        return kind.fitted(promise, self.given, self.leakage, self.loss)
