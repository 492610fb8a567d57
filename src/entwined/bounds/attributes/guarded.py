"""A secret with all that is declared about it, and the noise that keeps it for given answers."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.bounds.attributes.beside_counts import moved_count, tail_of
from entwined.bounds.attributes.chance_boxes import ChanceBox, Chances, chances_from
from entwined.bounds.attributes.enumerated import least_enumerated, pairs_of_laws, slip_of
from entwined.bounds.attributes.far_apart import FarApart, far_apart
from entwined.bounds.attributes.guards import AnswerBox
from entwined.bounds.attributes.least_noise import slip
from entwined.bounds.attributes.linked import Linked, LinkedColumns, not_said_of, require_sufficient
from entwined.bounds.attributes.on_grid import whole_noise
from entwined.bounds.attributes.regressed import Correlation, combined, least_spread, require_jointly_normal
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadModel, Refused
from entwined.noise.dominated import SMOOTHED
from entwined.numbers import float_above
from entwined.queries.plain import PlainSum

MOST_LAWS: Final = 64
MOST_TOGETHER: Final = 256


@dataclass(frozen=True, slots=True)
class Guarded:
    """A secret and the class of laws it is kept under.

    `linked` are laws of columns of numbers and `counted` laws of rows with a condition; several of one column, or
    of one condition, are a list of which any may be true. `correlation` is that of the columns' values in a row, in the
    order in which the columns come first. `learned` says where laws come from, if they were not declared.
    """

    secret: ColumnSecret
    linked: tuple[Linked, ...] = ()
    counted: tuple[tuple[str, Chances], ...] = ()
    correlation: tuple[tuple[Fraction, ...], ...] | None = None
    learned: str = ""
    free: ClassVar[str] = "the spread that the data have by themselves keeps every secret"

    def __post_init__(self) -> None:
        if not 1 <= len(self.linked) + len(self.counted) <= MOST_LAWS:
            raise BadModel(
                f"The secret {self.secret.title!r} has {len(self.linked) + len(self.counted)} laws. "
                f"Give 1 to {MOST_LAWS}."
            )
        if self.counted and self.secret.figure == "mean":
            raise BadModel(
                f"The secret {self.secret.title!r} is about a mean, and chances of rows are given for a share or "
                "a count. Declare slopes of columns of numbers."
            )
        if self.correlation is not None:
            self.joint(tuple(law[0] for law in self._by_column.values()))
        require_sufficient(self.secret, self.linked)
        boxes = [law for _, law in self.counted if isinstance(law, ChanceBox)]
        if self.secret.reading == "averaged" and (self.linked or boxes):
            raise Refused(
                f"The secret {self.secret.title!r} is read as averaged, which is worked out for counts of exact "
                "chances alone. Use the worst point: it is safe, and needs more noise."
            )

    @property
    def _by_column(self) -> dict[str, list[Linked]]:
        found: dict[str, list[Linked]] = {}
        for one in self.linked:
            found.setdefault(one.column, []).append(one)
        return found

    def joint(self, laws: tuple[Linked, ...]) -> LinkedColumns:
        """Take one law of each column."""
        return LinkedColumns(laws, self.correlation)

    def alternatives(self, column: str) -> list[Linked]:
        """The laws of a column, any of which may be true; refuse a column of which nothing is said."""
        if column not in self._by_column:
            raise not_said_of(column)
        return self._by_column[column]

    def chances(self, where: str) -> list[Chances]:
        """The laws of a condition, any of which may be true; refuse one of which nothing is said."""
        found = [law for condition, law in self.counted if condition == where]
        if not found:
            raise Refused(
                f"Nothing is said of how the rows with {where} go with the secret {self.secret.title!r}, so nothing "
                "can be promised about their number. Add their chances to the secret, or do not ask about them."
            )
        return found

    def far(self, asked: PlainSum) -> list[FarApart]:
        """The worst pairs of laws of a sum in whole numbers."""
        times = self.secret.rows / asked.step
        return [far_apart(self.secret, law).times(times) for law in self.alternatives(asked.column)]

    def least(self, asked: PlainSum) -> Fraction:
        """The variance of noise that keeps the secret for one answer; 0 if none is needed."""
        if asked.column:
            ends = self.secret.epsilon, self.secret.delta, asked.grain
            return max(whole_noise(pair, *ends) for pair in self.far(asked))
        return max(least_enumerated(self.secret, law)[0] for law in self.chances(asked.where))

    def slip(self, asked: PlainSum, epsilon: Fraction, variance: Fraction) -> float:
        """The δ at which one answer with this noise keeps ε, but for what rounding a normal answer costs."""
        if asked.column:
            noise = max(float(variance - SMOOTHED), 0.0)
            return max(slip(pair, epsilon, noise) for pair in self.far(asked))
        return max(
            slip_of(pairs_of_laws(self.secret, law), epsilon, variance, in_order=law.in_order)
            for law in self.chances(asked.where)
        )

    def cases(self, asked: Sequence[PlainSum]) -> list[AnswerBox]:
        """Of several answers the box of differences of their means, and their own covariance if it is declared."""
        summed = [one for one in asked if one.column]
        boxes = self._summed(summed) if summed else [AnswerBox([], [], None)]
        if len(summed) == len(asked):
            return boxes
        tail = tail_of(self.secret, len(asked) - len(summed))
        counted = {
            one: moved_count(self.secret, self.chances(one.where), tail) for one in asked if not one.column
        }
        missed = tail * (len(asked) - len(summed))
        found = []
        for box in boxes:
            moved = dict(zip(summed, zip(box.lows, box.highs, strict=True), strict=True)) | counted
            lows, highs = ([moved[one][side] for one in asked] for side in (0, 1))
            found.append(AnswerBox(lows, highs, None, missed=missed))
        return found

    def _summed(self, asked: Sequence[PlainSum]) -> list[AnswerBox]:
        """The boxes of sums of columns."""
        found = []
        times = [float_above(self.secret.rows / one.step) for one in asked]
        names = [one.column for one in asked]
        width = float_above(self.secret.width)
        for laws in self._laws_of(names):
            joint = self.joint_of(laws)
            ends = [joint.of(name).slope for name in names]
            lows = [float(box.low) * width * scale for box, scale in zip(ends, times, strict=True)]
            highs = [float(box.high) * width * scale for box, scale in zip(ends, times, strict=True)]
            own = joint.covariance(names)
            scaled = None if own is None else own * np.outer(times, times) / self.secret.rows
            found.append(AnswerBox(lows, highs, scaled))
        return found

    def _laws_of(self, names: Sequence[str]) -> Iterator[tuple[Linked, ...]]:
        """The laws of columns that can be true together."""
        choices = [self.alternatives(name) for name in dict.fromkeys(names)]
        if math.prod(map(len, choices)) > MOST_TOGETHER:
            raise Refused(
                f"The laws of {len(choices)} columns can be true together in more than {MOST_TOGETHER:,} ways. "
                "Declare boxes, or ask for fewer answers at once."
            )
        if any(law.others_sd is not None for laws in choices for law in laws):
            raise Refused(
                "Several answers leave together, and rows with the value vary otherwise than the others: that is "
                "proved for one answer alone. Ask for one, or declare one sd for all rows."
            )
        return product(*choices)

    def joint_of(self, laws: Sequence[Linked]) -> LinkedColumns:
        """Put laws of some columns together, with the correlation that is declared of them."""
        if self.correlation is None:
            return LinkedColumns(tuple(laws))
        order = list(self._by_column)
        every = {name: alternatives[0] for name, alternatives in self._by_column.items()}
        every |= {law.column: law for law in laws}
        return LinkedColumns(tuple(every[name] for name in order), self.correlation)

    def combined(self, weights: Mapping[str, Fraction]) -> FarApart:
        """How far a weighted sum of jointly normal columns moves, and how little it varies; refuse any others."""
        laws, correlation = self._beside(weights)
        require_jointly_normal(self.secret, self.linked)
        return combined(self.secret, laws, correlation, weights)

    def spread(self, steps: Mapping[str, Fraction]) -> float:
        """How little jointly normal columns vary in any direction given the secret, in squared steps."""
        return least_spread(*self._beside(steps), steps)

    def _beside(self, names: Iterable[str]) -> tuple[dict[str, Linked], Correlation | None]:
        """The laws of columns other than the protected one, and how they correlate given it."""
        laws = {name: self.alternatives(name)[0] for name in names if name != self.secret.column}
        told, order = self.correlation, list(self._by_column)
        if told is None:
            return laws, None
        places = {name: order.index(name) for name in laws}
        return laws, {(one, other): told[places[one]][places[other]] for one in laws for other in laws}

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed for the secret to be kept."""
        secret = self.secret
        said = [
            (
                f"There are {secret.rows:,} rows, drawn independently of each other, and who looks for {secret.title} "
                "knows nothing of single rows but the laws declared for it, of which one is true."
            )
        ]
        if self.linked:
            names = ", ".join(dict.fromkeys(repr(one.column) for one in self.linked))
            said.append(
                f"Given {secret.column!r}, values as the schema codes them are normal with a mean and a deviation of "
                f"the declared class, and sums of whole numbers are normal numbers that were rounded: columns {names}."
            )
            if not all(one.sufficient for one in self.linked):
                said.append(
                    f"{secret.column!r} and the columns {names} are jointly normal, so that how rows lie about their "
                    "mean says nothing of it."
                )
        if self.learned:
            said.append(
                f"{secret.title}: its laws are {self.learned}; but for that chance they hold the true one, if rows "
                "there were drawn by the same law, and were normal and independent."
            )
        if self.counted:
            said.append(
                f"Given {secret.column!r}, each row is counted with the chances that were declared, exactly or between "
                "their ends."
            )
        return tuple(said)

    def outside(self, truth: Linked) -> tuple[str, ...]:
        """Say how a declared truth is in none of the laws of its column."""
        said = [law.outside(truth) for law in self.alternatives(truth.column)]
        return () if not all(said) else said[0]

    @property
    def document(self) -> Document:
        """The secret with its laws as JSON."""
        told = self.correlation and [[fraction_text(one) for one in row] for row in self.correlation]
        return {
            "secret": self.secret.document,
            "linked": [one.document for one in self.linked],
            "counted": [{"where": where, "chances": law.document} for where, law in self.counted],
            "correlation": told,
            **({"learned": self.learned} if self.learned else {}),
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a secret with its laws as it was written."""
        told = given["correlation"]
        return cls(
            ColumnSecret.from_document(given["secret"]),
            tuple(map(Linked.from_document, given["linked"])),
            tuple((one["where"], chances_from(one["chances"])) for one in given["counted"]),
            told and tuple(tuple(map(fraction_from, row)) for row in told),
            given.get("learned", ""),
        )
