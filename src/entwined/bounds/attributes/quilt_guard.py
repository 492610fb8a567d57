"""A secret about the parameter that a column is drawn with, kept by quilts: which noise keeps it for given answers."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from entwined.bounds.attributes.column_query import ColumnPart, ColumnQuery
from entwined.bounds.attributes.far_apart import FarApart
from entwined.bounds.attributes.gaussian_quilts import least_deviation
from entwined.bounds.attributes.guards import AnswerBox
from entwined.bounds.attributes.network_members import members
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.attributes.quilts import ColumnQuilt, pairs_of, quilts_of, refuse_unknown
from entwined.bounds.attributes.secrets import (
    LARGEST_DELTA,
    LARGEST_EPSILON,
    LEAST_DELTA,
    MOST_ROWS,
    READINGS,
    Reading,
)
from entwined.bounds.attributes.two_normals import told_beside
from entwined.bounds.profiles.gaussian import largest_gaussian_rho
from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.dependence import BayesNet, Dependence
from entwined.dependence.files import model_from
from entwined.errors import BadInput, BadModel, Refused, Unreachable
from entwined.noise.dominated import SMOOTHED, variance_for
from entwined.numbers import float_above, float_below
from entwined.queries.plain import PlainSum

MOST_COLUMNS: Final = 200


@dataclass(frozen=True, slots=True)
class ParameterSecret:
    """Two sets of values, or several pairs of them, of the parameter of one column; without any, all its values."""

    column: str
    apart: tuple[ValueSets, ...]
    rows: int
    epsilon: Fraction
    delta: Fraction
    reading: Reading = "worst point"
    name: str = ""
    level: ClassVar[str] = "law"

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= MOST_ROWS:
            raise BadInput(f"The secret {self.title!r} is about {self.rows} rows. Give 1 to {MOST_ROWS:,}.")
        if self.reading not in READINGS:
            raise BadInput(
                f"A secret with the reading {self.reading!r:.60}. Use {', '.join(map(repr, READINGS))}."
            )
        if not 0 < self.epsilon <= LARGEST_EPSILON or not (
            self.delta == 0 or LEAST_DELTA <= self.delta <= LARGEST_DELTA
        ):
            raise BadInput(
                f"The secret {self.title!r} has ε = {float(self.epsilon):g} and δ = {float(self.delta):g}. Give an ε "
                f"above 0 and up to {LARGEST_EPSILON}, and a δ from {float(LEAST_DELTA):g} to "
                f"{float(LARGEST_DELTA):g}, or none."
            )

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or f"parameter of {self.column}"

    @property
    def words(self) -> str:
        """What an observer must not be able to tell."""
        sets = "; or ".join(f"{' or '.join(one.one)}, or {' or '.join(one.other)}" for one in self.apart)
        return (
            f"whether the law that {self.column} is drawn by is {sets or 'one or another of those declared'}"
        )

    @property
    def document(self) -> Document:
        """The secret as JSON."""
        return {
            "name": self.name,
            "column": self.column,
            "apart": [one.document for one in self.apart],
            "rows": self.rows,
            "epsilon": fraction_text(self.epsilon),
            "delta": fraction_text(self.delta),
            "reading": self.reading,
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a secret as it was written."""
        apart = tuple(map(ValueSets.from_document, given["apart"]))
        ends = fraction_from(given["epsilon"]), fraction_from(given["delta"])
        return cls(given["column"], apart, given["rows"], *ends, given["reading"], given["name"])


@lru_cache(maxsize=16)
def network_of(law: str) -> BayesNet:
    """Read a network from its canonical text, once."""
    return required_network(model_from(json.loads(law), Path()))


def required_network(model: Dependence) -> BayesNet:
    """Refuse a model that is no network of parameters."""
    if not isinstance(model, BayesNet) or model.units > MOST_COLUMNS:
        raise BadModel(
            f"A {model.kind} model is no network of parameters of up to {MOST_COLUMNS} columns. Give one of kind "
            "bayes_net whose variables are columns and whose values are the laws that they may be drawn by."
        )
    return model


