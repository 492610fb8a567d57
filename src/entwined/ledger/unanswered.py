"""A question that was charged and has no answer: whether it runs again under that charge, or is charged again."""

from dataclasses import dataclass
from typing import Final

from entwined.ledger.entry import Entry, Kind
from entwined.ledger.view import View

MOST_RUNS: Final = 5
BEFORE: Final = "The same was charged before, at entry {entry} of the ledger, "
FAILED: Final = f"{BEFORE}and a run of it failed: no answer comes from that charge, and it is charged again."
KILLED: Final = (
    f"{BEFORE}and its {{runs}} runs ended without an answer: it has no more, and is charged again."
)
OPEN: Final = f"{BEFORE}and has no answer yet: it runs again under that charge, and nothing new is charged."


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The last charge of a question, where it has no answer: how often it ran, and whether a run of it failed."""

    charge: Entry
    runs: int
    is_failed: bool

    @classmethod
    def of(cls, view: View, fingerprint: str) -> "Unanswered | None":
        """Find the charge of a question that has no answer; none where it was never charged, or was answered."""
        charge = view.last_charge(fingerprint)
        if charge is None:
            return None
        course = view.course(charge.position)
        if course.closed is not None and course.closed.kind is Kind.ANSWERED:
            return None
        return cls(charge, course.runs, course.closed is not None)

    @property
    def is_charged_again(self) -> bool:
        """Whether no further run belongs to that charge."""
        return self.is_failed or self.runs >= MOST_RUNS

    @property
    def words(self) -> str:
        """What becomes of the same question now."""
        said = FAILED if self.is_failed else KILLED if self.is_charged_again else OPEN
        return said.format(entry=self.charge.position, runs=self.runs)
