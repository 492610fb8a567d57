"""A case: something bad, and the command that has to refuse it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from corpus.workshop import Workshop

Make = Callable[[Workshop], list[str]]


@dataclass(frozen=True)
class Case:
    """A command line made in a workshop of its own; `says` is a part of the line that it is refused with."""

    kind: str
    name: str
    make: Make
    says: str = ""


def cases(kind: str, made: Mapping[str, tuple[Make, str]]) -> list[Case]:
    """Make cases of one kind."""
    return [Case(kind, name, make, says) for name, (make, says) in made.items()]


def each(
    kind: str, given: Iterable[tuple[str, object, str]], act: Callable[[Workshop, object], list[str]]
) -> list[Case]:
    """Make a case of each thing given, all by the same act."""
    return [Case(kind, name, lambda place, one=one: act(place, one), says) for name, one, says in given]
