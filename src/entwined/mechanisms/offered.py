"""Mechanisms that are asked for by name: in a release file, in Python, on the command line."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from entwined.door.mechanism import Mechanism
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import fitted_parts
from entwined.mechanisms.sheet import Sheet
from entwined.numbers import Amount
from entwined.promise.promise import Promise
from entwined.schema.raw import is_text

Made = TypeVar("Made", bound="Offered")


@runtime_checkable
class Offered(Mechanism[Any], Protocol):
    """A mechanism that people ask for: read from the fields of a file, shown before and after it ran."""

    kind: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    """What a release file says of it, beside kind, name, leakage and loss."""

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file for a loss in the promise's measure; refuse whatever is wrong.

        Its parts have to grow in proportion to that loss.
        """

    @property
    def words(self) -> str:
        """What it computes, in a sentence without its end."""

    def expected(self, rows: int | None = None) -> Sheet:
        """What noise and errors to expect, without a row; of about so many rows, if that is known."""

    def shown(self, output: Any) -> Sheet:
        """What came out, for people and programs."""


def require_columns(given: Mapping[str, Any]) -> None:
    """Refuse columns that are no list of names, whatever mechanism they are for."""
    columns = given.get("columns", ())
    if not is_text(columns) and not (isinstance(columns, list | tuple) and all(map(is_text, columns))):
        raise BadQuery(f'columns = {columns!r:.60}. Give a list of columns\' names, such as ["age", "sex"].')


def settled(
    kind: type[Made],
    promise: Promise,
    given: Mapping[str, Any],
    *,
    leakage: Amount | None = None,
    loss: Amount | None = None,
) -> Made:
    """Settle a mechanism from the fields of a file, with the most that a leakage or a nominal ε allows."""
    require_columns(given)
    make = kind.maker(promise, given)
    each, _, _ = fitted_parts(promise, lambda one: make(one).parts(promise), leakage, loss)
    return make(each)
