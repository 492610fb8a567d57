"""How much may be reserved for each column, so that all of it together leaks no more than is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from entwined.bounds import Knowledge
from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.fitting import fitted_parts
from entwined.numbers import Amount, positive_fraction
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.promise import Dependences, Promise, promise_of
from entwined.promise.reserve import Reserve, lowered
from entwined.request.request import Request
from entwined.schema import Schema


@dataclass(frozen=True, slots=True)
class Reserving:
    """A reserve, and what all of it leaks under each model."""

    reserve: Reserve
    price: Price

    @property
    def document(self) -> Document:
        """Both as JSON."""
        return {"reserve": self.reserve.document, "price": self.price.document}

    @property
    def toml(self) -> str:
        """The lines of a release.toml."""
        lines = (f'"{name}" = "{_decimal(rho)}"' for name, rho in self.reserve.each)
        return "\n".join(["[reserve]", *lines])


def reserving(
    promise: Promise, leakage: Amount, columns: Sequence[str] | Mapping[str, Amount] = ()
) -> Reserving:
    """Find the largest reserve that leaks at most this: the same for every column, or in proportion to its weight."""
    plain = replace(promise, reserve=None)
    given: Mapping[str, Amount] = (
        columns if isinstance(columns, Mapping) else dict.fromkeys(columns or _columns(plain), 1)
    )
    weights = {name: positive_fraction(given[name], f"The weight of {name!r:.60}") for name in given}
    shape = Reserve(tuple(sorted(weights.items())))
    shape.check(plain.schema, plain.declared, for_one_batch=plain.is_for_one_batch)

    def grown(each: Fraction) -> Reserve:
        return Reserve(tuple((name, weight * each) for name, weight in shape.each))

    def charged(each: Fraction) -> tuple[Part, ...]:
        return grown(each).batch(plain.schema, plain.steps)

    bare = replace(plain, measure=lowered(plain.measure))
    each, _, price = fitted_parts(bare, charged, leakage, None)
    return Reserving(grown(each), price)


def as_asked(request: Request) -> dict[str, Fraction]:
    """Weigh columns by what the questions of a request take of each: a survey's noise is shared out already."""
    plain = replace(request, reserve=None)
    if plain.promise.steps is not None:
        raise BadInput("In a panel every step has the same reserve. Name the columns instead.")
    planned = plain.plan()
    taken = planned.promise.base(planned.charged).columns
    return {name: rho for name, rho in taken.items() if rho}


def reserve_for(
    schema: Schema,
    *,
    leakage: Amount,
    delta: Amount,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    columns: Sequence[str] | Mapping[str, Amount] = (),
) -> dict[str, Fraction]:
    """Give ρ for each column, all of which together leaks at most this: what `open` takes as its reserve."""
    schema.require_approval()
    found = reserving(promise_of(schema, dependence, knowledge, delta), leakage, columns)
    return dict(found.reserve.each)


def _decimal(rho: Fraction) -> str:
    """Write a fraction as a decimal number where it is one."""
    near = Decimal(rho.numerator) / Decimal(rho.denominator)
    return f"{near:f}" if Fraction(near) == rho else str(rho)


def _columns(promise: Promise) -> tuple[str, ...]:
    """The columns that the models are about, public ones left out."""
    if promise.steps is not None:
        found = [name for one in promise.declared if one.panel for name in one.columns]
    else:
        found = [name for one in promise.declared for name in one.variables(promise.schema)]
    secret = [name for name in dict.fromkeys(found) if not promise.schema.coded(name).public]
    if not secret:
        raise BadInput("Nothing says which columns will be asked about. Name them.")
    return tuple(secret)
