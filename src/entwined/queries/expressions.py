"""Conditions as Python expressions: `(col("age") > 20) & col("sex").isin(["m", "f"])`.

An expression knows no schema yet. With one it becomes the same set of rows as its text would: both go through
`conditions`, so values are those of the public grid and a comparison with a missing value is unknown.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, or_
from typing import Final, Literal, NoReturn, TypeAlias

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.conditions import Condition, among, between, compare, is_missing
from entwined.queries.parser import DEEPEST, MOST_TESTS
from entwined.queries.predicate import Predicate
from entwined.queries.tokens import WORDS
from entwined.schema import Schema
from entwined.schema.exact import exact_number, number_text
from entwined.schema.raw import is_text

Constant: TypeAlias = bool | int | float | Fraction | Decimal | str | date | datetime
Sign: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]

PLAIN: Final = re.compile(r"[^\W\d]\w*")
NO_TRUTH: Final = (
    "An expression is neither true nor false before it meets rows. Write (a) & (b) for and, (a) | (b) for or, ~(a) "
    'for not, and col("age").between(3, 5) for 3 <= age <= 5.'
)
BRACKETS: Final = (
    'Compare each column first, and put brackets around it: (col("age") > 20) & (col("member") == True).'
)


class Expression(ABC):
    """A condition that has met no schema.

    >>> from entwined.schema import Categorical, Integer
    >>> people = Schema((Integer("age", 0, 120), Categorical("sex", ("m", "f"))))
    >>> adults = (col("age") > 20) & ~(col("sex") == "f")
    >>> str(adults), adults.bind(people).text
    ("age > 20 and not sex = 'f'", '"age" in 21..120 of 122 and "sex" in 0 of 3')
    """

    __slots__ = ()
    tests: int
    """How many comparisons it is made of."""
    depth: int
    """How many brackets deep its text is."""

    @abstractmethod
    def condition(self, schema: Schema) -> Condition:
        """Say where it is true and where it is false, under a schema."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The condition as it is written in a release file."""

    def bind(self, schema: Schema) -> Predicate:
        """Give the rows where it is true."""
        return self.condition(schema).true

    def __and__(self, other: object) -> "Expression":
        """Be true where both are."""
        return Joined("and", (*_parts(self, "and"), *_parts(_expression(other), "and")))

    __rand__ = __and__

    def __or__(self, other: object) -> "Expression":
        """Be true where at least one is."""
        return Joined("or", (*_parts(self, "or"), *_parts(_expression(other), "or")))

    __ror__ = __or__

    def __invert__(self) -> "Expression":
        """Be true where it was false; what was unknown stays unknown."""
        return Negated(self)

    def __bool__(self) -> NoReturn:
        raise BadQuery(NO_TRUTH)

    def __str__(self) -> str:
        """Show it as text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Compared(Expression):
    """A column against a constant."""

    column: str
    sign: Sign
    constant: Constant
    tests: int = field(default=1, init=False)
    depth: int = field(default=0, init=False)

    def condition(self, schema: Schema) -> Condition:
        """Compare on the public grid."""
        return compare(schema.comparable(self.column), self.sign, self.constant)

    @property
    def text(self) -> str:
        """The comparison."""
        return f"{_name(self.column)} {self.sign} {_written(self.constant)}"


@dataclass(frozen=True, slots=True)
class Among(Expression):
    """A column's value is one of several."""

    column: str
    constants: tuple[Constant, ...]
    tests: int = field(default=1, init=False)
    depth: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not self.constants:
            raise BadQuery(f"Column {self.column!r} is to be one of no values. Give at least one.")

    def condition(self, schema: Schema) -> Condition:
        """Look the values up on the public grid."""
        return among(schema.comparable(self.column), self.constants)

    @property
    def text(self) -> str:
        """The list."""
        return f"{_name(self.column)} in ({', '.join(map(_written, self.constants))})"


@dataclass(frozen=True, slots=True)
class Within(Expression):
    """A column's value lies between two constants, both included."""

    column: str
    low: Constant
    high: Constant
    tests: int = field(default=1, init=False)
    depth: int = field(default=0, init=False)

    def condition(self, schema: Schema) -> Condition:
        """Compare twice on the public grid."""
        return between(schema.comparable(self.column), self.low, self.high)

    @property
    def text(self) -> str:
        """The range."""
        return f"{_name(self.column)} between {_written(self.low)} and {_written(self.high)}"


@dataclass(frozen=True, slots=True)
class IsMissing(Expression):
    """A column's value is missing."""

    column: str
    tests: int = field(default=1, init=False)
    depth: int = field(default=0, init=False)

    def condition(self, schema: Schema) -> Condition:
        """Look at the code for missing; this is never unknown."""
        return is_missing(schema.comparable(self.column))

    @property
    def text(self) -> str:
        """The test in SQL's words."""
        return f"{_name(self.column)} is null"


