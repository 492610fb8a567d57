"""How often series go from each state to each: noisy transition counts, to learn a chain from with a budget."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import losses, worst_change
from entwined.noise import Additive
from entwined.numbers import Amount, IntArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import MovesOf, Sensitivity, Statistic, everything
from entwined.schema import Ordered, Schema

MOST_STATES: Final = 1_000
MOVED: Final = Sensitivity(Fraction(2), Fraction(4))


@dataclass(frozen=True, slots=True)
class TransitionCounts:
    """Count moves from a step to the next of all series, by the two states, with noise on every number.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, whatever happens to one row.

    Proof. A step of a series counts where it has one row, and is then in two moves at most: into it and out of it. A
    row that enters a step, or leaves it, makes it count, or no longer count, or leaves it as it is with its moves: 2 in
    L1. Replacing a row by any other is leaving and entering: 4 in L1. Squared that is at most 4 and 16.
    """

    kind: ClassVar[str] = "transition counts"
    by: str
    order: str
    state: str
    loss: Fraction
    noise: Additive

    @classmethod
    def of(cls, promise: Promise, by: str, order: str, state: str, loss: Amount) -> Self:
        """Settle the noise under a promise; the loss is in its measure."""
        exact, schema = positive_fraction(loss, "Loss"), promise.schema
        if schema.unit.by_column or schema.unit.person is not None:
            raise BadQuery(
                f"The steps of a series are rows, and the schema protects {schema.unit.kind}. Protect rows to learn a "
                "chain from them."
            )
        if len({by, order, state}) < 3:  # noqa: PLR2004  (series, step and state)
            raise BadQuery(f"Series {by!r}, steps {order!r} and states {state!r} share a column. Name three.")
        schema.grouping(by)
        if not isinstance(schema.coded(order), Ordered):
            raise BadQuery(f"Column {order!r} has no order. Take an integer, a real number or a moment.")
        if schema.coded(state).size > MOST_STATES:
            raise BadQuery(
                f"Column {state!r} has {schema.coded(state).size:,} states; {MOST_STATES:,} are the most. Take bands."
            )
        worst = worst_change(promise, _statistic(schema, by, order, state))
        return cls(by, order, state, exact, promise.measure.added(exact, worst))

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "by": self.by,
            "order": self.order,
            "state": self.state,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the noise again."""
        by, order, state = (document[key] for key in ("by", "order", "state"))
        return cls.of(promise, by, order, state, fraction_from(document["loss"]))

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows; refuse another promise's noise."""
        if TransitionCounts.of(promise, self.by, self.order, self.state, self.loss) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Settle it again.")
        statistic = _statistic(promise.schema, self.by, self.order, self.state)
        return losses(promise, [(statistic, Fraction(1))], self.loss)

    def needs(self, schema: Schema) -> tuple[MovesOf, ...]:
        """One table of moves."""
        return (_moves(schema, self.by, self.order, self.state),)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Count and add noise."""
        (exact,) = read(self.needs(schema))
        return canonical(self.noise.add(exact).tolist()).encode()

    def output(self, drawn: bytes) -> IntArray:
        """One row a state, one column the state after it."""
        numbers = np.array(json.loads(drawn), dtype=np.int64)
        states = round(len(numbers) ** 0.5)
        return numbers.reshape(states, states)


def _moves(schema: Schema, by: str, order: str, state: str) -> MovesOf:
    return MovesOf(by, order, state, schema.coded(order).levels, schema.coded(state).size, everything())


def _statistic(schema: Schema, by: str, order: str, state: str) -> Statistic:
    return Statistic(_moves(schema, by, order, state), MOVED, agrees=False)
