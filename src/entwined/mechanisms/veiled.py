"""Counts, means and totals that keep secrets about whole columns: one noise for these and, if wanted, for rows."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.bounds.attributes.joint_noise import gaussian_of
from entwined.bounds.attributes.together import VeilNoise, curve, veil_from, veil_keeps, veil_of
from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.fitting import fitted_parts, losses, worst_change
from entwined.mechanisms.sheet import Sheet
from entwined.noise.lattice import integers
from entwined.numbers import Amount
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.promise.secrets import FIRST_LINE, KEPT_BY, KeptSecrets, but_for
from entwined.queries import Aggregate, Query, Statistic, everything
from entwined.queries.documents import as_written, written
from entwined.queries.plain import PlainSum
from entwined.schema import Schema

CONFIDENCE: Final = Fraction(95, 100)
CLOSE: Final = Fraction(1, 10**9)
FINE: Final = 10**9
ONCE: Final = Fraction(1)
MOST_ASKED: Final = 12


@dataclass(frozen=True, slots=True)
class VeiledAnswers:
    """Plain sums with noise, in whole numbers: Gaussian, a draw for each and one along all of them, or Laplace.

    Theorem. What `run` returns keeps every secret of the promise between the points or sets that it names, by its own ε
    and δ, under its class of laws. With a `loss` it has at most the losses of `parts` on rows; without, rows are not
    protected and one mark is charged, so that nothing follows.

    Proof. `bounds/attributes/together` gives variances that keep the secrets, and more independent noise keeps them
    too. Row losses are those of noise for `loss`, times V/W where the noise has variance W ≥ V instead of V:
    (V − 3)/(W − 3) ≤ V/W (`noise/dominated`). Laplace noise of scale W instead of V has V/W of its loss.
    """

    kind: ClassVar[str] = "veiled_answers"
    fields: ClassVar[tuple[str, ...]] = ()
    promise: Promise
    names: tuple[str, ...]
    queries: tuple[Query, ...]
    noise: VeilNoise
    loss: Fraction | None = None

    @classmethod
    def of(cls, promise: Promise, asked: Mapping[str, Query], loss: Fraction | None) -> Self:
        """Settle the noise under a promise; the loss on rows is in its measure."""
        secrets = _secrets(promise)
        if secrets.individuals != (loss is not None):
            raise BadQuery(
                "Individuals are protected if and only if there is a loss on rows. Give a leakage, or say that "
                "they are not."
            )
        queries = tuple(query.bound(promise.schema) for query in asked.values())
        if not 1 <= len(queries) <= MOST_ASKED:
            raise BadQuery(f"{len(queries)} answers that keep secrets together. Ask for 1 to {MOST_ASKED}.")
        sums = tuple(_plain(query, promise.schema) for query in queries)
        needed = veil_of(secrets.guards, sums)
        if loss is None:
            return cls(promise, tuple(asked), queries, needed)
        both = needed.at_least(_row_noises(promise, queries, loss))
        if not veil_keeps(secrets.guards, sums, both):
            raise Refused("Noise for rows and for secrets do not go together here. Ask with another leakage.")
        return cls(promise, tuple(asked), queries, both, loss)

    @classmethod
    def fitted(
        cls, promise: Promise, asked: Mapping[str, Query], leakage: Amount | None, loss: Amount | None
    ) -> Self:
        """Settle the noise for what rows may leak, or without either for rows that are not protected."""
        if leakage is None and loss is None:
            return cls.of(promise, asked, None)
        statistics = [_statistic(query.bound(promise.schema), promise.schema) for query in asked.values()]
        shared = [(one, ONCE) for one in statistics]
        each, _, _ = fitted_parts(promise, lambda one: losses(promise, shared, one), leakage, loss)
        return cls.of(promise, asked, each)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:  # noqa: ARG003
        """It is asked for by secrets beside questions."""
        raise BadQuery(
            "Answers that keep secrets are asked for by [[secret]] and [[query]], not by [[mechanism]]."
        )

    @property
    def sums(self) -> tuple[PlainSum, ...]:
        """What is added up for each answer."""
        return tuple(_plain(query, self.promise.schema) for query in self.queries)

    @property
    def document(self) -> Document:
        """The whole computation."""
        asked = [
            {"name": name, "query": written(query)}
            for name, query in zip(self.names, self.queries, strict=True)
        ]
        return {
            "kind": self.kind,
            KEPT_BY: [one.secret.title for one in _secrets(self.promise).guards],
            "asked": asked,
            "noise": self.noise.document,
            "loss": None if self.loss is None else fraction_text(self.loss),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the noise again; what was written may not be less."""
        asked = {one["name"]: as_written(one["query"]).bound(promise.schema) for one in document["asked"]}
        loss = None if document["loss"] is None else fraction_from(document["loss"])
        noise = veil_from(document["noise"])
        made = cls(promise, tuple(asked), tuple(asked.values()), noise, loss)
        made.require_kept()
        return made

    def require_kept(self) -> None:
        """Refuse noise that does not keep the secrets, whoever settled it, or that is not that of the rows' loss."""
        secrets = _secrets(self.promise)
        rows = () if self.loss is None else _row_noises(self.promise, self.queries, self.loss)
        enough = all(own >= row * (1 - CLOSE) for own, row in zip(self.noise.own, rows, strict=False))
        if secrets.individuals != (self.loss is not None) or not enough:
            raise BadQuery("The noise is not that which its loss on rows needs. Settle it again.")
        if len(self.noise.own) != len(self.queries) or not veil_keeps(secrets.guards, self.sums, self.noise):
            raise BadQuery("The noise does not keep the secrets of the promise. Settle it again.")

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows, or where they are not protected one mark; refuse another promise's noise."""
        if promise.identity != self.promise.identity:
            raise BadQuery("The noise was settled under another promise than the door's. Settle it again.")
        self.require_kept()
        if self.loss is None:
            return (Part(key_of(everything(), None), ONCE, ONCE),)
        rows = _row_noises(promise, self.queries, self.loss)
        shares = [
            Fraction(math.ceil(row / own * FINE), FINE) for row, own in zip(rows, self.noise.own, strict=True)
        ]
        return losses(promise, list(zip(self._statistics, shares, strict=True)), self.loss)

    @property
    def _statistics(self) -> tuple[Statistic, ...]:
        return tuple(_statistic(query, self.promise.schema) for query in self.queries)

    def needs(self, schema: Schema) -> Sequence[Aggregate]:  # noqa: ARG002  (it knows its schema)
        """One sum an answer."""
        return [one.aggregate for one in self._statistics]

    def run(self, read: Read, schema: Schema) -> bytes:
        """Read all sums at once and add their noise; none where none is needed."""
        common = gaussian_of(self.noise.along)
        along = 0 if common is None else int(common.add(np.zeros(1, np.int64))[0])
        steps = self.noise.direction or (0,) * len(self.queries)
        drawn = [
            [value + along * step for value in (exact if law is None else law.add(exact)).tolist()]
            for exact, law, step in zip(
                map(integers, read(self.needs(schema))), self.noise.laws, steps, strict=True
            )
        ]
        return canonical(drawn).encode()

    def output(self, drawn: bytes) -> tuple[object, ...]:
        """The answers, one after the other."""
        schema = self.promise.schema
        return tuple(
            query.answer(schema, [numbers])
            for query, numbers in zip(self.queries, json.loads(drawn), strict=True)
        )

    @property
    def words(self) -> str:
        """What it computes."""
        kept = " and ".join(one.secret.title for one in _secrets(self.promise).guards)
        return f"{len(self.queries)} answered together, so that nobody can tell: {kept}"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How far noise moves each answer."""
        lines = [(name, *spread) for name, spread in zip(self.names, self._spreads, strict=True)]
        return Sheet(("answer", "deviation of its noise", "95 % ±"), tuple(lines), self._notes)

    def shown(self, output: tuple[object, ...]) -> Sheet:
        """The answers with their intervals."""
        rows = [
            (name, float(value) if isinstance(value, Fraction | int) else str(value), *spread)
            for name, value, spread in zip(self.names, output, self._spreads, strict=True)
        ]
        return Sheet(("answer", "value", "deviation of its noise", "95 % ±"), tuple(rows), self._notes)

    @property
    def _spreads(self) -> list[tuple[float, float]]:
        """The deviation and the half-width of each answer's noise, in its own unit."""
        found = []
        for law, one in zip(self.noise.total_laws, self.sums, strict=True):
            wide = 0 if law is None else law.half_width(CONFIDENCE)
            deviation = 0.0 if law is None else math.sqrt(law.variance)
            found.append((deviation * float(one.unit), float(wide * one.unit)))
        return found

    @property
    def _notes(self) -> tuple[str, ...]:
        secrets = _secrets(self.promise)
        said = [] if secrets.individuals else [FIRST_LINE]
        if self.noise.is_none:
            why = "; ".join(dict.fromkeys(guard.free for guard in secrets.guards))
            said.append(f"No noise is needed: {why}.")
        for guard in secrets.guards:
            (even,) = curve(guard, self.sums, self.noise, [0.0])
            said.append(
                f"An observer cannot tell {guard.secret.words}. Their odds change by a factor of at most "
                f"{math.exp(float(guard.secret.epsilon)):.4g}{but_for(guard.secret.delta)}; who holds "
                f"both for equally likely and sees what was released guesses right with a chance of at most "
                f"{math.ceil(500 * (1 + even)) / 10:.1f} %, and no rule that decides by it says yes more often for one "
                f"than for the other by more than {math.ceil(1000 * even) / 10:.1f} points of a hundred."
            )
        return tuple(said)


def _secrets(promise: Promise) -> KeptSecrets:
    if promise.secrets is None:
        raise BadQuery("The promise has no secrets about whole columns. Ask as usual, or declare [[secret]].")
    return promise.secrets


def _plain(query: Query, schema: Schema) -> PlainSum:
    found = query.plain(schema)
    if found is None:
        raise Refused(
            f"A {query.kind} that is not one plain sum over all rows, while a secret is kept: nothing is proved "
            "about it. Ask "
            'for counts, for totals without a condition, or for means with count = "public".'
        )
    return found


def _statistic(query: Query, schema: Schema) -> Statistic:
    _plain(query, schema)
    (one,) = query.statistics(schema)
    return one


def _row_noises(promise: Promise, queries: Sequence[Query], loss: Fraction) -> list[Fraction]:
    """The variances of Gaussian noise, or the scales of Laplace noise, that have this loss on rows."""
    found = []
    for query in queries:
        worst = worst_change(promise, _statistic(query, promise.schema))
        scale = promise.measure.added(loss, worst).scale
        found.append(scale if promise.measure.is_pure else scale**2)
    return found
