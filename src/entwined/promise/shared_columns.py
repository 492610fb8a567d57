"""Statistics that read several columns: what they cost if all of these change, and if one alone does."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from entwined.promise.gates import Gates
from entwined.promise.part import Part
from entwined.promise.places import PartPlace, place_of
from entwined.queries import Layers, Predicate


def shared_losses(
    parts: Iterable[Part], gates: tuple[Gates, ...]
) -> dict[tuple[str, ...], tuple[Fraction, ...]]:
    """What statistics of several columns cost if all of these change, and if each of them alone does."""
    found: defaultdict[tuple[str, ...], defaultdict[str, list[tuple[Predicate, Fraction, Fraction]]]]
    found = defaultdict(lambda: defaultdict(list))
    for part in parts:
        place = place_of(part.key)
        if not reads_one_cell(place, gates):
            found[place.together][place.column].append((place.where, part.one, part.both))
    return {
        read: tuple(Layers.of(charges[name]).at_two().value for name in ("", *read))
        for read, charges in sorted(found.items())
    }


def reads_one_cell(place: PartPlace, gates: tuple[Gates, ...]) -> bool:
    """Whether what was charged reads one cell of a row: alone, or only where the row's form asks it."""
    return not place.together or any(one.is_where_asked(place) for one in gates)
