"""A count or a total at every step: what it is, what it costs, and the noise of each level."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, Self, get_args

from entwined.canonical import Document, canonical, fraction_from, fraction_text, sha256
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.sheet import Sheet
from entwined.mechanisms.streams.counter import StepCounter
from entwined.mechanisms.streams.each_step import EachStep
from entwined.mechanisms.streams.running_tree import RunningTree
from entwined.mechanisms.streams.square_roots import SquareRoots
from entwined.noise import Additive
from entwined.numbers import Amount, positive_fraction
from entwined.promise.part import Part
from entwined.promise.places import key_apart, place_of
from entwined.promise.promise import Promise
from entwined.queries import Aggregate, Query, Statistic
from entwined.queries.documents import as_written, query_from, written
from entwined.schema import Ordered, Schema
from entwined.schema.raw import is_whole

Answering = Literal["running", "each"]
Late = Literal["refuse", "drop"]
ANSWERS: Final[tuple[Answering, ...]] = get_args(Answering)
FATES: Final[tuple[Late, ...]] = get_args(Late)
FOLLOWED: Final = "A stream is answered step by step. Follow it with `entwined stream`."
SHOWN_STEPS: Final = (1, 2, 5, 10, 30, 100, 365, 1000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Stream:
    """Answer at every step how much there was in it, or in all steps so far, with noise by a public strategy.

    Theorem. All answers together have the loss `loss`, in the promise's measure, whatever happens to one row; so have
    those up to any step, and later rows may depend on earlier answers.

    Proof. Which step a row is in is public: it is the number of its line, or stands in a public column. So replacing a
    row changes one step, by at most the change of the count or total. The rest is that of the strategy
    (`StepCounter`): in pure loss each level shows its share, and shares add up to 1 at most; in ρ the column of the
    strategy is as long as the noise was made for. What arrives for a step that was answered never enters.
    """

    kind: ClassVar[str] = "stream"
    fields: ClassVar[tuple[str, ...]] = ("total", "where", "answer", "horizon", "step", "late", "use_delta")
    query: Query
    answer: Answering
    step: str | None
    late: Late
    counter: StepCounter
    loss: Fraction
    noise: Additive
    change: Fraction

    @classmethod
    def of(  # noqa: PLR0913  (a stream is described by so many public choices)
        cls,
        promise: Promise,
        query: Query,
        loss: Amount,
        *,
        answer: Answering = "running",
        horizon: int | None = None,
        step: str | None = None,
        late: Late = "refuse",
    ) -> Self:
        """Settle strategy and noise under a promise; the loss is in its measure."""
        exact, schema = positive_fraction(loss, "Loss"), promise.schema
        asked = query.bound(schema)
        _check_words(answer, late, horizon)
        _check(promise, horizon, step)
        statistic = statistic_of(asked, schema)
        change = worst_change(promise, statistic)
        counter = _counter(promise, answer, horizon, statistic)
        noise = promise.measure.added(exact * counter.share(0), change * counter.stretch)
        return cls(asked, answer, step, late, counter, exact, noise, change)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        total, answer, horizon = given.get("total"), given.get("answer", "running"), given.get("horizon")
        step, late = given.get("step"), given.get("late", "refuse")
        _check_words(answer, late, horizon)
        _check_use(given.get("use_delta"), promise)
        about = {"query": "count"} if total is None else {"query": "total", "column": total}
        query = query_from(
            {**about, **({"where": given["where"]} if "where" in given else {})}, promise.schema
        )
        return lambda each: cls.of(promise, query, each, answer=answer, horizon=horizon, step=step, late=late)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "query": written(self.query),
            "answer": self.answer,
            "step": self.step,
            "late": self.late,
            "counter": self.counter.document,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle it again."""
        return cls.of(
            promise,
            as_written(document["query"]),
            fraction_from(document["loss"]),
            answer=document["answer"],
            horizon=document["counter"]["horizon"],
            step=document["step"],
            late=document["late"],
        )

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows once for all steps; refuse another promise's noise."""
        if Stream.from_document(self.document, promise) != self:
            raise BadQuery("The stream was settled under another promise than the door's. Settle it again.")
        charged = losses(promise, [(statistic_of(self.query, promise.schema), Fraction(1))], self.loss)
        if promise.measure.is_pure or not self._reads_one_step(promise):
            return charged
        apart = sha256(canonical(self.document))
        return tuple(
            Part(key_apart(place_of(part.key).where, apart), part.one, part.both) for part in charged
        )

    def _reads_one_step(self, promise: Promise) -> bool:
        """Whether every answer reads one step of each series alone: one line, or one row of a series a step."""
        return (
            self.answer == "each"
            and bool(promise.declared)
            and all(bool(one.by) if self.step is not None else not one.by for one in promise.declared)
        )

    def law(self, promise: Promise, level: int) -> Additive:
        """The noise of a level."""
        return promise.measure.added(
            self.loss * self.counter.share(level), self.change * self.counter.stretch
        )

    def variance(self, promise: Promise, step: int) -> float:
        """The variance of the answer of a step, in squared units of the answer's integers."""
        shares = self.counter.shares(step)
        return math.fsum(one.copies * one.weight**2 * self.law(promise, one.level).variance for one in shares)

    def mean_variance(self, promise: Promise) -> float:
        """The variance of an answer, averaged over all steps of the horizon."""
        return math.fsum(
            copies * self.law(promise, level).variance for level, copies in self.counter.mean_copies()
        )

    @property
    def strategy(self) -> str:
        """The counter and its noise in words."""
        return f"{self.noise.document['law']} noise through {self.counter.words}"

    def needs(self, schema: Schema) -> tuple[Aggregate, ...]:  # noqa: ARG002
        """It is not read at once."""
        raise Refused(FOLLOWED)

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002
        """It is not read at once."""
        raise Refused(FOLLOWED)

    def output(self, drawn: bytes) -> Document:  # noqa: ARG002
        """It is not read at once."""
        raise Refused(FOLLOWED)

    @property
    def words(self) -> str:
        """What it computes."""
        what = "running total" if self.answer == "running" else "each step"
        until = "without an end" if self.counter.horizon is None else f"for {self.counter.horizon:,} steps"
        return f"{self.query.words} at every step ({what}), {until}, with {self.strategy}"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How many draws of the first level's noise are in the answers of some steps."""
        last = self.counter.horizon or SHOWN_STEPS[-1]
        steps = [one for one in SHOWN_STEPS if one < last] + [last]
        lines = tuple(
            (one, sum(share.copies for share in self.counter.shares(one)), self.noise.words())
            for one in steps
        )
        return Sheet(("step", "draws", "noise of the first level"), lines, (FOLLOWED,))

    def shown(self, output: Document) -> Sheet:  # noqa: ARG002
        """It is not read at once."""
        raise Refused(FOLLOWED)


