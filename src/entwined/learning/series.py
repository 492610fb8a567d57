"""Public series as codes: who goes from which state to which, a step after another."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from entwined.dependence import LearnedFrom
from entwined.errors import BadTable, EntwinedError
from entwined.numbers import IntArray
from entwined.schema import Schema
from entwined.tables.every_row import every_step
from entwined.tables.fingerprint import fingerprint, fingerprint_of_codes
from entwined.tables.rows import CodedRows
from entwined.tables.source import engine_of

SERIES: Final = ("series", "step", "state")


@dataclass(frozen=True, eq=False)
class PublicSeries:
    """Steps with one row, sorted by series and step: whose they are, when, and in which of so many states."""

    who: IntArray
    step: IntArray
    state: IntArray
    states: int
    origin: LearnedFrom

    @classmethod
    def of(cls, rows: Any, states: int, origin: LearnedFrom | None = None) -> "PublicSeries":
        """Sort (series, step, state) and leave out steps of several rows, which have no one state.

        `origin` is the table that they are of; without one they stand for themselves.
        """
        found = np.array(rows, dtype=np.int64).reshape(-1, 3)
        ends = np.append(found.max(axis=0, initial=0)[:2] + 1, states).tolist()
        origin = origin or fingerprint_of_codes(dict(zip(SERIES, ends, strict=True)), found)
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
        same = (found[1:, :2] == found[:-1, :2]).all(axis=1)
        single = ~(np.append(same, False) | np.insert(same, 0, False))
        who, step, state = found[single].T
        return cls(who, step, state, states, origin)

    def runs(self, back: int) -> IntArray:
        """The states of every step and of so many just before it, the earliest first, one row a step that has them."""
        count = len(self.who) - back
        if count < 1:
            return np.zeros((0, back + 1), np.int64)
        first, last = slice(0, count), slice(back, back + count)
        whole = (self.who[first] == self.who[last]) & (self.step[last] - self.step[first] == back)
        return np.stack([self.state[at : at + count][whole] for at in range(back + 1)], axis=1)

    def halves(self) -> tuple["PublicSeries", "PublicSeries"]:
        """Every other series apart from the rest; of a single one its first half and its second."""
        names = np.unique(self.who)
        first = (
            np.isin(self.who, names[::2]) if len(names) > 1 else np.arange(len(self.who)) * 2 < len(self.who)
        )
        return self._only(first), self._only(~first)

    def _only(self, which: Any) -> "PublicSeries":
        return PublicSeries(self.who[which], self.step[which], self.state[which], self.states, self.origin)


def public_series(
    source: Any, schema: Schema, *, state: str, order: str, by: str | None = None
) -> PublicSeries:
    """Read the series of a public table under a schema: never the rows that are to be protected."""
    states = schema.coded(state).size
    if by is not None:
        schema.grouping(by)
    engine = engine_of(source, declared={one.name: one for one in schema.columns})
    try:
        rows = CodedRows(schema, engine)
        found = every_step(rows, state=state, order=order, by=by)
        origin = fingerprint(rows)
    except EntwinedError:
        raise
    except Exception:  # noqa: BLE001  (its words may hold cells, and somebody may have named the private table)
        raise BadTable(
            "The table cannot be read under this schema. See what is in it with `entwined describe`."
        ) from None
    finally:
        engine.close()
    return PublicSeries.of(found, states, origin)
