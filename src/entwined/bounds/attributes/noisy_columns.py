"""An answer about columns with Laplace noise, or with none, and what of their parameters must not be told apart."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.canonical import Document
from entwined.errors import BadLoss
from entwined.numbers import FloatArray


@dataclass(frozen=True, slots=True)
class ValueSets:
    """Two sets of values of one column's parameter that an observer should not tell apart."""

    column: str
    one: tuple[str, ...]
    other: tuple[str, ...]

    def __post_init__(self) -> None:
        if not (self.one and self.other) or set(self.one) & set(self.other):
            raise BadLoss(
                f"The two sets of values of {self.column!r:.60} are empty or overlap. Give two sets that share nothing."
            )

    @property
    def document(self) -> Document:
        """The column and both sets."""
        return {"column": self.column, "one": list(self.one), "other": list(self.other)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        return cls(str(document["column"]), tuple(document["one"]), tuple(document["other"]))


@dataclass(frozen=True, slots=True)
class NoisyColumns:
    """One answer, or a list of them with noise of the same scale each, about the columns of a table.

    `units` is how many columns have a parameter. Without `apart` any two values of any parameter are to be confused,
    and with them any two sets of values. With it only the stated sets are: by their worst values, or, if `averaged`,
    by what each set means under the network.

    >>> NoisyColumns(ColumnQuery.count(["height"], rows=50), scale=10.0, units=5).moved_by(["height"])
    5.0
    """

    query: ColumnQuery
    scale: float
    units: int
    apart: tuple[ValueSets, ...] = ()
    averaged: bool = False
    plural: ClassVar[str] = "an answer about columns"
    believed: ClassVar[str] = (
        "Whole columns that change move the answer by no more than stated, and it has Laplace noise of the stated "
        "scale, or none where that is 0."
    )
    delta: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale >= 0):
            raise BadLoss(
                f"Scale {self.scale} is no number from 0. Give the scale of the Laplace noise, or 0."
            )
        if self.units < 1:
            raise BadLoss(f"{self.units} columns. Give how many columns have a parameter.")

    @classmethod
    def of(
        cls,
        query: ColumnQuery,
        scale: float,
        units: int,
        apart: Sequence[ValueSets] = (),
        *,
        averaged: bool = False,
    ) -> Self:
        """Read the secrets as a list."""
        return cls(query, scale, units, tuple(apart), averaged)

    @property
    def released(self) -> str:
        """What a guarantee is about; which secrets is said here."""
        sets = "; ".join(
            f"{one.column!r} in {{{', '.join(one.one)}}} or {{{', '.join(one.other)}}}" for one in self.apart
        )
        meant = "averaged under the network" if self.averaged else "by their worst values"
        told = f", for parameters of {sets}, {meant}" if sets else ""
        return f"this answer about columns and nothing else{told}"

    def moved_by(self, changed: Sequence[str]) -> float:
        """Give by how many scales of its noise the answer moves at most if whole columns change."""
        moved = self.query.moved_by(changed)
        if moved == 0:
            return 0.0
        return moved / self.scale if self.scale > 0 else math.inf

    @property
    def document(self) -> Document:
        """What is asked, the noise and the secrets."""
        apart = [one.document for one in self.apart]
        secrets = {"apart": apart, "averaged": self.averaged} if apart else {}
        return {**self.query.document, "laplace_scale": self.scale, "columns": self.units, **secrets}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read it back."""
        apart = tuple(map(ValueSets.from_document, document.get("apart", ())))
        query, averaged = ColumnQuery.from_document(document), document.get("averaged", False) is True
        return cls(query, float(document["laplace_scale"]), int(document["columns"]), apart, averaged)

    def own_loss(self, knowledge: str) -> FloatArray:  # noqa: ARG002  (nobody knows a parameter)
        """Give 0: a parameter is no cell of the table, and an answer that reads no column of it may show none of it."""
        return np.zeros(self.units)

    def widened(self, units: int) -> Self:
        """Refuse: no network has more columns for being stronger."""
        if units > self.units:
            raise BadLoss(f"There are {self.units} columns, not {units}. Give one of as many columns.")
        return self

    def __mul__(self, factor: float) -> Self:
        """The same answer with noise that shows so many times as much."""
        return replace(self, scale=self.scale / factor)