@dataclass(frozen=True, slots=True)
class Joined(Expression):
    """Several conditions, all of which or one of which must be true."""

    how: Literal["and", "or"]
    parts: tuple[Expression, ...]
    tests: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tests", sum(part.tests for part in self.parts))
        object.__setattr__(self, "depth", 1 + max(part.depth for part in self.parts))
        _refuse_many(self)

    def condition(self, schema: Schema) -> Condition:
        """Join the parts."""
        return reduce(and_ if self.how == "and" else or_, (part.condition(schema) for part in self.parts))

    @property
    def text(self) -> str:
        """The parts, those that are joined themselves in brackets."""
        return f" {self.how} ".join(_bracketed(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Negated(Expression):
    """The opposite of a condition."""

    part: Expression
    tests: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tests", self.part.tests)
        object.__setattr__(self, "depth", 1 + self.part.depth)
        _refuse_many(self)

    def condition(self, schema: Schema) -> Condition:
        """Swap true and false."""
        return ~self.part.condition(schema)

    @property
    def text(self) -> str:
        """The condition after NOT."""
        return f"not {_bracketed(self.part)}"


@dataclass(frozen=True, slots=True, eq=False)
class Col:
    """A column by its name, to be compared with constants."""

    name: str

    def __post_init__(self) -> None:
        if not is_text(self.name) or not self.name:
            raise BadQuery(f"A column called {self.name!r}. Give its name as text.")

    def __eq__(self, constant: object) -> Expression:  # type: ignore[override]  # a comparison is a condition here
        return Compared(self.name, "=", _constant(constant))

    def __ne__(self, constant: object) -> Expression:  # type: ignore[override]
        return Compared(self.name, "<>", _constant(constant))

    def __lt__(self, constant: object) -> Expression:
        return Compared(self.name, "<", _constant(constant))

    def __le__(self, constant: object) -> Expression:
        return Compared(self.name, "<=", _constant(constant))

    def __gt__(self, constant: object) -> Expression:
        return Compared(self.name, ">", _constant(constant))

    def __ge__(self, constant: object) -> Expression:
        return Compared(self.name, ">=", _constant(constant))

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> NoReturn:
        raise BadQuery(NO_TRUTH)

    def _joined(self, other: object) -> NoReturn:
        raise BadQuery(f"The column {self.name!r} stands beside & or | and {other!r:.60}. {BRACKETS}")

    __and__ = __rand__ = __or__ = __ror__ = _joined

    def __invert__(self) -> NoReturn:
        raise BadQuery(f"The column {self.name!r} stands after ~. {BRACKETS}")

    def isin(self, constants: Iterable[object]) -> Expression:
        """Say that the value is one of these."""
        if isinstance(constants, str):
            raise BadQuery(f"isin({constants!r:.60}) is one text. Give a list of values.")
        return Among(self.name, tuple(map(_constant, constants)))

    def between(self, low: object, high: object) -> Expression:
        """Say that the value lies between two constants, both included."""
        return Within(self.name, _constant(low), _constant(high))

    def is_missing(self) -> Expression:
        """Say that the value is missing."""
        return IsMissing(self.name)


def col(name: str) -> Col:
    """Name a column, to be compared with constants."""
    return Col(name)


def _constant(given: object) -> Constant:
    if isinstance(given, bool | str | date | datetime):
        return given
    if exact_number(given) is None:
        raise BadQuery(
            f"A column is compared with {given!r:.60}, which is no constant. Give a number, a text, a date, True or "
            "False; for missing values write is_missing()."
        )
    return given  # type: ignore[return-value]  # numbers of these types alone are exact


def _expression(given: object) -> Expression:
    if not isinstance(given, Expression):
        raise BadQuery(f"{given!r:.60} is no condition. {BRACKETS}")
    return given


def _parts(given: Expression, how: str) -> tuple[Expression, ...]:
    return given.parts if isinstance(given, Joined) and given.how == how else (given,)


def _refuse_many(given: Expression) -> None:
    if given.tests > MOST_TESTS:
        raise QueryTooComplex(f"A condition of {given.tests} comparisons, over {MOST_TESTS}. Use isin([…]).")
    if given.depth > DEEPEST:
        raise QueryTooComplex(f"A condition {given.depth} brackets deep, over {DEEPEST}. Ask a simpler one.")


def _bracketed(part: Expression) -> str:
    return f"({part.text})" if isinstance(part, Joined) else part.text


def _name(column: str) -> str:
    plain = PLAIN.fullmatch(column) and column.lower() not in WORDS
    return column if plain else '"' + column.replace('"', '""') + '"'


def _written(constant: Constant) -> str:
    if isinstance(constant, bool):
        return "true" if constant else "false"
    if isinstance(constant, datetime):
        return f"'{constant.isoformat(sep=' ')}'"
    if isinstance(constant, date):
        return f"'{constant.isoformat()}'"
    if isinstance(constant, str):
        return "'" + constant.replace("'", "''") + "'"
    text = number_text(Fraction(exact_number(constant) or 0))
    return f"'{text}'" if "/" in text else text
