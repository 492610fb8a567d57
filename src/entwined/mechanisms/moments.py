"""Noisy sums of columns and of their products: what a covariance is learned from with a budget."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.moment_sums import MomentSums
from entwined.noise import Additive
from entwined.noise.lattice import integers
from entwined.numbers import Amount, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Aggregate
from entwined.schema import Schema

MOST_COLUMNS: Final = 12
ONCE: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class NoisyMoments:
    """Sums of some columns and of their products two by two, each with noise of its own.

    Theorem. What `run` returns has, for each sum, the loss `loss` in the promise's measure on rows, and together what
    `parts` says. Proof. Each sum moves by no more than its statistic says, and its noise is settled for that; losses
    add.
    """

    kind: ClassVar[str] = "moments"
    sums: MomentSums
    loss: Fraction
    noises: tuple[Additive, ...]

    @classmethod
    def of(cls, promise: Promise, columns: Sequence[str], loss: Amount) -> Self:
        """Settle the noise under a promise; the loss of each sum is in its measure."""
        exact, schema = positive_fraction(loss, "Loss"), promise.schema
        if not 2 <= len(columns) <= MOST_COLUMNS or len(set(columns)) < len(columns):  # noqa: PLR2004  (a pair)
            raise BadQuery(f"A covariance of {len(columns)} columns. Give 2 to {MOST_COLUMNS}, each once.")
        if schema.rows is None:
            raise BadQuery("A covariance needs the public number of rows. Declare rows in the schema.")
        if schema.unit.by_column or schema.unit.person is not None:
            raise BadQuery(
                f"A covariance is learned of independent rows, and the schema protects {schema.unit.kind}. Protect "
                "rows."
            )
        sums = MomentSums(schema, tuple(columns))
        noises = (promise.measure.added(exact, worst_change(promise, one)) for one in sums.statistics)
        return cls(sums, exact, tuple(noises))

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "columns": list(self.sums.columns),
            "loss": fraction_text(self.loss),
            "noises": [one.document for one in self.noises],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the noise again; another one is refused."""
        made = cls.of(promise, document["columns"], fraction_from(document["loss"]))
        if made.document["noises"] != list(document["noises"]):
            raise BadQuery("The noise is not that which its loss needs. Settle it again.")
        return made

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows; refuse another promise's noise."""
        if NoisyMoments.of(promise, self.sums.columns, self.loss) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Settle it again.")
        return losses(promise, [(one, ONCE) for one in self.sums.statistics], self.loss)

    def needs(self, schema: Schema) -> Sequence[Aggregate]:  # noqa: ARG002  (it knows its schema)
        """One sum each."""
        return [one.aggregate for one in self.sums.statistics]

    def run(self, read: Read, schema: Schema) -> bytes:
        """Add noise to every sum."""
        exact = map(integers, read(self.needs(schema)))
        return canonical(
            [int(noise.add(one)[0]) for noise, one in zip(self.noises, exact, strict=True)]
        ).encode()

    def output(self, drawn: bytes) -> tuple[int, ...]:
        """The noisy sums, in their order."""
        return tuple(json.loads(drawn))

    @property
    def words(self) -> str:
        """What it computes."""
        return f"noisy sums and products of {', '.join(self.sums.columns)}, to learn a covariance from"
