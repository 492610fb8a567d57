"""The fields of a model document, each read as the type it must have or refused by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeVar

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.model import Source, checked_source
from entwined.dependence.nested import Naming, shown
from entwined.errors import BadModel
from entwined.numbers import FloatArray

COMMON: Final = ("kind", "source")
LARGEST_INTEGER: Final = 10**18

Field = TypeVar("Field")


@dataclass(frozen=True, slots=True)
class Fields:
    """A document, the model it stands for known by its kind."""

    values: Document

    @property
    def kind(self) -> str:
        """The kind of model that the document says it is."""
        return self.text("kind")

    @property
    def source(self) -> Source:
        """Where the model comes from; declared unless it says otherwise."""
        return checked_source(self.text("source")) if self.has("source") else "declared"

    def only(self, *names: str) -> "Fields":
        """Refuse fields that a model of this kind does not have."""
        refuse_unknown(self.values, (*COMMON, *names), f"A {self.kind} model")
        return self

    def has(self, name: str) -> bool:
        """Whether the document gives this field."""
        return name in self.values

    def given(self, name: str, called: str) -> Any:
        """Read a field of any type."""
        if name not in self.values:
            raise BadModel(f'The model has no "{name}". Add it: {called}.')
        return self.values[name]

    def typed(self, name: str, wanted: type[Field], called: str) -> Field:
        """Read a field of one type; true and false are no numbers."""
        value = self.given(name, called)
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise BadModel(f'"{name}" is {shown(value)}. Give {called}.')
        return value

    def text(self, name: str) -> str:
        """Read a string."""
        return self.typed(name, str, "a string")

    def integer(self, name: str) -> int:
        """Read a whole number of a size that a machine can count to."""
        value = self.typed(name, int, "a whole number")
        if abs(value) > LARGEST_INTEGER:
            raise BadModel(f'"{name}" is an integer of more than 18 digits. Give a smaller one.')
        return value

    def entries(self, name: str, called: str) -> list[Any]:
        """Read a list."""
        return self.typed(name, list, called)

    def members(self, name: str, called: str) -> Document:
        """Read an object."""
        return self.typed(name, dict, called)

    def table(self, name: str, depth: int) -> Box:
        """Read nested lists of numbers and pairs [low, high]; at depth 0 a single one."""
        called = ("a number", "a list of numbers", "lists of numbers", "tables of numbers")[depth]
        return Box.read(self.given(name, called), depth, f'"{name}"')

    def vector(self, name: str) -> FloatArray:
        """Read a list of numbers that are known exactly."""
        box = self.table(name, 1)
        if not box.is_exact:
            raise BadModel(f'"{name}" has an interval, which has no meaning here. Give numbers.')
        return box.low


def columns(entries: list[Any], names: tuple[str, ...], what: str) -> list[list[Any]]:
    """Turn objects that have the same fields into one list a field."""

    def called(place: int) -> str:
        entry = entries[place]
        name = entry.get("name") if isinstance(entry, dict) else None
        return f"{what} {name!r:.60}" if isinstance(name, str) else f"{what} {place + 1}"

    refuse_types(entries, dict, called, f"an object with {listed(names)}")
    wanted = set(names)
    for found in set(map(tuple, entries)):  # a tuple of a dict holds its keys
        if set(found) != wanted:
            place = next(place for place, entry in enumerate(entries) if entry.keys() != wanted)
            refuse_unknown(entries[place], names, called(place))
            missing = [name for name in names if name not in entries[place]]
            raise BadModel(f"{called(place)} has no {listed(missing)}. Add it.")
    return [list(map(itemgetter(name), entries)) for name in names]


def refuse_unknown(values: Document, names: Iterable[str], what: str) -> None:
    """Refuse fields that have no meaning: they may be a slip of the pen for one that has."""
    known = tuple(names)
    unknown = [name for name in values if name not in known]
    if unknown:
        raise BadModel(f"{what} has the unknown field {unknown[0]!r:.60}. It can have {listed(known)}.")


def refuse_types(entries: Sequence[Any], wanted: type, name: Naming, called: str) -> None:
    """Refuse the first entry that is not of the type."""
    if set(map(type, entries)) - {wanted}:
        place = next(place for place, entry in enumerate(entries) if type(entry) is not wanted)
        raise BadModel(f"{name(place)} is {shown(entries[place])}. Give {called}.")


def refuse_other_than_texts(lists: Sequence[Any], name: Naming) -> None:
    """Refuse the first entry that is not a list of strings."""
    refuse_types(lists, list, name, "a list of strings")
    if set(map(type, chain.from_iterable(lists))) - {str}:
        for place, texts in enumerate(lists):
            for text in texts:
                if not isinstance(text, str):
                    raise BadModel(f"{name(place)} holds {shown(text)}. Give strings, in quotes.")


def listed(names: Iterable[str]) -> str:
    """Join names in quotes."""
    return ", ".join(f'"{name}"' for name in names)
