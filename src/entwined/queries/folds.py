"""Folds: a public function of each row's codes, added up over the rows inside."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import Codes, IntArray
from entwined.queries.aggregates import Aggregate, Asking, Made
from entwined.queries.placed_numbers import Placed, PlacedNumbers
from entwined.queries.predicate import Predicate
from entwined.queries.row_numbers import RowNumbers, only_seen, together, within
from entwined.queries.sensitivity import Sensitivity
from entwined.schema.raw import is_whole

MOST_FOLDED: Final = 2**20  # integers a row
END: Final = 2**63
NO_VECTORS: Final = "The function of a fold gave no 64-bit integers, one row of them for every row of codes."

Function: TypeAlias = Callable[[Any], IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class FoldOf(Aggregate):
    """The sum over the rows inside of a public function of each row's codes, a vector of bounded integers.

    `function` is given codes, rows × `columns`, missing as the code behind the last, and gives rows × cells, both
    64-bit integers; what it says of a row may depend on nothing but that row's codes. Every number of a row is cut
    to its bounds, `least` to `most`, whatever the function says. With `together`, a row whose numbers, signs left
    out, add up to more than that adds nothing. With several `groups` a row's numbers are added up in one of them: the
    function gives its number, from 0, before the others, and a row of any other group adds nothing. With `adds_codes`
    it gives nothing else, the numbers of a row are 1 and its codes, and it is given these in integers of any width.
    With `placed` each of these is one of the row's numbers, added up in the cell of that row's codes in some columns;
    codes are given in integers of any width then too.
    """

    columns: tuple[str, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    function: Function
    where: Predicate
    together: int | None = None
    groups: int = 1
    adds_codes: bool = False
    placed: tuple[Placed, ...] = ()
    _ends: tuple[IntArray, IntArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("columns", "least", "most"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise BadQuery(f"A fold reads the columns {list(self.columns)}. Name at least one, each once.")
        if not 1 <= len(self.least) == len(self.most) <= MOST_FOLDED:
            raise BadQuery(
                f"A fold has {len(self.least):,} least and {len(self.most):,} most numbers. Give one of each for every "
                f"number of its vector, 1 to {MOST_FOLDED:,}."
            )
        if not is_whole(self.groups) or not 1 <= self.groups <= MOST_FOLDED // len(self.least):
            raise BadQuery(
                f"A fold has groups = {self.groups!r:.60}. Give 1, or more as long as there are {MOST_FOLDED:,} sums."
            )
        for least, most in zip(self.least, self.most, strict=True):
            if not (is_whole(least) and is_whole(most) and -END < least <= most < END):
                raise BadQuery(f"A number of a fold is from {least!r} to {most!r}. Give integers below 2^63.")
        if self.together is not None and not (is_whole(self.together) and 0 <= self.together < END):
            raise BadQuery(
                f"together = {self.together!r}. Give an integer from 0 to 2^63 − 1, or leave it out."
            )
        self._check_ways()
        if not callable(self.function):
            raise BadQuery("The function of a fold cannot be called. Give a function from codes to integers.")
        object.__setattr__(self, "_ends", (np.array(self.least, np.int64), np.array(self.most, np.int64)))

    def _check_ways(self) -> None:
        """Refuse ways to add up that do not go together."""
        plain = self.together is None and not any(self.least) and len(self.least) == 1 + len(self.columns)
        if self.adds_codes and not plain:
            raise BadQuery(
                "A fold that adds codes has other numbers than 1 and its codes. Leave their bounds alone."
            )
        if self.placed and (self.groups > 1 or self.adds_codes or self.together is not None):
            raise BadQuery(
                "A fold that places numbers by codes has groups or a bound on all. Leave these out."
            )
        if not all(self._is_placed(one) for one in self.placed):
            raise BadQuery(
                "A fold places a number that it has not, or by a column that it does not read. Name both."
            )

    @property
    def cells(self) -> int:
        """One integer a number of the vector, in each group or cell."""
        if self.placed:
            return sum(one.cells for one in self.placed)
        return len(self.least) * self.groups

    def _is_placed(self, one: Placed) -> bool:
        known = 0 <= one.number < len(self.least) and set(one.columns) <= set(self.columns)
        return known and len(one.columns) == len(one.sizes)

    @property
    def given(self) -> int:
        """How many numbers the function gives of a row."""
        return 1 if self.adds_codes else len(self.least) + (self.groups > 1)

    @property
    def is_foreign(self) -> bool:
        """Whether its function may be anybody's, of which nothing is known: it is given a copy of the codes."""
        return not (self.adds_codes or self.placed)

    @property
    def values(self) -> frozenset[str]:
        """The columns that the function is given."""
        return frozenset(self.columns)

    @property
    def largest(self) -> int:
        """The most that a row can move one number by."""
        widest = max(*map(abs, self.least), *map(abs, self.most))
        return widest if self.together is None else min(widest, self.together)

    @property
    def row(self) -> Sensitivity:
        """How far one row can move all numbers together, whatever the function says."""
        one = self._apart if self.together is None else min(self._apart, self.together)
        if self.placed:  # it may leave one cell for another
            return Sensitivity(Fraction(one), Fraction(sum(map(self._replaced, self.placed))))
        stays = sum(self.most) - sum(self.least)
        if self.together is None and self.groups == 1:
            return Sensitivity(Fraction(one), Fraction(stays))
        if self.groups > 1:  # it may leave one group for another, or for none
            return Sensitivity(Fraction(one), Fraction(2 * one))
        both = sum(max(most, 0) for most in self.most) - sum(min(least, 0) for least in self.least)
        return Sensitivity(Fraction(one), Fraction(min(both, 2 * one)))

    @property
    def _apart(self) -> int:
        """What a row's numbers add up to at most by their own bounds, signs left out."""
        each = [max(abs(least), abs(most)) for least, most in zip(self.least, self.most, strict=True)]
        return sum(each[one.number] for one in self.placed) if self.placed else sum(each)

    def _replaced(self, one: Placed) -> int:
        """How far a row that changes moves a table of one of its numbers at most."""
        least, most = self.least[one.number], self.most[one.number]
        return 2 * max(abs(least), abs(most)) if one.columns else most - least

    def vectors(self, codes: Codes) -> IntArray:
        """Give what each row adds, within its bounds; a ValueError in words of our own if the function does not."""
        return self._numbers(codes).vectors

    def sums(self, codes: Codes, exact: type) -> IntArray:
        """Add up what rows add, in numbers of a type that holds the sums; a ValueError as `vectors` has it."""
        return self._numbers(codes).sums(exact)

    def said(self, codes: Codes) -> IntArray:
        """Give what the function says of rows, before it is cut; a ValueError as `vectors` has it."""
        found = self._called(codes)
        if found is None or found.dtype != np.int64 or found.shape != (len(codes), self.given):
            raise ValueError(NO_VECTORS)
        return found

    def _numbers(self, codes: Codes) -> RowNumbers | PlacedNumbers:
        found = self.said(codes)
        if self.adds_codes:
            return RowNumbers(codes, found[:, 0], self.groups, counts=True)
        group, numbers = (found[:, 0], found[:, 1:]) if self.groups > 1 else (None, found)
        cut = within(numbers, *self._ends)
        if self.placed:
            return PlacedNumbers(cut, codes, self.columns, self.placed)
        if self.together is not None and self.together < self._apart:
            cut = together(cut, self.together, object if self._apart >= END else np.int64)
        return RowNumbers(cut, group, self.groups)

    def _called(self, codes: Codes) -> IntArray | None:
        try:
            with np.errstate(all="ignore"):
                given = codes.astype(np.int64, order="C") if self.is_foreign else only_seen(codes)
                found: object = self.function(given)
        except Exception:  # noqa: BLE001  (whatever it is, its words may come from private rows)
            return None
        return np.asarray(found) if isinstance(found, np.ndarray) else None

    def asked_of(self, engine: Asking[Made]) -> Made:
        """Have it folded."""
        return engine.fold(self)
