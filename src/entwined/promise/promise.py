"""From what was charged to what it amounts to: the nominal ε, and the leakage under every declared model.

A charge on rows says how far the rows inside a condition can move an answer. The nominal ε is the most that all
charges together amount to at one row (add or remove) or at a pair of rows (replace); conditions that no row can meet
together are never added. Dependence turns the loss of replacing one unit into leakage. A unit that may be absent is
replaced by nothing too. For cells the same is done for each column on its own: a column's loss is what changing its
cell in one row amounts to. The rows themselves are taken to be independent of each other.

Under a δ a total is a valid price however releases were chosen where one number is capped: the loss of every row, of
every cell, or of all cells of a group together. A model over cells weighs their losses against each other, and so does
one over the steps of a panel; which of them were asked about may depend on what was seen, and a profile is an average
over all that might have been seen. So such a promise is for one batch, whose losses are all fixed before anything is
seen: the ledger refuses a second one. With a `reserve`, which is fixed and priced before, it is for as many as fit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias

from entwined.bounds import Bound, ConcentratedLoss, Curve, Exposure, Hint, Knowledge
from entwined.canonical import Document, canonical, sha256
from entwined.dependence import Dependence, Forms
from entwined.dependence.model_check import failures
from entwined.errors import BadModel
from entwined.numbers import Amount
from entwined.promise.alone import SingleNumbers
from entwined.promise.amounts import Amounts
from entwined.promise.base_loss import BaseLoss
from entwined.promise.contradictions import refuse_contradictions
from entwined.promise.declared import Declared
from entwined.promise.differences import differences
from entwined.promise.filled import filled_exposure
from entwined.promise.gates import Gates
from entwined.promise.judge import Judge
from entwined.promise.measure import PURE, Measure, measure_of
from entwined.promise.own_loss import own_loss
from entwined.promise.panel import steps_read
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.reserve import TRUSTED as RESERVED
from entwined.promise.reserve import Reserve, lowered
from entwined.promise.ruled_out import ruled_out
from entwined.promise.secrets import KeptSecrets
from entwined.promise.terms import carried, is_for_one_batch
from entwined.promise.trusted import ids_compared, known, trusted
from entwined.promise.whole_persons import require_whole_persons, with_whole_persons
from entwined.promise.worked_out import bits_charged, charged_together
from entwined.queries import Reach, Statistic
from entwined.schema import Coded, Rows, Schema
from entwined.showing import Tabled

NOTHING: Final = Fraction(0)


@dataclass(frozen=True, eq=False, repr=False)
class Promise(Tabled):
    """What a ledger asks for prices; it depends on the schema and the declared models alone."""

    schema: Schema
    declared: tuple[Declared, ...] = ()
    knowledge: Knowledge = "any"
    measure: Measure = PURE
    secrets: KeptSecrets | None = None
    reserve: Reserve | None = None

    def __post_init__(self) -> None:
        if self.knowledge not in ("any", "model"):
            raise BadModel(
                f"Knowledge {self.knowledge!r:.60} is none that a release is made for. Use 'any', or 'model' for an "
                "adversary who knows the law alone: what may be known of a cell cannot be kept to exact values."
            )
        for one in self.declared:
            one.check(self.schema, pure=self.measure.is_pure)
        if self.secrets is not None:
            self.secrets.check(self.schema, models=bool(self.declared), pure=self.measure.is_pure)
        refuse_contradictions(self.declared, self.schema)
        require_whole_persons(self.declared, self.schema)
        if len([one for one in self.declared if one.by]) > 1:
            raise BadModel(
                "Two models pick rows by a column, and one picking would undo the promise of the other. "
                "Give `by` to one of them."
            )
        if self.reserve is not None:
            self.reserve.check(self.schema, self.declared, for_one_batch=self.bare.is_for_one_batch)

    @classmethod
    def of(
        cls,
        schema: Schema,
        dependence: "Dependences" = (),
        knowledge: Knowledge = "any",
        measure: Measure = PURE,
        secrets: KeptSecrets | None = None,
        reserve: Reserve | None = None,
    ) -> "Promise":
        """Make the promise of a schema and models, bare or declared; pure loss unless said otherwise."""
        given = (dependence,) if isinstance(dependence, Declared | Dependence) else dependence
        declared = tuple(one if isinstance(one, Declared) else Declared(one) for one in given)
        return cls(schema, with_whole_persons(declared, schema), knowledge, measure, secrets, reserve)

    @cached_property
    def identity(self) -> str:
        """A digest of everything that prices depend on."""
        return sha256(canonical(self.document))

    @cached_property
    def document(self) -> Document:
        """Everything that prices depend on."""
        return {
            "schema": self.schema.document,
            "models": [one.document for one in self.declared],
            "knowledge": self.knowledge,
            **self.measure.document,
            **({} if self.secrets is None else {"secrets": self.secrets.document}),
            **({} if self.reserve is None else {"reserve": self.reserve.document}),
        }

    def differences(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Say in words what another promise's document has otherwise."""
        return differences(document, self.document)

    def carried(self, document: Mapping[str, Any], totals: Mapping[str, Part]) -> dict[str, Part]:
        """Give what was spent under another promise as losses under this one, or refuse; never less."""
        return carried(document, self.document, totals)

    @property
    def protects_individuals(self) -> bool:
        """Whether anything is promised about single units."""
        return self.secrets is None or self.secrets.individuals

    @property
    def is_for_one_batch(self) -> bool:
        """Whether all losses have to be fixed before anything is seen."""
        return is_for_one_batch(self.document)

    @cached_property
    def judges(self) -> dict[str, tuple[Declared, Judge]]:
        """The models by name; a name that is taken is numbered."""
        named: dict[str, tuple[Declared, Judge]] = {}
        for one in self.declared:
            turn, name = 2, one.title
            while name in named:
                turn, name = turn + 1, f"{one.title} {turn}"
            named[name] = one, Judge(one.model, self.knowledge, one.trusting)
        return named

    @cached_property
    def gates(self) -> tuple[Gates, ...]:
        """Where models of forms allow questions to be read."""
        return tuple(
            Gates(one.model, self.schema, one.missing_says_nothing)
            for one in self.declared
            if isinstance(one.model, Forms)
        )

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed about how units lie in the table, each sentence once."""
        person = self.schema.unit.id_column
        said = [*known(self.schema), *(() if person is None else ids_compared(self.schema, person))]
        said += (line for one in self.declared for line in trusted(one, self.schema, self.knowledge))
        said += filter(None, (ruled_out(one, self.schema) for one in self.declared))
        said += () if self.secrets is None else self.secrets.trusted
        said += () if self.reserve is None else (RESERVED,)
        return tuple(dict.fromkeys(said))

    @property
    def failures(self) -> tuple[str, ...]:
        """Say which models failed their check on public data and are covered by no other one declared."""
        return failures(
            [
                (one.title, one.model.learned_from, one.model.check)
                for one in self.declared
                if one.model.check is not None
            ]
        )

    @property
    def kept(self) -> Declared | None:
        """The model whose groups the engine has to keep small, if there is one."""
        return next((one for one in self.declared if one.by), None)

    def price(self, totals: Mapping[str, Part]) -> Price:
        """Price all that has been spent, by part key; nothing, where individuals are not protected.

        With a reserve it is all that is reserved, whatever was spent of it.
        """
        if not self.protects_individuals:
            return Price(NOTHING)
        if self.reserve is not None:
            return self._reserved if totals else Price(NOTHING)
        base = self._amounts.of_totals(totals)
        own = own_loss(base, self.declared, self.schema, self.measure)
        return Price(self.nominal(base), self.leakages(base)).at_least(own)

    def nominal(self, base: BaseLoss) -> Fraction:
        """Give the ε of a loss at one unit alone."""
        return self.bare.measure.alone(base.nominal, base.bits.values())

    def alone(self, parts: Iterable[Part]) -> Price:
        """Price charges as if they were all that is ever asked."""
        charged = {part.key: part for part in parts}
        if self.reserve is None:
            return self.price(charged)
        own = self.reserve.batch(self.schema, self.steps, charged.values())
        return self.bare.price({part.key: part for part in own})

    @cached_property
    def _reserved(self) -> Price:
        return self.bare.price({part.key: part for part in self._batch})

    @cached_property
    def _batch(self) -> tuple[Part, ...]:
        """What everything asked within the reserve can be made of."""
        return () if self.reserve is None else self.reserve.batch(self.schema, self.steps)

    @cached_property
    def bare(self) -> "Promise":
        """The promise of one batch that a reserve is priced by; without a reserve, this one."""
        return self if self.reserve is None else replace(self, reserve=None, measure=lowered(self.measure))

    @property
    def steps(self) -> Coded | None:
        """The column whose values are the steps of a panel, if there is one."""
        panel = self.kept
        if panel is None or not panel.panel or panel.order is None:
            return None
        return self.schema.coded(panel.order)

    def moves(self, statistic: Statistic) -> tuple[Reach, ...]:
        """Say how far a statistic moves, part by part, or what it takes of a reserve."""
        if self.reserve is not None:
            return self.reserve.moves(statistic, self.schema, self.steps)
        return self.measure.parts(statistic, self._by_row if self.is_of_persons else self.schema)

    def rows_moved(self, reach: Reach) -> Fraction:
        """Say how many times what is charged of one row falls on a unit: in a panel of persons, once a step."""
        order = self.steps
        if order is None or not self.is_of_persons:
            return Fraction(1)
        return self.measure.weighed(Fraction(max(steps_read(reach.where, order), 1)))

    @property
    def is_of_persons(self) -> bool:
        """Whether each series of a panel is a person that is protected as a whole."""
        return self.steps is not None and self.schema.unit.person is not None

    @cached_property
    def _by_row(self) -> Schema:
        """The schema by which a row is charged where a person's rows are charged step by step."""
        return replace(self.schema, unit=Rows(), rows=None, approved_digest="", signature=None)

    def outside(self, totals: Mapping[str, Part]) -> str | None:
        """Say how totals leave the reserve, where there is one and they do."""
        return None if self.reserve is None else self.reserve.outside(totals.values(), self.steps)

    def certified(self, parts: Iterable[Part]) -> BaseLoss:
        """Give the loss that a certificate is about: of a batch, or of all that is reserved."""
        charged = tuple(parts)
        return self.base(charged) if self.reserve is None else self.bare.base(self._batch)

    def leakages(self, base: BaseLoss) -> dict[str, Fraction | float]:
        """Give what a loss leaks under each model; of concentrated loss the ε at δ."""
        return {name: bound.leakage.worst for name, bound in self.bounds(base).items()}

    def by_losses(self, base: BaseLoss) -> dict[str, float]:
        """Give what a loss leaks under each model whatever was released with it, a single number or anything else."""
        return {
            name: judge.bound(self.exposure(one, base)).leakage.worst
            for name, (one, judge) in self.judges.items()
            if base.replace
        }

    def bounds(self, base: BaseLoss) -> dict[str, Bound[Exposure]]:
        """Bound what a loss leaks under each model."""
        return {
            name: self._bound(one, judge, base) for name, (one, judge) in self.judges.items() if base.replace
        }

    def _bound(self, one: Declared, judge: Judge, base: BaseLoss) -> Bound[Exposure]:
        found = judge.bound(self.exposure(one, base))
        return found if base.number is None else self.single_numbers.tighter(one, judge, base.number, found)

    def shown(self, one: Declared, judge: Judge, base: BaseLoss) -> Exposure:
        """Say from what the least is proved of a loss under a model: all that was charged, or the one number it is."""
        return self.exposure(one, base) if base.number is None else self._bound(one, judge, base).exposure

    @cached_property
    def single_numbers(self) -> SingleNumbers:
        """What a single number costs that is all that was ever released."""
        pure = self.measure.is_pure and self.secrets is None
        return SingleNumbers(self.schema, self.knowledge, pure, self.kept)

    def curves(self, base: BaseLoss, cap: float | None = None) -> dict[str, Curve]:
        """Bound what a loss leaks under each model if its dependence is stronger, and up to where a cap holds."""
        return {
            name: judge.curve(self.shown(one, judge, base), cap)
            for name, (one, judge) in self.judges.items()
            if base.replace
        }

    def hints(self, base: BaseLoss) -> dict[str, tuple[Hint, ...]]:
        """Say under each model what further knowledge would lower what a loss leaks."""
        return {
            name: judge.hints(self.shown(one, judge, base))
            for name, (one, judge) in self.judges.items()
            if base.replace
        }

    def exposure(self, one: Declared, base: BaseLoss) -> Exposure:
        """Say what a loss shows of the units of a model, before dependence."""
        if self.reserve is not None:
            return self.bare.exposure(one, base)
        if one.by_distance(self.schema):
            return one.along(base.along[one.columns], base.replace, self.schema, self.measure)
        if one.panel and base.steps is not None:
            return base.steps.exposure(self.measure)
        by_cell = self.measure.is_pure or self.is_for_one_batch or base.separable
        if not (self.schema.unit.by_column and by_cell):
            series = base.apart and one.model.until(1) is not None
            return self.measure.exposure((base.replace,), one.model.units, {} if series else None)
        names = one.variables(self.schema)
        columns, together = charged_together(base.columns, base.shared, one.worked_out)
        unknown = sorted(columns.keys() - set(names))
        if unknown:
            raise BadModel(
                f"Column {unknown[0]!r} is read, and the model {one.title!r} says nothing of it. Add it to "
                "the model, as an independent variable if it is one, or do not ask about it."
            )
        losses = tuple(columns.get(name, NOTHING) for name in names)
        shared = {tuple(map(names.index, read)): each for read, each in (together or {}).items()}
        exposed = self.measure.exposure(losses, len(losses), None if together is None else shared)
        if base.bits and isinstance(exposed, ConcentratedLoss):
            return exposed.drawn(bits_charged(base.bits, one.worked_out, names))
        return filled_exposure(exposed, one.model, base.filling) if base.filling else exposed

    def base(self, parts: Iterable[Part]) -> BaseLoss:
        """Find the most that charges amount to at one unit; refuse what a model of forms does not cover."""
        charged = tuple(parts)
        if self.reserve is not None:
            return self.bare.base(self.reserve.batch(self.schema, self.steps, charged))
        return self._amounts.of(charged)

    @cached_property
    def _amounts(self) -> Amounts:
        rules = self.schema, self.declared, self.knowledge, self.measure, self.gates
        return Amounts(*rules, steps=self.steps, for_one_batch=self.is_for_one_batch)

    def distance_of(self, statistic: Statistic) -> str | None:
        """Name the column in proportion to whose distances a statistic moves, where a model speaks of these."""
        return next((name for name in self._amounts.distances if statistic.follows(name, self.schema)), None)

    def series_in_all(self, parts: Iterable[Part]) -> Fraction | None:
        """The ε of a whole series of a panel, as it is counted by persons without the chain; none without a panel."""
        if self.is_of_persons:  # it is in the price
            return None
        if self.reserve is not None:
            return self.bare.series_in_all(self._batch)
        found = self._amounts.on_steps(parts)
        return None if found is None else self.measure.epsilon(found.in_all(self.measure))

    def largest(self, parts: Iterable[Part], leakage: Fraction, close: float | None = None) -> Fraction:
        """Find the multiple of a batch's losses that leaks so much, under the model that allows least.

        `close` is the part of the leakage that may be left unused, where less than the usual will do.
        """
        base = self.base(parts)
        if not self.judges:
            return self.measure.largest(leakage) / base.nominal
        alone = self.measure.largest(leakage) / base.replace  # no model allows more
        shape = base.times(alone)
        as_given = min(float(1 / alone), 1.0)  # where losses were planned, hardly more needs to be tried
        found = []
        for one, judge in self.judges.values():
            most = judge.largest(self.exposure(one, shape), leakage, close, as_given)
            more = shape.number and self.single_numbers.larger(one, judge, shape.number, leakage, most)
            found.append(Fraction(more or most))
        return alone * min(found)


Dependences: TypeAlias = Iterable[Declared | Dependence] | Declared | Dependence
"""Models as people give them: bare or declared, one or several."""

_made_once = lru_cache(maxsize=64)(Promise.of)


def promise_of(
    schema: Schema,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    secrets: KeptSecrets | None = None,
    reserve: Mapping[str, Amount] | Reserve | None = None,
) -> Promise:
    """Make a promise, once for the same schema and models."""
    given = (dependence,) if isinstance(dependence, Declared | Dependence) else tuple(dependence)
    kept = None if reserve is None else Reserve.of(reserve)
    return _made_once(schema, given, knowledge, measure_of(delta), secrets, kept)
