"""Panels: many series over the same public steps, where what is asked about one step is charged to that step alone.

In a panel the values of the `order` column are the steps of the chain: the first value is its first step, for every
series. Unit t of a series is what its row at step t holds, or that it has none there. Who a row is about and its step
are public, and every step is kept (the chain is as long as the column has values), one row of each series a step.

Why the loss of a step is that of its own rows. Replacing what a series holds at step t replaces one kept row by another
with the same step, adds one or takes one away. A charge on rows of other steps does not see it. So ε_t is the most that
charges amount to at a pair of rows of step t, one of which may be no row at all; charges whose condition fixes another
step are not in it, and one over several steps is in each of them. That is a base loss for each unit, and theorems about
the chain take it as it is: the leakage of one count a month then settles, where the losses of a person add up for ever.

Why series may have gaps, begin late and end early. The chain runs over all steps, whether or not a series has rows
there. A step without a row shows nothing, which is less than its loss says, and all bounds increase with the losses.
Missing is a state like any other; where the model leaves it out, it has to be believed that presence says nothing.

With a δ. A statistic whose condition fixes one step reads one unit of a series, with noise of its own, so a batch of
them is separable. Where one reads several steps that is not said, and bounds for any Gaussian noise are asked.

Where the schema protects persons, a series is a person, and there are two secrets. All that a person's rows hold
together: replacing it replaces what is held at each step, one step after another, so that costs at most the sum of the
losses of all steps (of Gaussian noise that reads several of them, shifts add). No chain makes it less: what two courses
differ in is everything that is shown of them. And what a person's row at one step holds, to somebody who knows the
chain and perhaps other steps: that is what leaks under the chain, as above. Both are promised, each as a model of its
own with its own figure, and the cap is on the larger one, which is the first. One row of a person a step is used, and a
person may have one at every step: with fewer, a row at one step could push that of another out, and the loss of a step
would not be that of its own rows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self, TypeAlias

from entwined.bounds import Exposure
from entwined.dependence import Dependence
from entwined.errors import BadModel, LedgerDamaged, Refused
from entwined.promise.measure import Measure, measure_of
from entwined.promise.part import Part
from entwined.promise.places import place_of
from entwined.queries import Layers, Predicate
from entwined.queries.predicate import codes_in
from entwined.schema import Coded, Person
from entwined.schema.columns import column_from

NOTHING: Final = Fraction(0)
Charged: TypeAlias = tuple[Predicate, Fraction, Fraction]


def check_panel(title: str, model: Dependence, order: Coded) -> None:
    """Refuse a chain whose steps are not the values of the column that orders them."""
    if model.units != order.levels:
        raise BadModel(
            f"The model {title!r} has {model.units} steps, and column {order.name!r} has {order.levels} values: in a "
            "panel each of them is a step. Give the chain that length, or declare the column in longer steps (of "
            'moments step = "month"). Later steps cost nothing until something is released about them.'
        )


def check_panel_of_persons(title: str, by: str, order: Coded, person: Person) -> None:
    """Refuse a panel whose series are not the persons that are protected, or who cannot have a row at every step."""
    if by != person.column:
        raise Refused(
            f"The model {title!r} is over a panel by {by!r}, and the schema protects {person.name}s by "
            f"{person.column!r}, who may have rows in several of its series and at several steps: a step is then no "
            f"part of one {person.name}. Name the panel by {person.column!r}, or protect rows."
        )
    if person.most < order.levels:
        raise Refused(
            f"The model {title!r} is over a panel of {order.levels:,} steps, and of a {person.name} at most "
            f"{person.most:,} rows are used: which steps they are of would depend on all of them. Declare most = "
            f"{order.levels} in the schema's unit, one row a step, or longer steps."
        )


@dataclass(frozen=True, slots=True)
class StepLosses:
    """What all charges amount to at each step of a panel; `apart` where each of them reads one step alone."""

    each: tuple[Fraction, ...]
    apart: bool

    @classmethod
    def of(cls, parts: Iterable[Part], order: Coded) -> Self:
        """Lay charges over the steps; steps that no condition tells apart are worked out once."""
        charges = [(place_of(part.key).where, part.one, part.both) for part in parts]
        cuts = _cuts([where for where, _, _ in charges], order)
        laid: list[list[Charged]] = [[] for _ in cuts[1:]]
        apart = True
        for where, one, both in charges:
            touched = list(_touched(where, order, cuts))
            apart &= sum(cuts[at + 1] - cuts[at] for at in touched) <= 1
            for at in touched:
                inside = ((cuts[at], cuts[at + 1] - 1),)
                here = where if len(touched) == 1 else where & codes_in(order.name, order.size, inside)
                laid[at].append((here, one, both))
        found = [Layers.of(some).at_two(absent=True).value if some else NOTHING for some in laid]
        steps = [loss for at, loss in enumerate(found) for _ in range(cuts[at], cuts[at + 1])]
        return cls(tuple(steps), apart)

    def times(self, factor: Fraction) -> "StepLosses":
        """So many times as much at every step."""
        return StepLosses(tuple(loss * factor for loss in self.each), self.apart)

    def exposure(self, measure: Measure) -> Exposure:
        """What is shown of each step, before dependence."""
        return measure.exposure(self.each, len(self.each), {} if self.apart else None)

    def in_all(self, measure: Measure) -> Fraction:
        """The loss of all steps of a series together: what counting by persons, without the chain, comes to.

        Of Gaussian noise that reads several steps, shifts add: (Σ √ρ)² is at most Σ ρ times how many there are.
        """
        total = sum(self.each, NOTHING)
        if measure.is_pure or self.apart:
            return total
        return total * sum(loss > 0 for loss in self.each)


def steps_read(where: Predicate, order: Coded) -> int:
    """Count the steps at which a series can have a row inside a condition."""
    ranges = where.codes(order.name, order.size)
    return sum(max(min(high, order.levels - 1) - low + 1, 0) for low, high in ranges)


def series_in_all(terms: Mapping[str, Any], parts: Iterable[Part]) -> Fraction | None:
    """The ε of it by the terms of a ledger as they are written; nothing without a panel of rows."""
    if "column" in terms["schema"]["unit"]:  # of persons it is in the price
        return None
    order = next((one["order"] for one in terms.get("models", ()) if one.get("panel")), None)
    if order is None or "reserve" in terms:  # of a reserve it is said what is left
        return None
    column = column_from(next(one for one in terms["schema"]["columns"] if one["name"] == order))
    if not isinstance(column, Coded):
        raise LedgerDamaged(f"The steps of the ledger's panel are {order!r}, which has no codes. Restore it.")
    measure = measure_of(terms.get("delta"))
    return measure.epsilon(StepLosses.of(parts, column).in_all(measure))


def _cuts(conditions: Sequence[Predicate], order: Coded) -> list[int]:
    """Where steps begin that some condition tells apart from the one before, and the end."""
    ends = {
        end
        for where in conditions
        for node in where.diagram.nodes
        if node.column == order.name
        for end in node.ends
    }
    return sorted({0, order.levels} | {end for end in ends if end < order.levels})


def _touched(where: Predicate, order: Coded, cuts: Sequence[int]) -> Iterable[int]:
    """Which runs of steps rows inside a condition can have."""
    for low, high in where.codes(order.name, order.size):
        last = min(high, order.levels - 1)
        yield from range(bisect_left(cuts, low), bisect_left(cuts, last + 1) if low <= last else 0)