def statistic_of(query: Query, schema: Schema) -> Statistic:
    """The one integer of a step."""
    found = query.statistics(schema)
    if len(found) != 1 or found[0].aggregate.cells != 1 or found[0].selects:
        raise BadQuery(f"A {query.kind} is not one sum a step. Ask for a count or a total.")
    return found[0]


def _counter(promise: Promise, answer: Answering, horizon: int | None, statistic: Statistic) -> StepCounter:
    if answer == "each":
        return EachStep(horizon)
    if promise.measure.is_pure:
        return RunningTree.best(horizon)
    if horizon is None:
        raise Refused(
            "Running totals with Gaussian noise need a horizon: the square root of summing has an end. Give a horizon, "
            "or leave use_delta out: a tree goes on without an end."
        )
    largest = int(max(statistic.row.one, statistic.row.both)) * promise.schema.rows_at_most
    return SquareRoots(horizon, largest)


def _check_words(answer: str, late: str, horizon: int | None) -> None:
    """Refuse choices that there are not, from a file or from a certificate."""
    if answer not in ANSWERS or late not in FATES:
        raise BadQuery(
            f'answer = {answer!r:.40}, late = {late!r:.40}. Give answer = "running" or "each", late = "refuse" '
            'or "drop".'
        )
    if horizon is not None and not (is_whole(horizon) and horizon >= 1):
        raise BadQuery(f"horizon = {horizon!r:.60}. Give how many steps there are at most, or leave it out.")


def _check_use(use_delta: object, promise: Promise) -> None:
    """Refuse to use, or to spare, a δ against what was said of it."""
    if use_delta is not None and not isinstance(use_delta, bool):
        raise BadQuery(f"use_delta = {use_delta!r:.60}. Give true or false, or leave it out.")
    if use_delta is not None and use_delta == promise.measure.is_pure:
        asked = "true, and no delta is given" if use_delta else "false, and the noise would use δ"
        raise BadQuery(f"use_delta = {asked}. Give delta = 1e-6 with it, or leave it out.")


def _check(promise: Promise, horizon: int | None, step: str | None) -> None:
    """Refuse what would make the steps, or how long they go on, depend on what is protected."""
    schema = promise.schema
    if schema.unit.by_column or schema.unit.person is not None:
        raise Refused("A stream protects rows, and the schema protects something else. Give unit rows.")
    if schema.neighbours != "replace":
        raise Refused(
            "Whether a row is in a stream shows in when its steps end, so it cannot be protected. Declare neighbours "
            '= "replace".'
        )
    if step is not None and not (isinstance(schema.coded(step), Ordered) and schema.coded(step).public):
        raise Refused(
            f"The step of a row in column {step!r} decides what is late, so it has to be public and to have an order. "
            "Declare the column public if it is, or give one line a step."
        )
    for one in promise.declared:
        if not one.model.reaches(horizon):
            raise Refused(
                f"The series {one.title!r} has {one.model.units:,} steps, and the stream "
                f"{'no end' if horizon is None else f'{horizon:,}'}. Declare a longer chain, or one without an end "
                '(kind "endless_chain").'
            )
        if one.by and step is None:
            raise Refused(
                f"Of the rows that share a value of {one.by!r} only some count, as the model {one.title!r} says, and "
                "in a stream of one line a step none can be taken back. Give the step of a row in a column, and "
                "declare series by that column, or leave `by` out and vouch for it yourself."
            )
        if one.by and one.order != step:
            raise Refused(
                f"The series {one.title!r} are ordered by {one.order!r}, and the steps of the stream by {step!r}. "
                "Order both by the same column."
            )
