"""A release many times over on two made-up neighbouring tables, to see whether its noise keeps what is charged for it.

The mechanism goes through a door of its own, with a temporary ledger: it is charged, lent the made-up rows, and run.
All runs of it are one run on the same exact integers side by side, so the sampling code is that of a release. What
comes out is reduced to one number a run, the log likelihood ratio of the two tables by the claimed laws, and audited.
"""

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.audit.gaussian_audit import GaussianAudit, gaussian_audit
from entwined.audit.lower_bound import Audit, audit
from entwined.audit.neighbours import MadeUp, neighbouring
from entwined.audit.row_adds import RowAdds
from entwined.canonical import Document
from entwined.door.door import Door
from entwined.door.mechanism import Read
from entwined.errors import BadInput
from entwined.ledger import Ledger
from entwined.mechanisms.batch import Batch
from entwined.noise.dominated import rho_of_pure
from entwined.numbers import FloatArray, IntArray
from entwined.progress import said
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Aggregate
from entwined.schema import Schema

FORMAT: Final = "entwined audit 1"
SAMPLES: Final = 50_000
FEWEST_SAMPLES: Final = 1_000
MOST_SAMPLES: Final = 5_000_000
MOST_NUMBERS: Final = 1_000_000  # that are drawn for one table, unless more samples are asked for
FALSE_ALARM: Final = 1e-4
PLANTED: Final = Fraction(4, 5)
DIGITS: Final = 9  # after which likelihood ratios are taken to be equal
BEYOND: Final = Fraction(10**9)  # the cap of a ledger that protects nobody


