"""How good tables of other losses and of other parents would be: tried on the holder's own rows, for nobody else.

Every way is described and made up as it would be, its noise included. No charge is made, because nothing of it leaves:
what was found is written to files that say so. Who chooses ε or k by it has looked at the rows, and says so by that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.canonical import Document, fraction_from
from entwined.door.mechanism import Read
from entwined.errors import BadInput, EntwinedError
from entwined.learning.codes import Codes
from entwined.mechanisms.fitting import fitted_parts
from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.made_up import made_up
from entwined.mechanisms.marginals.rules import Rules
from entwined.mechanisms.marginals.synthesis import MODES, Synthesis
from entwined.numbers import IntArray
from entwined.progress import listening, said
from entwined.promise.measure import PURE, Concentrated, Measure
from entwined.promise.promise import Promise
from entwined.queries import Aggregate
from entwined.schema import Schema
from entwined.synthetic.description import DescribedTable
from entwined.synthetic.holders_rows import SideBySide
from entwined.synthetic.lent_codes import LentCodes
from entwined.synthetic.likeness import all_apart, mean_distance

TIMES: Final = (Fraction(1, 10), Fraction(1), Fraction(10))
"""The losses that are tried, in those of the description."""
WAYS: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    ("independent", {}),
    ("correlated", {"parents": 1}),
    ("correlated", {"parents": 2}),
    ("correlated", {"parents": 3}),
    ("adaptive", {}),
)
LARGEST_HELD: Final = 5_000  # cells; of 2,000 tables these take 80 MB
TOGETHER: Final = (1, 2, 3)
SWEEPING: Final = "trying other losses and parents"


@dataclass(frozen=True, slots=True)
class Described:
    """What stays as it was: the nominal ε, how noise is measured, the rules. Without a description ε is 1."""

    epsilon: Fraction = Fraction(1)
    measure: Measure = PURE
    rules: Rules = field(default_factory=Rules)

    @classmethod
    def of(cls, document: Mapping[str, Any], schema: Schema) -> "Described":
        """Read it from what was published."""
        certificate = document["certificate"]
        if certificate["mechanism"]["kind"] != Synthesis.kind:
            raise BadInput(
                "A sweep tries tables of rows, and this is one of households. Compare these with `entwined households`."
            )
        measure = Concentrated(fraction_from(certificate["delta"])) if "delta" in certificate else PURE
        return cls(fraction_from(certificate["nominal"]), measure, Rules.of(certificate["mechanism"], schema))


class Swept(NamedTuple):
    """One way with one ε: the share of people in a wrong cell by one, two and three columns, or why not."""

    mode: str
    parents: int | None
    epsilon: float
    apart: tuple[float, ...]
    why_not: str = ""

    @property
    def document(self) -> Document:
        """The same as JSON."""
        apart = {str(many): share for many, share in zip(TOGETHER, self.apart, strict=False)}
        told = {"mode": self.mode, "parents": self.parents, "epsilon": self.epsilon}
        return told | ({"why_not": self.why_not} if self.why_not else {"misplaced": apart})


def swept(both: SideBySide, known: Described) -> tuple[Swept, ...]:
    """Try every way with every loss on the real rows."""
    trial = _Trial(both, known)
    asked = [(mode, given, known.epsilon * times) for mode, given in WAYS for times in TIMES]
    found = []
    for one in said(SWEEPING, asked):
        with listening(_nobody):  # what a trial says of itself would hide how far all of them are
            found.append(trial.of(*one))
    return tuple(found)


def _nobody(what: str, done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """The holder's rows, lent to mechanisms without a charge; small tables are counted once for all trials."""

    both: SideBySide
    known: Described
    held: dict[Aggregate, IntArray] = field(default_factory=dict)

    def of(self, mode: str, given: Mapping[str, Any], epsilon: Fraction) -> Swept:
        """Describe the rows and make some up; what is refused says why."""
        try:
            apart = self._apart(self._settled(mode, given, epsilon))
        except EntwinedError as reason:
            return Swept(mode, given.get("parents"), float(epsilon), (), str(reason))
        return Swept(mode, given.get("parents"), float(epsilon), apart)

    def _settled(self, mode: str, given: Mapping[str, Any], epsilon: Fraction) -> Synthesis:
        promise = Promise.of(self.both.schema, measure=self.known.measure)
        domain = Domain(self.both.axes, self._ordered, self.both.schema.rows)
        recipe = MODES[mode].of(given, domain)

        def made(each: Fraction) -> Synthesis:
            return Synthesis.of(promise, domain, recipe, each, self.known.rules)

        each, *_ = fitted_parts(promise, lambda one: made(one).parts(promise), None, epsilon)
        return made(each)

    def _apart(self, mechanism: Synthesis) -> tuple[float, ...]:
        real = self.both.real
        drawn = mechanism.output(mechanism.run(self._reader(), self.both.schema))
        law = DescribedTable.of(mechanism, drawn, self.both.schema).law
        made = Codes.of(dict(zip(real.names, real.sizes, strict=True)), made_up(law, real.rows))
        ways = [many for many in TOGETHER if many <= len(real.names)]
        return tuple(mean_distance(all_apart(real, made, many)) for many in ways)

    def _reader(self) -> Read:
        lent = LentCodes(self.both.real.names, self._codes(), np.zeros(self.both.real.rows, np.int64))

        def read(aggregates: Sequence[Aggregate]) -> list[IntArray]:
            new = [one for one in aggregates if one not in self.held]
            found = dict(zip(new, lent.read(new), strict=True))
            self.held.update({one: table for one, table in found.items() if table.size <= LARGEST_HELD})
            return [found[one] if one in found else self.held[one] for one in aggregates]

        return read

    def _codes(self) -> IntArray:
        """A code of every row's cell, from which an engine would find the same cell."""
        begins = [np.append(np.asarray(axis.starts), axis.levels) for axis in self.both.axes]
        return np.stack(
            [codes[self.both.real.values[:, at]] for at, codes in enumerate(begins)], axis=1
        ).astype(np.int64)

    @property
    def _ordered(self) -> tuple[bool, ...]:
        return tuple(self.both.schema.coded(axis.column).has_order for axis in self.both.axes)


def nearest(found: Sequence[Swept], epsilon: float) -> Swept:
    """Which way that was tried is nearest at one ε: by two columns, or by one where there is no other."""
    tried = [one for one in found if one.apart and one.epsilon == epsilon]
    return min(tried, key=lambda one: one.apart[min(1, len(one.apart) - 1)])
