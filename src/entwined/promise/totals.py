"""The total loss of every part, with a digest that the chain vouches for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias

from entwined.canonical import canonical, sha256
from entwined.errors import BadCharge, BadLoss, LedgerDamaged
from entwined.promise.part import Part, add_up

Written: TypeAlias = tuple[str, str, str]

HEAPS: Final = 256


@dataclass(frozen=True, eq=False)
class Heap:
    """A few totals; which ones is decided by the hashes of their keys."""

    parts: Mapping[str, Part]

    @cached_property
    def rows(self) -> Mapping[str, Written]:
        """The totals as they are written, in the order of their keys."""
        return {key: self.parts[key].row for key in sorted(self.parts)}

    @cached_property
    def digest(self) -> str:
        """The hash of all rows."""
        return sha256(canonical(list(self.rows.values())))


EMPTY: Final = Heap({})


@dataclass(frozen=True, eq=False)
class Totals(Mapping[str, Part]):
    """The sum of all charges, part by part, in heaps: a charge copies and hashes only the heaps that it touches.

    The digest is the hash of the heaps' hashes. Two different totals differ in some heap, as each key has its
    heap; equal digests of them would be a collision of SHA-256, of that heap's rows or of the list of hashes.

    >>> from fractions import Fraction
    >>> tenth = Part("all", Fraction(1, 10), Fraction(0))
    >>> NOTHING.plus([tenth]).plus([tenth])["all"].one
    Fraction(1, 5)
    """

    heaps: tuple[Heap, ...]

    @classmethod
    def of(cls, rows: Iterable[Written]) -> "Totals":
        """Take totals as they were written."""
        try:
            parts = [Part.from_row(row) for row in rows]
        except (BadCharge, BadLoss):
            raise LedgerDamaged(
                "The ledger holds a total that is no loss. Restore the newest copy."
            ) from None
        found = NOTHING.plus(parts)
        if len(found) != len(parts):
            raise LedgerDamaged("The ledger holds two totals of one part. Restore the newest copy.")
        return found

    def plus(self, parts: Iterable[Part]) -> "Totals":
        """Add losses."""
        touched: dict[int, dict[str, Part]] = {}
        for part in parts:
            place = _place(part.key)
            if place not in touched:
                touched[place] = dict(self.heaps[place].parts)
            add_up(touched[place], [part])
        heaps = list(self.heaps)
        for place, found in touched.items():
            heaps[place] = Heap(found)
        return Totals(tuple(heaps))

    def since(self, before: "Totals") -> list[Part] | None:
        """List what was added to other totals to come to these; None if these do not follow on those."""
        added: list[Part] = []
        for now, then in zip(self.heaps, before.heaps, strict=True):
            if now is then:
                continue
            if not then.parts.keys() <= now.parts.keys():
                return None
            for key, part in now.parts.items():
                known = then.parts.get(key)
                if known is None:
                    added.append(part)
                elif known != part:
                    if part.one < known.one or part.both < known.both:
                        return None
                    added.append(Part(key, part.one - known.one, part.both - known.both))
        return added

    @cached_property
    def rows(self) -> Mapping[str, Written]:
        """The totals as they are written."""
        return {key: row for heap in self.heaps for key, row in heap.rows.items()}

    @property
    def parts(self) -> dict[str, Part]:
        """The totals on their own."""
        return dict(self)

    @cached_property
    def digest(self) -> str:
        """What the chain vouches for."""
        return sha256(canonical([heap.digest for heap in self.heaps]))

    def __getitem__(self, key: str) -> Part:
        return self.heaps[_place(key)].parts[key]

    def __iter__(self) -> Iterator[str]:
        return (key for heap in self.heaps for key in heap.parts)

    def __len__(self) -> int:
        return sum(len(heap.parts) for heap in self.heaps)


NOTHING: Final = Totals((EMPTY,) * HEAPS)


class Step(NamedTuple):
    """Totals before and after a charge, worked out before it is known that nobody else comes between."""

    before: Totals
    after: Totals


@lru_cache(maxsize=1 << 16)
def _place(key: str) -> int:
    return int(sha256(key)[:2], 16)
