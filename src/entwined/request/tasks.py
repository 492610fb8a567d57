"""Mechanisms that a release file asks for by name, beside its questions, each within a leakage or a loss of its own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, cast

from entwined.canonical import Document
from entwined.errors import BadQuery, EntwinedError
from entwined.mechanisms.kinds import WITH_NOISE_OPTIONS
from entwined.mechanisms.offered import Offered, settled
from entwined.mechanisms.streams.measures import NoiseOption, noise_options
from entwined.mechanisms.streams.stream import Stream
from entwined.promise.promise import Promise

LONGEST: Final = 60
OTHERS: Final = re.compile(r"[^a-z0-9]+")
TAKEN: Final = frozenset({"certificate", "plan", "release", "report", "schema", "values"})


@dataclass(frozen=True, slots=True)
class Task:
    """A mechanism as it was asked for: its kind, what is said of it, and what it may cost."""

    name: str
    kind: type[Offered]
    given: Mapping[str, Any] = field(compare=False)
    leakage: Fraction | None = None
    loss: Fraction | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= LONGEST or not self.name.isprintable() or not self.stem:
            raise BadQuery(f"name = {self.name!r:.60}. Give a name of 1 to {LONGEST} letters and digits.")
        if self.stem in TAKEN:
            raise BadQuery(f"name = {self.name!r}: another file is called so. Give another name.")
        if (self.leakage is None) == (self.loss is None):
            raise BadQuery("A mechanism needs either a leakage or a loss of its own. Give one of them.")

    @property
    def stem(self) -> str:
        """What its files are called, without their ends."""
        return stem_of(self.name)

    @property
    def asked(self) -> Document:
        """What it may cost, as JSON."""
        return {"leakage": float(self.leakage)} if self.leakage else {"loss": float(self.loss or 0)}

    def noise_options(self, promises: Sequence[Promise]) -> tuple[NoiseOption, ...]:
        """The kinds of noise that it may have, the most accurate first; none where there is no choice."""
        if self.kind.kind not in WITH_NOISE_OPTIONS:
            return ()
        return noise_options(promises, lambda promise: cast("Stream", self.settled(promise)))

    def settled(self, promise: Promise) -> Offered:
        """Work out its noise and what it is charged; no row is read."""
        try:
            return settled(self.kind, promise, self.given, leakage=self.leakage, loss=self.loss)
        except EntwinedError as wrong:
            raise type(wrong)(f"[[mechanism]] {self.name!r}: {wrong}") from None


def stem_of(name: str) -> str:
    """What the files of a mechanism are called, without their ends."""
    return OTHERS.sub("_", name.lower()).strip("_")


def distinct(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Refuse two tasks whose files would have one name."""
    stems = [task.stem for task in tasks]
    twice = [task.name for task in tasks if stems.count(task.stem) > 1]
    if twice:
        raise BadQuery(f"Two mechanisms are called {twice[0]!r} or nearly so. Give each a name of its own.")
    return tuple(tasks)
