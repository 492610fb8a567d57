"""Logistic regression and the linear support vector machine as mechanisms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.classifiers.descent import Descent
from entwined.mechanisms.classifiers.features import Features
from entwined.mechanisms.classifiers.margin_losses import Logistic, MarginLoss, RoundedHinge
from entwined.mechanisms.classifiers.methods import FINE, Aim, Choices, Method
from entwined.mechanisms.classifiers.objective import Objective
from entwined.mechanisms.classifiers.output import Output
from entwined.mechanisms.classifiers.rule import LinearRule
from entwined.mechanisms.fitting import losses
from entwined.mechanisms.sheet import Sheet
from entwined.mechanisms.told import heard, told
from entwined.numbers import Amount, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import FoldOf
from entwined.schema import Schema
from entwined.schema.raw import is_text

METHODS: Final[Mapping[str, type[Descent | Output | Objective]]] = {
    way.name: way for way in (Objective, Output, Descent)
}


@dataclass(frozen=True, slots=True)
class _Classifier:
    """A linear rule for a label, learned in one of three ways.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, on the rows, or with unit cells on every
    column that is read.

    Proof. That of the way: `Objective`, `Output` or `Descent`. With unit cells a changed cell changes its row.
    """

    kind: ClassVar[str]
    called: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ("label", "columns", "method", "ridge", "rounds")
    curve: ClassVar[MarginLoss]
    label: str
    features: Features
    loss: Fraction
    way: Method

    @classmethod
    def of(  # noqa: PLR0913  (each is a public choice)
        cls,
        promise: Promise,
        label: str,
        loss: Amount,
        *,
        columns: Sequence[str] | None = None,
        method: str | None = None,
        ridge: Amount | None = None,
        rounds: int | None = None,
    ) -> Self:
        """Settle the noise under a promise; the loss is in its measure, and so is the usual method."""
        exact = positive_fraction(loss, "Loss")
        features = Features.of(promise.schema, label, None if columns is None else tuple(columns))
        chosen = method or (Objective.name if promise.measure.is_pure else Descent.name)
        if not is_text(chosen) or chosen not in METHODS:
            raise BadQuery(f"method = {chosen!r:.60}. Give one of {', '.join(METHODS)}.")
        way = METHODS[chosen].of(promise, Aim(cls.curve, features), exact, Choices(ridge, rounds))
        return cls(label, features, exact, way)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        label, columns = given.get("label"), given.get("columns")
        if not isinstance(label, str) or not (columns is None or _are_names(columns)):
            raise BadQuery(
                f'{cls.kind} needs label = "…", a column of two values or a condition; columns are names.'
            )
        more = {key: given[key] for key in ("method", "ridge", "rounds") if key in given}
        return lambda each: cls.of(promise, label, each, columns=columns, **more)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "label": self.label,
            "columns": [column.name for column in self.features.columns],
            "loss": fraction_text(self.loss),
            "method": self.way.name,
            **self.way.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle it again; the noise follows from the promise."""
        return cls.of(
            promise,
            document["label"],
            fraction_from(document["loss"]),
            columns=document["columns"],
            method=document["method"],
            ridge=fraction_from(document["ridge"]) if "ridge" in document else None,
            rounds=document.get("rounds"),
        )

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows, or every column; refuse another promise's noise."""
        if self.from_document(self.document, promise) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Make it again.")
        return losses(promise, [(self.way.statistic, Fraction(1))], self.loss)

    def needs(self, schema: Schema) -> tuple[FoldOf, ...]:  # noqa: ARG002  (it knows its columns)
        """Folds, whose weights change from read to read."""
        return self.way.asks

    def run(self, read: Read, schema: Schema) -> bytes:
        """Give the weights, noise included."""
        return told(self.way.document, self.way.run(read, schema).tolist())

    def output(self, drawn: bytes) -> LinearRule:
        """Name the coefficients, per level and per half range of a number."""
        unit, half_width = self.way.slopes.unit, self.way.half_width
        values = tuple((np.array(heard(drawn, self.way.document), dtype=float) * (unit / FINE)).tolist())
        reach = half_width and half_width * unit
        return LinearRule(self.features, values, reach, self.curve.has_chances, self.way.added)

    @property
    def words(self) -> str:
        """What it computes."""
        return f"{self.called} of {self.label} by {', '.join(one.name for one in self.features.columns)}"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How strong the noise is, without a row."""
        return self.way.expected

    def shown(self, output: LinearRule) -> Sheet:
        """The coefficients by name."""
        return output.sheet


def _are_names(columns: object) -> bool:
    return isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)


@dataclass(frozen=True, slots=True)
class LogisticRegression(_Classifier):
    """A rule whose scores are log odds."""

    kind: ClassVar[str] = "logistic_regression"
    called: ClassVar[str] = "Logistic regression"
    curve: ClassVar[MarginLoss] = Logistic()


@dataclass(frozen=True, slots=True)
class LinearSVM(_Classifier):
    """A rule with a margin: the hinge loss, its corner rounded."""

    kind: ClassVar[str] = "linear_svm"
    called: ClassVar[str] = "Linear support vector machine"
    curve: ClassVar[MarginLoss] = RoundedHinge()
