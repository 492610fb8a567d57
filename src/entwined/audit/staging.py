"""The stage of an attack: generated people, what would be published of them, and what is promised about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Literal, TypeAlias

import numpy as np

from entwined.audit.vectors import NoisyVector, count_of, each_of, histogram_of
from entwined.bounds import Knowledge, bound, calibrate
from entwined.canonical import Document
from entwined.dependence import Dependence, ProductLaw
from entwined.errors import BadInput, Refused
from entwined.loss import Loss
from entwined.noise import Additive, DiscreteLaplace
from entwined.numbers import Amount, positive_fraction

MOST_UNITS: Final = 2000  # who depend on each other
MOST_BUILT: Final = 300_000
STRANGERS: Final = 6


Publish: TypeAlias = Literal["count", "histogram", "each"]
"""What is published where only a model is given: who holds the second value, how many hold each, or what each holds."""
Vectors: TypeAlias = Callable[[Additive], tuple[NoisyVector, ...]]


@dataclass(frozen=True, eq=False)
class Noised:
    """The vectors that are published, and what they leak at most under the model."""

    shown: tuple[NoisyVector, ...]
    certified: float


NOTHING: Final = Noised((), 0.0)


@dataclass(frozen=True, eq=False)
class Stage:
    """A model with one of its laws; the same numbers with plain noise and with noise that keeps the promise."""

    name: str
    model: Dependence
    target: int
    law: ProductLaw
    promised: float
    plain: Noised
    kept: Noised
    units: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...] = ()
    beside: Document = field(default_factory=dict)  # what else there is to say of the target


def staged_model(
    model: Dependence,
    leakage: Amount,
    *,
    target: str | None = None,
    publish: Publish = "count",
    values: int = 2,
    knowledge: Knowledge = "any",
) -> Stage:
    """Publish something of people drawn from a model, with plain noise of this ε and with noise that leaks no more."""
    promised = positive_fraction(leakage, "Leakage")
    Circle.of(model, 0, values)  # what is too wide to look at is refused before anything is bounded
    circle = Circle.of(model, place_of(model, target), values)
    law = circle.law
    vectors, change = PUBLISHED[publish](law)
    codes = tuple(tuple(f"value {code}" for code in range(law.sizes[unit])) for unit in law.people)
    units = tuple(map(model.called, circle.people))
    return staged(
        Stage(model.kind, model, circle.place, law, float(promised), NOTHING, NOTHING, units, codes),
        vectors,
        change,
        knowledge,
    )


def staged(bare: Stage, vectors: Vectors, change: int, knowledge: Knowledge = "any") -> Stage:
    """Publish vectors that one unit moves by so much, with plain noise and with noise that keeps the promise."""
    model, promised = bare.model, positive_fraction(bare.promised, "Leakage")
    weights = Loss.uniform(1, model.units).without(model.hidden)
    certified = calibrate(model, promised, knowledge, weights)
    plain = bound(model, Loss.uniform(promised, model.units).without(model.hidden), knowledge)

    def noised(loss: Fraction, leaked: float) -> Noised:
        return Noised(vectors(DiscreteLaplace.for_loss(loss, Fraction(change))), leaked)

    return replace(
        bare,
        plain=noised(promised, plain.leakage.worst),
        kept=noised(Fraction(certified.multiple), certified.leakage.worst),
    )


def place_of(model: Dependence, target: str | None, names: Sequence[str] = ()) -> int:
    """Find a target by its name or number; without one, take a unit of whom the model lets most leak."""
    people = [unit for unit in range(model.units) if unit not in model.hidden]
    if target is None:
        losses = Loss.uniform(1, model.units).without(model.hidden)
        return people[int(np.argmax(bound(model, losses).leakage.per_unit[people]))]
    called = {unit: names[unit] if names else model.called(unit) for unit in people}
    for unit, name in called.items():
        if target in (name, name.strip("'"), str(unit)):
            return unit
    raise BadInput(
        f"There is no unit {target!r:.60}. Give its number, or one of {_listed([*called.values()])}."
    )


@dataclass(frozen=True, eq=False)
class Circle:
    """Everybody who can have a bearing on a target, by the numbers of the model; somebody alone is met with strangers.

    Whoever else there is is independent of them, so to leave them out is to take them as known.
    """

    law: ProductLaw
    place: int
    members: tuple[int, ...]

    @classmethod
    def of(cls, model: Dependence, place: int, values: int) -> "Circle":
        """Find who is linked to a target under one law of a model; refuse more than can be looked at exactly."""
        _refuse_many(model.units, MOST_BUILT)
        law = model.around(place, values)
        linked = law.linked(place)
        members = linked if len(linked) > 1 else tuple(sorted({place, *law.people[:STRANGERS]}))
        _refuse_many(len(members), MOST_UNITS)
        small = law.only(members)
        small.marginal(members.index(place))
        return cls(small, members.index(place), members)

    @property
    def people(self) -> tuple[int, ...]:
        """The members who are somebody, by the numbers of the model."""
        return tuple(self.members[place] for place in self.law.people)


def _refuse_many(units: int, most: int) -> None:
    if units > most:
        raise Refused(
            f"{units:,} units are more than an exact attack takes, {most:,}. Attack a smaller model of the kind."
        )


PUBLISHED: Final[Mapping[Publish, Callable[[ProductLaw], tuple[Vectors, int]]]] = {
    "count": lambda law: (lambda noise: (count_of(law, 1, noise),), 1),
    "histogram": lambda law: (lambda noise: (histogram_of(law, noise),), 2),
    "each": lambda law: (lambda noise: each_of(law, noise), 2),
}
"""Vectors by their noise, and how far one unit moves them in L1."""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")  # noqa: PLR2004  (enough to see)
