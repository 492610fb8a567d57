"""What every column has in common: a name, a public finite set of codes, and one code for missing."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from entwined.canonical import Document, canonical
from entwined.errors import BadQuery, BadSchema
from entwined.schema.raw import number_not_text, number_of, text_of

Missing: TypeAlias = Literal["value", "drop", "never"]
Outside: TypeAlias = Literal["clamp", "missing"]
Value: TypeAlias = object

LONGEST_NAME: Final = 1000


@dataclass(frozen=True)
class Column(ABC):
    """A column as the holder declares it; nothing about it is ever read from rows at query time."""

    name: str
    label: str = field(default="", kw_only=True)
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        checked_text(self.name, "A column's name", LONGEST_NAME)
        if not self.name:
            raise BadSchema("A column has an empty name. Name every column.")
        checked_text(self.label, f"The label of column {self.name!r}", 100 * LONGEST_NAME)

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return {"name": self.name, "type": self.kind} | ({"label": self.label} if self.label else {})


@dataclass(frozen=True)
class Coded(Column):
    """A column whose raw values become codes 0 … levels−1, and `levels` itself for missing.

    `missing` says what a table of counts does with missing values: "value" gives them a cell, "drop" leaves
    their rows out, and by "never" no row has one. `missing_codes` are raw values that stand for missing, as survey
    files have them. `not_asked` are the values of those who were not asked (structural missing), `no_answer` of those
    who gave no answer (item non-response), "" for missing itself: shares are of those who were asked, or answered. What
    a `public` column says is no secret: with unit cells it is not protected, and reading it costs nothing.
    """

    missing: Missing = field(default="value", kw_only=True)
    missing_codes: tuple[str, ...] = field(default=(), kw_only=True)
    not_asked: tuple[str, ...] = field(default=(), kw_only=True)
    no_answer: tuple[str, ...] = field(default=(), kw_only=True)
    public: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing not in get_args(Missing):
            raise BadSchema(
                f'Column {self.name!r}: missing = {self.missing!r}. Give "value", "drop" or "never".'
            )
        checked_texts(self.missing_codes, f"A missing code of column {self.name!r}")
        checked_texts(self.not_asked, f"A value of column {self.name!r} for those not asked")
        checked_texts(self.no_answer, f"A value of column {self.name!r} for no answer")
        if not isinstance(self.public, bool):
            raise BadSchema(f"Column {self.name!r}: public = {self.public!r}. Give true or false.")

    @property
    @abstractmethod
    def levels(self) -> int:
        """How many codes stand for values."""

    @property
    def size(self) -> int:
        """How many codes there are, the one for missing included."""
        return self.levels + 1

    @property
    def missing_code(self) -> int:
        """The last code, for missing."""
        return self.levels

    @property
    def read(self) -> str:
        """The column that a condition on it reads: itself."""
        return self.name

    @property
    def declared_mean(self) -> Fraction | None:
        """The mean of the values as far as it is declared; columns without numbers have none."""
        return None

    @property
    def has_order(self) -> bool:
        """Whether one value can be above another."""
        return False

    def codes(self, low: int, high: int) -> tuple[int, int]:
        """Give the codes of the values from one place to another: these places."""
        return low, high

    def encode(self, raw: object) -> int:
        """Give the code of any raw value whatever; this is what every engine must agree with."""
        if raw is None or self._stands_for_missing(raw):
            return self.missing_code
        return self._code(raw)

    @property
    def not_asked_codes(self) -> frozenset[int]:
        """The codes of those who were not asked."""
        return frozenset(map(self._code_of_missing, self.not_asked))

    @property
    def unanswered_codes(self) -> frozenset[int]:
        """The codes of those who were not asked or gave no answer; of nobody's where the column tells neither."""
        if not self.no_answer:
            return self.not_asked_codes
        return self.not_asked_codes.union(map(self._code_of_missing, self.no_answer), {self.missing_code})

    def _code_of_missing(self, text: str) -> int:
        """Give the code of a kind of missing: a declared value, or missing itself."""
        code = self._declared_code(text) if text else None
        return self.missing_code if code is None else code

    def _declared_code(self, text: str) -> int | None:  # noqa: ARG002  (most columns have no declared texts)
        """Give the code of a declared text."""
        return None

    def _check_kinds_of_missing(self) -> None:
        """Refuse kinds of missing that are no values, or that are two at once."""
        for text in (*self.not_asked, *self.no_answer):
            if text and self._declared_code(text) is None:
                raise BadSchema(
                    f"Column {self.name!r} has {text!r:.60} in not_asked or no_answer, which is none of its values. "
                    'Declare it as one, or give "" for missing.'
                )
            if text in self.not_asked and text in self.no_answer:
                raise BadSchema(
                    f"Column {self.name!r} has {text!r:.60} in both not_asked and no_answer. Keep it in one list."
                )

    @abstractmethod
    def _code(self, raw: object) -> int:
        """Give the code of a raw value that is there."""

    def _stands_for_missing(self, raw: object) -> bool:
        return text_of(raw) in self.missing_codes or number_not_text(raw) in self._missing_numbers

    @cached_property
    def _missing_numbers(self) -> frozenset[float]:
        return frozenset(number for text in self.missing_codes if (number := number_of(text)) is not None)

    def value(self, code: int) -> Value:
        """Give the public value that a code stands for; None for missing."""
        return None if code == self.missing_code else self._value(code)

    @abstractmethod
    def _value(self, code: int) -> Value:
        """Give the value of a code that is not missing."""

    @abstractmethod
    def position(self, constant: object) -> Fraction:
        """Say exactly where a constant of a condition lies among the codes, perhaps between two of them."""

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        codes = {"missing_codes": list(self.missing_codes)} if self.missing_codes else {}
        kinds = {"not_asked": list(self.not_asked), "no_answer": list(self.no_answer)}
        public = {"public": True} if self.public else {}
        return (
            super().document
            | {"missing": self.missing}
            | codes
            | {kind: texts for kind, texts in kinds.items() if texts}
            | public
        )

    def wrong(self, constant: object, wanted: str) -> BadQuery:
        """Say that a constant does not belong to this column."""
        return BadQuery(f"Column {self.name!r} is compared with {constant!r}. Give {wanted}.")


def checked_texts(given: object, what: str) -> None:
    """Refuse what is not a tuple of texts."""
    if not isinstance(given, tuple):
        raise BadSchema(f"{what} is sought in {given!r}. Give a tuple of texts.")
    for text in given:
        checked_text(text, what, 100 * LONGEST_NAME)


def checked_text(given: object, what: str, longest: int) -> str:
    """Refuse what is not text that every engine can hold."""
    if not isinstance(given, str):
        raise BadSchema(f"{what} is {given!r}. Give a text.")
    if len(given) > longest:
        raise BadSchema(f"{what} has {len(given)} characters; the most is {longest}. Shorten it.")
    if "\0" in given or not _is_utf8(given):
        raise BadSchema(
            f"{what}, {given!r}, has a zero or half a surrogate pair. Give text that UTF-8 can hold."
        )
    return given


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def alike(column: Column) -> str:
    """Say how a column is declared, but for what it is called: two with the same words name things alike."""
    return canonical({key: value for key, value in column.document.items() if key not in ("name", "label")})