@dataclass(frozen=True, slots=True)
class MadeUpTable:
    """MadeUp of codes that nobody has, which answer a door as an engine would; groups are as small as they must be."""

    schema: Schema
    rows: MadeUp

    @property
    def identity(self) -> str:
        """It is nobody's."""
        return "made up"

    def check(self, aggregates: Sequence[Aggregate]) -> None:
        """Every aggregate can be answered."""

    def answer(self, aggregates: Sequence[Aggregate]) -> list[IntArray]:
        """Add up what the rows add."""
        return [RowAdds(self.rows).to(one).sum(axis=0) for one in aggregates]

    def keeping(self, column: str, most: int, first: str | None = None) -> "MadeUpTable":  # noqa: ARG002
        """Keep all rows."""
        return self


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A batch run many times on the same rows. It is for made-up tables: it shows so many times what it is charged."""

    batch: Batch
    times: int

    @property
    def document(self) -> Mapping[str, Any]:
        """The batch, and how often it is run."""
        return {"kind": "rehearsal", "times": self.times, "of": self.batch.document}

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Say where the loss of one run falls."""
        return self.batch.parts(promise)

    def needs(self, schema: Schema) -> tuple[Aggregate, ...]:
        """What the batch needs."""
        return self.batch.needs(schema)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Run the batch on as many copies of the exact integers."""

        def copies(aggregates: Sequence[Aggregate]) -> list[IntArray]:
            return [np.broadcast_to(exact, (self.times, exact.size)) for exact in read(aggregates)]

        return self.batch.run(copies, schema)

    def output(self, drawn: bytes) -> list[IntArray]:
        """Give the drawn integers of each statistic, one run a row."""
        return [np.array(one, dtype=np.int64) for one in json.loads(drawn)]


@dataclass(frozen=True, slots=True)
class ReleaseAudit:
    """What samples of a release prove that it shows, beside what is claimed, a control and a planted bug.

    The control looks for a difference between two samples of one table, where there is none. The planted release has
    noise of four fifths the scale: an audit that did not catch it would say little.
    """

    claimed: float
    claimed_mu: float
    delta: float
    samples: int
    found: Audit
    deviations: GaussianAudit
    control: Audit
    planted: Audit
    planted_deviations: GaussianAudit

    @property
    def refuted(self) -> bool:
        """Whether the release is caught."""
        return self.found.refutes(self.claimed) or self.deviations.refutes(self.claimed_mu)

    @property
    def catches_planted(self) -> bool:
        """Whether the planted bug is caught."""
        return self.planted.refutes(self.claimed) or self.planted_deviations.refutes(self.claimed_mu)

    @property
    def document(self) -> Document:
        """The audit as JSON."""
        return {
            "format": FORMAT,
            "claimed_epsilon": self.claimed,
            "claimed_mu": self.claimed_mu,
            "delta": self.delta,
            "samples_of_each_table": self.samples,
            "false_alarm": self.found.false_alarm + self.deviations.false_alarm,
            "at_least_epsilon": self.found.epsilon,
            "event": self.found.event,
            "at_least_mu": self.deviations.mu,
            "refuted": self.refuted,
            "control": {"at_least_epsilon": self.control.epsilon},
            "planted": {
                "noise": float(PLANTED),
                "at_least_epsilon": self.planted.epsilon,
                "at_least_mu": self.planted_deviations.mu,
                "caught": self.catches_planted,
            },
        }


def audit_batch(
    batch: Batch, *, samples: int | None = None, false_alarm: float = FALSE_ALARM
) -> ReleaseAudit:
    """Rehearse a batch on two neighbouring tables, and the same batch with too little noise."""
    count = _samples(batch, samples)
    if not 0 < false_alarm < 1:
        raise BadInput(
            f"A false alarm of probability {false_alarm}. Give a number between 0 and 1, such as 1e-4."
        )
    tables = [MadeUpTable(batch.schema, rows) for rows in neighbouring(batch)]
    power = 1 if batch.promise.measure.is_pure else 2
    weaker = replace(batch, statistics=tuple(one.at((1 / PLANTED) ** power) for one in batch.statistics))
    runs = (
        (batch, tables[0]),
        (batch, tables[1]),
        (batch, tables[0]),
        (weaker, tables[0]),
        (weaker, tables[1]),
    )
    with tempfile.TemporaryDirectory() as folder:
        here, there, again, bug, other_bug = (
            _ratios(batch, tables, _rehearsed(one, table, count, Path(folder) / f"{number}"))
            for number, (one, table) in enumerate(said("rehearsing the release", runs))
        )
    delta = float(batch.promise.measure.delta or 0)
    rate = false_alarm / 2  # one for ε, one for μ
    return ReleaseAudit(
        float(batch.price.nominal),
        _claimed_mu(batch),
        delta,
        count,
        audit(here, there, false_alarm=rate, delta=delta),
        gaussian_audit(here, there, false_alarm=rate),
        audit(here, again, false_alarm=rate, delta=delta),
        audit(bug, other_bug, false_alarm=rate, delta=delta),
        gaussian_audit(bug, other_bug, false_alarm=rate),
    )


def _samples(batch: Batch, samples: int | None) -> int:
    cells = sum(one.statistic.aggregate.cells for one in batch.statistics)
    count = max(min(SAMPLES, MOST_NUMBERS // cells), FEWEST_SAMPLES) if samples is None else samples
    if not FEWEST_SAMPLES <= count <= MOST_SAMPLES:
        raise BadInput(f"An audit of {count} samples. Give {FEWEST_SAMPLES:,} to {MOST_SAMPLES:,}.")
    return count


def _rehearsed(batch: Batch, table: MadeUpTable, times: int, folder: Path) -> list[IntArray]:
    """Let a rehearsal through a door of its own."""
    folder.mkdir()
    ledger = Ledger.create(folder / "ledger.sqlite", BEYOND, batch.promise, folder / "anchor")
    try:
        return Door(table, batch.promise, ledger).admit(Rehearsal(batch, times)).output
    finally:
        ledger.close()


def _ratios(batch: Batch, tables: Sequence[MadeUpTable], drawn: Sequence[IntArray]) -> FloatArray:
    """Give the log likelihood ratio of each run, as the laws that are claimed have it."""
    total = np.zeros(len(drawn[0]))
    exact = [
        [RowAdds(one.rows).to(asked.statistic.aggregate).sum(axis=0) for asked in batch.statistics]
        for one in tables
    ]
    for asked, seen, here, there in zip(batch.statistics, drawn, *exact, strict=True):
        total += asked.log_chances(seen, here) - asked.log_chances(seen, there)
    return np.round(total, DIGITS)


def _claimed_mu(batch: Batch) -> float:
    """Give the deviations that the charge of a unit stands for; those of a pure loss are worked out from it."""
    nominal = batch.promise.base(batch.charged).nominal
    rho = rho_of_pure(nominal) if batch.promise.measure.is_pure else nominal
    return math.sqrt(2 * float(rho))