@dataclass(frozen=True, slots=True)
class QuiltGuard:
    """A secret parameter and the network that says how the parameters of columns depend; `law` is its file's text.

    Answers are whole numbers with discrete Gaussian noise, which shows no more than Gaussian noise of a variance less
    by 3 (`noise/dominated`): what is proved of that by `gaussian_quilts` holds for them.
    """

    secret: ParameterSecret
    law: str
    free: ClassVar[str] = (
        "what is asked about goes so little with the secret law that it keeps the secret as it is"
    )

    @classmethod
    def of(cls, secret: ParameterSecret, network: Dependence) -> Self:
        """Put a secret and a network together."""
        return cls(secret, canonical(required_network(network).document))

    def __post_init__(self) -> None:
        self.exposed(ColumnQuery.count([self.secret.column], 1))
        place = self.network.names.index(self.secret.column)
        members(self.network, place, (), averaged=self.secret.reading == "averaged")

    @property
    def network(self) -> BayesNet:
        """The network, every parameter but the protected one no secret."""
        whole = network_of(self.law)
        if self.secret.column not in whole.names:
            raise BadModel(
                f"The network has no parameter of {self.secret.column!r:.60}, which is protected. Add it."
            )
        return only_secret(self.law, self.secret.column)

    def exposed(self, query: ColumnQuery) -> NoisyColumns:
        """What is asked, with the secret and no noise; refuse columns and values that the network does not know."""
        averaged, network = self.secret.reading == "averaged", self.network
        found = NoisyColumns.of(query, 0.0, network.units, self.secret.apart, averaged=averaged)
        refuse_unknown(network, found)
        return found

    def query(self, asked: Sequence[PlainSum]) -> ColumnQuery | None:
        """Say how far whole columns move the answers, in whole numbers; none if they read no column."""
        parts = [
            ColumnPart(one.reads, float_above(one.span * self.secret.rows))
            for one in asked
            if one.reads and one.span
        ]
        return ColumnQuery(tuple(parts)) if parts else None

    def moved(self, asked: PlainSum, near: Sequence[str]) -> Fraction:
        """The most that near columns move an answer, in whole numbers."""
        return asked.span * self.secret.rows if set(asked.reads) & set(near) else Fraction(0)

    def left(self, quilt: ColumnQuilt) -> Fraction:
        """What is left of ε once the shown columns of a quilt are paid."""
        return self.secret.epsilon - Fraction(quilt.influence)

    def least(self, asked: PlainSum) -> Fraction:
        """The variance of noise that keeps the secret for one answer; 0 if none is needed."""
        needed = [Fraction(0)]
        for quilt in self.quilts([asked]):
            moved = self.moved(asked, quilt.near)
            if moved:
                rho = largest_gaussian_rho(self.left(quilt), self.secret.delta)
                needed.append(variance_for(rho, Fraction(math.ceil(moved)) ** 2))
        return max(needed)

    def quilts(self, asked: Sequence[PlainSum]) -> tuple[ColumnQuilt, ...]:
        """For each pair of values that is a secret the quilt that is taken for these answers together."""
        query = self.query(asked)
        return () if query is None else chosen_quilts(self, query)

    def slip(self, asked: PlainSum, epsilon: Fraction, variance: Fraction) -> float:
        """The δ at which one answer with this noise keeps ε."""
        query = self.query([asked])
        if query is None:
            return 0.0
        noise, worst = float_below(variance - SMOOTHED), 0.0
        exposed, place = self.exposed(query), self.network.names.index(self.secret.column)
        for pair in pairs_of(self.network, exposed, place):
            kept = [
                told_beside(quilt.influence, epsilon, self.moved(asked, quilt.near), noise)
                for quilt in quilts_of(self.network, exposed, place, pair)
            ]
            worst = max(worst, min(kept))
        return worst

    def cases(self, asked: Sequence[PlainSum]) -> list[AnswerBox]:
        """Of several answers the boxes that near columns move them in; the spread of the data is not counted."""
        found = []
        for quilt in self.quilts(asked):
            ends = [float_above(self.moved(one, quilt.near)) for one in asked]
            found.append(AnswerBox([-end for end in ends], ends, None, quilt.influence))
        return found or [AnswerBox([0.0] * len(asked), [0.0] * len(asked), None)]

    def combined(self, weights: Mapping[str, Fraction]) -> FarApart:
        """Refuse a regression: a network of laws does not say how its coefficients go with the secret one."""
        raise Refused(
            f"The secret {self.secret.title!r} is kept by a network, which says nothing of the coefficients of a "
            f"regression of {', '.join(weights)[:80]}. Ask for counts, means or totals."
        )

    def spread(self, steps: Mapping[str, Fraction]) -> float:  # noqa: ARG002  (whichever columns they are)
        """Nothing is said of it."""
        return 0.0

    @property
    def trusted(self) -> tuple[str, ...]:
        """What has to be believed for the secret to be kept."""
        believed = (
            f"{self.secret.title}: the laws that columns are drawn by follow the declared network and are among its "
            "values; given its law a column depends on no other column's cells; and who looks for it knows the network "
            "and no law."
        )
        return (believed, f"There are {self.secret.rows:,} rows.")

    @property
    def document(self) -> Document:
        """The secret with its network as JSON."""
        return {"parameter": self.secret.document, "network": json.loads(self.law)}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a secret with its network as it was written."""
        return cls.of(ParameterSecret.from_document(given["parameter"]), model_from(given["network"], Path()))


@lru_cache(maxsize=16)
def only_secret(law: str, column: str) -> BayesNet:
    """The network where one parameter alone is a secret; the same object for the same text, so that sums are kept."""
    network = network_of(law)
    others = [name for name in network.names if name != column]
    return network.hiding(others) if others else network


@lru_cache(maxsize=256)
def chosen_quilts(guard: QuiltGuard, query: ColumnQuery) -> tuple[ColumnQuilt, ...]:
    """For each pair of values the quilt that needs the least noise if all answers have the same."""
    secret, network, exposed = guard.secret, guard.network, guard.exposed(query)
    found: dict[ColumnQuilt, None] = {}
    for pair in pairs_of(network, exposed, network.names.index(secret.column)):
        each = list(quilts_of(network, exposed, network.names.index(secret.column), pair))
        deviation, quilt = least_deviation(each, query, secret.epsilon, secret.delta)
        if not math.isfinite(deviation):
            raise Unreachable(f"No noise keeps the secret {secret.title!r}. Ask for a larger ε.")
        found[quilt] = None
    return tuple(found)
