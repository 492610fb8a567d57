"""Coefficients of a linear regression that keep secrets about means of columns: slopes free, the intercept noisy."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.bounds.attributes.guards import SecretGuard
from entwined.bounds.attributes.joint_noise import gaussian_of
from entwined.bounds.attributes.on_grid import MOST_TAKEN, whole_noise
from entwined.bounds.attributes.regressed import fineness, told_by_grid
from entwined.canonical import Document, canonical
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.moment_sums import MomentSums
from entwined.mechanisms.sheet import Sheet
from entwined.numbers import Amount, FloatArray
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.promise.secrets import FIRST_LINE, KEPT_BY, KeptSecrets, but_for
from entwined.queries import Aggregate, CountOf, everything
from entwined.queries.terms import grid_of
from entwined.schema import Schema

ONCE: Final = Fraction(1)
MOST_FEATURES: Final = 12
CONFIDENCE: Final = Fraction(95, 100)
PAID: Final = Fraction(1, 10**12)  # above what floating point loses


@dataclass(frozen=True, slots=True)
class VeiledCoefficients:
    """Slopes in parts of a step, the noisy sum that the intercept is made of, and the variance of its noise."""

    slopes: tuple[int, ...]
    total: int
    variance: Fraction


@dataclass(frozen=True, slots=True)
class VeiledRegression:
    """Least-squares coefficients of a column of numbers on others, with an intercept.

    A missing value counts as the middle of its column.

    Theorem. What `run` returns keeps every secret of the promise by its own ε and δ, under its class of laws. Rows are
    not protected, and one mark is charged, so that nothing follows.

    Proof. Slopes are made of n Σ ab − Σ a Σ b alone, in whole numbers and with the rows that there are, and rounded;
    noise of the sum of what they leave over is chosen by them: `bounds/attributes/regressed`, on whole numbers by
    `bounds/attributes/on_grid`.
    """

    kind: ClassVar[str] = "linear_regression"
    fields: ClassVar[tuple[str, ...]] = ("target", "columns")
    promise: Promise
    target: str
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        names = (self.target, *self.columns)
        if not 1 <= len(self.columns) <= MOST_FEATURES or len(set(names)) < len(names):
            raise BadQuery(
                f"A regression of {self.target!r:.60} on {len(self.columns)} columns. Give 1 to {MOST_FEATURES} "
                "others, each once."
            )
        if self.secrets.individuals:
            raise Refused(
                "A regression that keeps secrets protects no row: its slopes have no noise, and what a row moves them "
                'by has no bound. Say individuals = "not protected", or ask for means.'
            )
        if self.promise.schema.rows is None:
            raise BadQuery(
                "A regression that keeps secrets needs the public number of rows. Declare rows in the schema."
            )
        for guard in self.secrets.guards:
            guard.combined(dict.fromkeys(names, ONCE))  # refuses secrets that it says nothing of
        self._refuse_coarse()

    def _refuse_coarse(self) -> None:
        """Refuse the protected column, and steps that are not small beside what the mean of all rows varies by."""
        for guard in self.secrets.guards:
            if guard.secret.column in (self.target, *self.columns):
                raise Refused(
                    f"The column {guard.secret.column!r} is protected, and slopes of its whole steps tell on which "
                    "part of a step its mean lies. Leave it out, or ask for means."
                )
            if self._kept(guard)[0] < (1 - MOST_TAKEN) * guard.secret.epsilon:
                raise Refused(
                    f"The steps of {', '.join((self.target, *self.columns))[:200]} are not small beside what a mean of "
                    f"{self.rows:,} rows varies by, so slopes would tell the secret {guard.secret.title!r}. Declare "
                    "finer steps if the table has them, or ask for means."
                )

    def _kept(self, guard: SecretGuard) -> tuple[Fraction, Fraction]:
        """What is left of ε and δ once what slopes on a grid may tell is paid."""
        names = (self.target, *self.columns)
        steps = {name: grid_of(self.promise.schema.coded(name))[1] for name in names}
        told = told_by_grid(guard.spread(steps), self.rows, len(names))
        if told >= 1:
            return Fraction(0), guard.secret.delta
        paid = Fraction(math.log1p(told) - math.log1p(-told)) * (1 + PAID) + PAID
        return guard.secret.epsilon - paid, guard.secret.delta / (1 + Fraction(told))

    @classmethod
    def of(cls, promise: Promise, given: Mapping[str, Any]) -> Self:
        """Read it from the fields of a file."""
        target, columns = given.get("target"), given.get("columns")
        if (
            not isinstance(target, str)
            or not isinstance(columns, list)
            or not all(isinstance(one, str) for one in columns)
        ):
            raise BadQuery('A linear_regression needs target = "weight" and columns = ["height"]. Give both.')
        return cls(promise, target, tuple(columns))

    @classmethod
    def fitted(
        cls, promise: Promise, given: Mapping[str, Any], leakage: Amount | None, loss: Amount | None
    ) -> Self:
        """Read it from the fields of a file; no row is protected by it."""
        if leakage is not None or loss is not None:
            raise BadQuery("A regression that keeps secrets protects no row. Leave its leakage or loss out.")
        return cls.of(promise, given)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """It stands beside secrets alone, whose noise is chosen by no loss."""
        if promise.secrets is None:
            raise Refused(
                "Coefficients of a linear regression are released where they keep secrets about whole columns. Declare "
                "[[secret]], or take logistic_regression for a column of two values."
            )
        made = cls.of(promise, given)
        return lambda _: made

    @property
    def secrets(self) -> KeptSecrets:
        """The secrets that it keeps."""
        if self.promise.secrets is None:
            raise BadQuery("The promise has no secrets about whole columns. Declare [[secret]].")
        return self.promise.secrets

    @property
    def rows(self) -> int:
        """The public number of rows."""
        return int(self.promise.schema.rows or 0)

    @property
    def document(self) -> Document:
        """The whole computation."""
        titles = [one.secret.title for one in self.secrets.guards]
        return {"kind": self.kind, KEPT_BY: titles, "target": self.target, "columns": list(self.columns)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Read it as it was written."""
        return cls.of(promise, document)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge one mark; refuse another promise."""
        if promise.identity != self.promise.identity:
            raise BadQuery(
                "The regression was settled under another promise than the door's. Settle it again."
            )
        return (Part(key_of(everything(), None), ONCE, ONCE),)

    @property
    def sums(self) -> MomentSums:
        """What is read: the target first."""
        return MomentSums(self.promise.schema, (self.target, *self.columns))

    @property
    def _fine(self) -> int:
        """How many parts of a step slopes are rounded to."""
        schema = self.promise.schema
        return fineness(
            self.rows, max(one.factor * schema.coded(one.column).levels for one in self.sums.terms)
        )

    def needs(self, schema: Schema) -> Sequence[Aggregate]:  # noqa: ARG002  (it knows its schema)
        """How many rows there are, all sums of columns, and of their products two by two."""
        return [CountOf(everything()), *(one.aggregate for one in self.sums.statistics)]

    def run(self, read: Read, schema: Schema) -> bytes:
        """Read all sums at once; slopes of what is centred, and noise for what they leave over."""
        rows, *numbers = (int(one[0]) for one in read(self.needs(schema)))
        first, products = self.sums.told(numbers)
        sides = len(first)
        scatter = np.zeros((sides, sides))
        for (at, other), product in products.items():
            scatter[at, other] = scatter[other, at] = float(rows * product - first[at] * first[other])
        slopes = self._rounded(scatter)
        noise = gaussian_of(self.noise(slopes))
        exact = self._fine * first[0] - sum(slope * one for slope, one in zip(slopes, first[1:], strict=True))
        drawn = exact if noise is None else exact + int(noise.add(np.zeros(1, np.int64))[0])
        return canonical([list(slopes), str(drawn)]).encode()

    def _rounded(self, scatter: FloatArray) -> tuple[int, ...]:
        """Least-squares slopes from products of centred columns alone, in parts of a step."""
        scale = np.sqrt(np.maximum(np.diag(scatter), 1.0))
        tied = scatter / np.outer(scale, scale)
        solved = np.linalg.lstsq(tied[1:, 1:], tied[1:, 0], rcond=1e-9)[0] * scale[0] / scale[1:]
        return tuple(int(one) for one in np.rint(solved * self._fine))

    def noise(self, slopes: Sequence[int]) -> Fraction:
        """The variance of the noise that keeps every secret, for the sum that these slopes leave over."""
        steps, parts = self.sums.steps, (self._fine, *(-one for one in slopes))
        names = (self.target, *self.columns)
        weights = {name: part / step for name, part, step in zip(names, parts, steps, strict=True)}
        grain = math.gcd(*(part * term.factor for part, term in zip(parts, self.sums.terms, strict=True)))
        found = (
            whole_noise(guard.combined(weights), *self._kept(guard), grain) for guard in self.secrets.guards
        )
        return max(found)

    def output(self, drawn: bytes) -> VeiledCoefficients:
        """The slopes, and the sum that the intercept is made of."""
        slopes, total = json.loads(drawn)
        return VeiledCoefficients(tuple(slopes), int(total), self.noise(slopes))

    @property
    def words(self) -> str:
        """What it computes."""
        kept = " and ".join(one.secret.title for one in self.secrets.guards)
        return f"coefficients of {self.target} on {', '.join(self.columns)}, so that nobody can tell: {kept}"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """What has noise, before slopes are known."""
        lines = [(name, "none") for name in self.columns]
        note = (
            "Slopes have no noise: they say nothing of the mean of a column that is jointly normal with theirs. How "
            "much noise the intercept has depends on them."
        )
        return Sheet(("coefficient", "noise"), (*lines, ("intercept", "by the slopes")), (*self._notes, note))

    def shown(self, output: VeiledCoefficients) -> Sheet:
        """The coefficients, and the deviation of their noise."""
        steps, centres = self.sums.steps, self.sums.centres
        slopes = [
            Fraction(one, self._fine) * steps[0] / step
            for one, step in zip(output.slopes, steps[1:], strict=True)
        ]
        unit = steps[0] / (self._fine * self.rows)
        intercept = (
            centres[0]
            + output.total * unit
            - sum((slope * centre for slope, centre in zip(slopes, centres[1:], strict=True)), Fraction(0))
        )
        law = gaussian_of(output.variance)
        spread = (
            (0.0, 0.0)
            if law is None
            else (math.sqrt(law.variance) * float(unit), float(law.half_width(CONFIDENCE) * unit))
        )
        rows = [(name, float(slope), 0.0, 0.0) for name, slope in zip(self.columns, slopes, strict=True)]
        heads = ("coefficient", "value", "deviation of its noise", "95 % ±")
        return Sheet(heads, (*rows, ("intercept", float(intercept), *spread)), self._notes)

    @property
    def _notes(self) -> tuple[str, ...]:
        said = [
            f"An observer cannot tell {one.secret.words}. Their odds change by a factor of at most "
            f"{math.exp(float(one.secret.epsilon)):.4g}{but_for(one.secret.delta)}."
            for one in self.secrets.guards
        ]
        return (FIRST_LINE, *said)
