"""Columns without a grid: declared categories, truth values, free text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Literal, get_args

from entwined.canonical import Document
from entwined.errors import BadSchema
from entwined.schema.column import Coded, Column, checked_texts
from entwined.schema.comparison import WORDS, Compare, form, spelled
from entwined.schema.raw import number_not_text, number_of, text_of

MOST_VALUES: Final = 10_000_000
TRUTHS: Final[Mapping[str, int]] = {"false": 0, "true": 1, "0": 0, "1": 1}


@dataclass(frozen=True)
class Categorical(Coded):
    """A list of declared texts, compared letter by letter; whatever else is found is missing.

    A raw number is the first declared value whose text is that number (survey files hold 1.0 for "1").
    """

    values: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"column {self.name!r}"
        checked_texts(self.values, f"A value of {where}")
        checked_texts(self.labels, f"A label of {where}")
        if not 1 <= len(self.values) <= MOST_VALUES:
            raise BadSchema(
                f"Categorical {where} has {len(self.values)} values. Declare 1 to {MOST_VALUES:,}."
            )
        if len(self._codes) < len(self.values):
            twice = next(text for at, text in enumerate(self.values) if self._codes[text] != at)
            raise BadSchema(f"Categorical {where} declares {twice!r} twice. Keep one of them.")
        if self.labels and len(self.labels) != len(self.values):
            raise BadSchema(
                f"Categorical {where} has {len(self.values)} values and {len(self.labels)} labels. "
                "Give one label a value, or none."
            )
        self._check_kinds_of_missing()

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.values)}

    @cached_property
    def _numbers(self) -> dict[float, int]:
        pairs = ((number_of(text), code) for code, text in reversed(list(enumerate(self.values))))
        return {number: code for number, code in pairs if number is not None}

    @property
    def levels(self) -> int:
        """How many values are declared."""
        return len(self.values)

    def _code(self, raw: object) -> int:
        text = text_of(raw)
        if text is not None:
            return self._codes.get(text, self.missing_code)
        number = number_not_text(raw)
        return self.missing_code if number is None else self._numbers.get(number, self.missing_code)

    def _value(self, code: int) -> str:
        return self.values[code]

    def _declared_code(self, text: str) -> int | None:
        return self._codes.get(text)

    def position(self, constant: object) -> Fraction:
        """Give the code of a declared value."""
        code = self._codes.get(constant) if isinstance(constant, str) else None
        if code is None:
            shown = ", ".join(f"'{text}'" for text in self.values[:10]) + (", …" if self.levels > 10 else "")  # noqa: PLR2004  (enough to see)
            raise self.wrong(constant, f"a declared value: {shown}")
        return Fraction(code)

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        labels = {"labels": list(self.labels)} if self.labels else {}
        return super().document | {"values": list(self.values)} | labels


@dataclass(frozen=True)
class Boolean(Coded):
    """False and true, the numbers 0 and 1, or the texts false, true, 0, 1 in any case; else missing."""

    kind: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_kinds_of_missing()

    @property
    def levels(self) -> int:
        """False and true."""
        return 2

    def _code(self, raw: object) -> int:
        text = text_of(raw)
        if text is not None:
            return TRUTHS.get(text.lower(), self.missing_code) if text.isascii() else self.missing_code
        number = number_not_text(raw)
        return int(number) if number in (0.0, 1.0) else self.missing_code

    def _value(self, code: int) -> bool:
        return code == 1

    def position(self, constant: object) -> Fraction:
        """Give the code of true or false."""
        if not isinstance(constant, bool):
            raise self.wrong(constant, "true or false")
        return Fraction(int(constant))


@dataclass(frozen=True)
class Text(Column):
    """Free text or an identifier: it may be described, never queried.

    One that says which rows belong together must say with `compare` when two texts are the same: "exact" takes letters
    as they are, "loose" leaves out what differs by how an id was typed. Spaces at the ends never count.

    >>> Text("id", compare="loose").form("  A  07 "), Text("id", compare="exact").form("  A  07 ")
    ('a 07', 'A  07')
    """

    compare: Compare | Literal[""] = field(default="", kw_only=True)
    kind: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compare not in ("", *get_args(Compare)):
            raise BadSchema(f'Column {self.name!r}: compare = {self.compare!r}. Give "exact" or "loose".')

    def form(self, raw: object) -> str | None:
        """Give what is compared of a raw value, in which every engine must agree; None if it names nobody."""
        text = spelled(raw)
        return None if text is None else form(text, self.compare or "exact")

    @property
    def words(self) -> str:
        """What has to be believed of its values where they say which rows belong together."""
        return WORDS.get(self.compare, "")

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return super().document | ({"compare": self.compare} if self.compare else {})
