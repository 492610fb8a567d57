"""Two worlds, one transcript: a run is recorded, and followed again on other rows that have to draw the same.

What is drawn is taken from the record, so that every step can be weighed exactly: how far its numbers moved, how much
likelier they were in one world. The second run has to take the very same steps: whatever steers a run and is not in
what it drew would show. Chance that knows no row is the same in both.
"""

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from scipy.special import expit, ndtri

from entwined.mechanisms.marginals import made_up
from entwined.noise import ExponentialChoice, GradualLaplace
from support.memory_table import MemoryTable

TABLES, SCORES = "tables", "scores"


@dataclass(frozen=True)
class Step:
    """One draw: for what, by which law, from which numbers, and what came out."""

    about: str
    law: object
    exact: np.ndarray
    drawn: object

    def as_told(self, table):
        """What it comes to in the end, where noise was taken away later: the last telling makes all before it."""
        if not isinstance(self.law, GradualLaplace):
            return self
        last = [law.document for law in self.law.laws].index(table["noise"])
        assert self.drawn[last].tolist() == table["counts"]
        return replace(self, law=self.law.laws[last], drawn=self.drawn[last])

    @property
    def public(self):
        """What has to be the same in every world."""
        return self.about, self.law, self.exact.shape

    @property
    def log_weight(self):
        """The log of the chance of what came out, up to a constant that is the same in every world."""
        if isinstance(self.law, ExponentialChoice):
            return float(np.log(self.law.probabilities(self.exact)[self.drawn]))
        return float(self.law.log_weights(np.asarray(self.drawn) - self.exact).sum())

    def cost(self, other, *, pure):
        """The loss of this draw where its numbers might have been the other's: of all that might come out."""
        moved = self.exact - other.exact
        if isinstance(self.law, ExponentialChoice):
            epsilon = float(self.law.rate * int(moved.max() - moved.min()))
            return epsilon if pure else float(2 * ndtri(expit(epsilon / 2))) ** 2 / 2
        if pure:
            return float(self.law.loss(Fraction(int(np.abs(moved).sum()))))
        return float(self.law.rho(Fraction(int((moved.astype(object) ** 2).sum()))))


@dataclass
class Record:
    """The steps of a run, drawn afresh or as another run drew them."""

    earlier: "Record | None" = None
    steps: list = field(default_factory=list)
    released: bytes = b""

    def pass_on(self, about, law, exact, draw):
        drawn = draw(exact) if self.earlier is None else self.earlier.steps[len(self.steps)].drawn
        step = Step(about, law, np.array(exact, np.int64), drawn)
        if self.earlier is not None:
            assert step.public == self.earlier.steps[len(self.steps)].public
        self.steps.append(step)
        return drawn

    @property
    def told(self):
        """The steps, each by what was told in the end."""
        tables = iter(json.loads(self.released)["tables"])
        return [step.as_told(next(tables, None)) for step in self.steps]

    @property
    def log_weight(self):
        """The log of the chance of everything that came out, up to a constant."""
        return sum(step.log_weight for step in self.told)

    def cost(self, other, about, *, pure):
        """What steps of a kind cost together."""
        pairs = zip(self.told, other.told, strict=True)
        return sum(one.cost(two, pure=pure) for one, two in pairs if one.about == about)


@dataclass(frozen=True)
class RecordedLaw:
    """A law that says what it was asked for."""

    about: str
    law: object
    record: Record

    def __getattr__(self, name):
        return getattr(self.law, name)

    def add(self, exact):
        return self.record.pass_on(self.about, self.law, exact, self.law.add)

    def choose(self, scores):
        return self.record.pass_on(self.about, self.law, scores, self.law.choose)


@dataclass(frozen=True)
class RecordedMeter:
    """A meter whose laws say what they were asked for."""

    meter: object
    record: Record

    def __getattr__(self, name):
        found = getattr(self.meter, name)
        if name in ("noise", "gradual"):
            return lambda *given: (law := found(*given)) and RecordedLaw(TABLES, law, self.record)
        if name in ("noise_of_distances", "choice", "choice_of_parents"):
            return lambda *given: RecordedLaw(SCORES, found(*given), self.record)
        return found


def followed(monkeypatch, mechanism, schema, rows, earlier=None):
    """Run on rows, afresh or so that it draws what an earlier run drew."""
    lucks = (np.random.default_rng(seed) for seed in range(10**6))
    monkeypatch.setattr(made_up, "made_up_luck", lambda: next(lucks))
    record = Record(earlier)
    recorded = replace(mechanism, meter=RecordedMeter(mechanism.meter, record))
    record.released = recorded.run(MemoryTable(schema, rows).answer, schema)
    if earlier is not None:
        assert (len(record.steps), record.released) == (len(earlier.steps), earlier.released)
    return record
