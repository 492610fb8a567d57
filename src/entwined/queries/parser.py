"""Conditions from text, in the words of a SQL WHERE and nothing more."""

from typing import Final

from entwined.queries.conditions import SIGNS, Condition, among, between, compare, is_missing, time_constant
from entwined.queries.predicate import Predicate
from entwined.queries.tokens import Token, placed, tokens, wrong
from entwined.schema import Boolean, Comparable, Schema

TIMES: Final = ("DATE", "TIMESTAMP")
DEEPEST: Final = 50
MOST_TESTS: Final = 1000


def parse(text: str, schema: Schema) -> Predicate:
    """Read a condition and give the rows where it is true.

    >>> from entwined.schema import Categorical, Integer
    >>> schema = Schema((Integer("age", 0, 120), Categorical("sex", ("m", "f"))))
    >>> parse("not (age <= 20 or sex = 'f')", schema) == parse("sex in ('m') and age > 20", schema)
    True
    """
    return _Parser(text, schema).whole().true


class _Parser:
    """Reads one text from left to right: OR of ANDs of NOTs of tests and brackets."""

    def __init__(self, text: str, schema: Schema) -> None:
        self._schema = schema
        self._tokens = tuple(tokens(text))
        self._at = 0
        self._depth = 0
        self._tests = 0

    def whole(self) -> Condition:
        condition = self._any()
        if self._next.kind != "end":
            raise self._unexpected("and, or, or the end")
        return condition

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, kind: str, value: str) -> bool:
        taken = self._next.kind == kind and self._next.value == value
        self._at += taken
        return taken

    def _need(self, kind: str, value: str) -> None:
        if not self._take(kind, value):
            raise self._unexpected(value)

    def _unexpected(self, wanted: str) -> Exception:
        return wrong(self._next.place, f"{str(self._next.value)[:50]!r} stands where {wanted} is wanted")

    def _any(self) -> Condition:
        condition = self._all()
        while self._take("word", "or"):
            condition |= self._all()
        return condition

    def _all(self) -> Condition:
        condition = self._negated()
        while self._take("word", "and"):
            condition &= self._negated()
        return condition

    def _negated(self) -> Condition:
        negated = False
        while self._take("word", "not"):
            negated = not negated
        condition = self._bracket() if self._take("sign", "(") else self._test()
        return ~condition if negated else condition

    def _bracket(self) -> Condition:
        self._depth += 1
        if self._depth > DEEPEST:
            raise wrong(self._next.place, f"brackets are more than {DEEPEST} deep")
        condition = self._any()
        self._need("sign", ")")
        self._depth -= 1
        return condition

    def _test(self) -> Condition:
        self._tests += 1
        if self._tests > MOST_TESTS:
            raise wrong(self._next.place, f"there are more than {MOST_TESTS} comparisons; use IN (…)")
        column = self._column()
        place = self._next.place
        if self._next.kind == "sign" and self._next.value in SIGNS:
            sign = str(self._next.value)
            self._at += 1
            constant = self._constant()
            return placed(place, lambda: compare(column, sign, constant))
        if self._take("word", "is"):
            return self._is(column)
        negated = self._take("word", "not")
        if self._take("word", "in"):
            constants = self._list()
            condition = placed(place, lambda: among(column, constants))
        elif self._take("word", "between"):
            low = self._constant()
            self._need("word", "and")
            high = self._constant()
            condition = placed(place, lambda: between(column, low, high))
        elif isinstance(column, Boolean) and not negated:
            condition = compare(column, "=", constant=True)
        else:
            raise self._unexpected("a comparison, in, between or is null")
        return ~condition if negated else condition

    def _column(self) -> Comparable:
        if self._next.kind != "name":
            raise self._unexpected("a column's name")
        found = self._next
        self._at += 1
        return placed(found.place, lambda: self._schema.comparable(str(found.value)))

    def _is(self, column: Comparable) -> Condition:
        negated = self._take("word", "not")
        if not self._take("word", "null"):
            raise self._unexpected("null")
        missing = is_missing(column)
        return ~missing if negated else missing

    def _list(self) -> list[object]:
        self._need("sign", "(")
        constants = [self._constant()]
        while self._take("sign", ","):
            constants.append(self._constant())
        self._need("sign", ")")
        return constants

    def _constant(self) -> object:
        found = self._next
        if found.kind == "word" and found.value in ("true", "false"):
            self._at += 1
            return found.value == "true"
        if found.kind == "name" and str(found.value).upper() in TIMES:
            return self._time(str(found.value).upper())
        if found.kind not in ("number", "text"):
            raise self._unexpected("a number, a text in '…', true or false")
        self._at += 1
        return found.value

    def _time(self, kind: str) -> object:
        """Read DATE '…' or TIMESTAMP '…' as SQL writes them."""
        self._at += 1
        text = self._next
        found = time_constant(kind, str(text.value)) if text.kind == "text" else None
        if found is None:
            raise self._unexpected("'2020-01-31' after DATE, or '2020-01-31 12:00:00' after TIMESTAMP,")
        self._at += 1
        return found
