"""The one way out: whatever leaves a table passes `Door.admit`.

    mechanism ─> refused?  ─> parts ─> charge ─> lent rows ─> run ─> settled ─> output
                 (no row is read)      (on disk)               │
                                                               └─ fails or is stopped: the charge stays

Everything that can be refused is refused before the charge, and nothing that is refused depends on a row. The charge
is on disk before a row is read. The bytes that are handed out were written to the ledger first, and whoever asks the
same again gets them again; the certificate beside them says what everything released amounts to by then. If reading
fails the charge stays, and the words are always the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from entwined.canonical import sha256_of_bytes
from entwined.door.answering import Answering, Picking
from entwined.door.certificate import certificate
from entwined.door.lending import lent
from entwined.door.mechanism import Mechanism, Worded
from entwined.door.own_rows import refuse_own_rows, require_charges
from entwined.door.question import question_of
from entwined.door.running import run_charged
from entwined.door.witnessed import witnessed
from entwined.errors import Refused
from entwined.ledger import Charge, Ledger
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries.spoken import asked_in_words
from entwined.showing import Seen

Output = TypeVar("Output")

FAILED: Final = (
    "The rows could not be read, and no answer comes from this request. What was charged stays charged. "
    "The holder finds out why by opening the table again; reading is stopped after ENTWINED_READING_SECONDS (600)."
)


@dataclass(frozen=True, slots=True, repr=False)
class Passed(Seen, Generic[Output]):
    """What came out of the door: the output, what everything amounts to since the charge, and the certificate.

    `drawn` are the bytes that the output was made of, as the ledger keeps them.
    """

    output: Output
    price: Price
    certificate: Mapping[str, Any]
    drawn: bytes = b""


@dataclass(frozen=True, eq=False, repr=False)
class Door(Seen):
    """A table, what is promised about it, and the ledger of that promise; opened once, by the holder."""

    table: Answering
    promise: Promise
    ledger: Ledger

    def __post_init__(self) -> None:
        self.promise.schema.require_approval()
        if self.table.schema.digest != self.promise.schema.digest:
            raise Refused("The table has another schema than the promise. Open it with the promise's own.")
        self._require_terms()

    def admit(
        self, mechanism: Mechanism[Output], *, request: str | None = None, analyst: str = "holder"
    ) -> Passed[Output]:
        """Let one mechanism out: check it, charge it, and only then lend it the rows."""
        self._require_terms()
        document, parts = mechanism.document, mechanism.parts(self.promise)
        if self.promise.secrets is not None:
            self.promise.secrets.require_kept(document)
        refuse_own_rows(self.table, self.promise.declared)
        require_charges(self.ledger, self.promise.declared)
        source = self._kept()
        source.check(mechanism.needs(self.promise.schema))
        with witnessed(self.table, self.ledger) as unguarded:
            charge = self._charge(mechanism, document, parts, request, analyst)
            receipt = self.ledger.reserve(replace(charge, unguarded=unguarded))
            drawn = receipt.answer
            if drawn is None:
                drawn = run_charged(self.ledger, receipt, lambda: self._run(mechanism, source), FAILED)
        proof = certificate(self.promise, document, parts, self.ledger.standing(), sha256_of_bytes(drawn))
        return Passed(mechanism.output(drawn), receipt.price, proof, drawn)

    def _require_terms(self) -> None:
        """Refuse a ledger that was opened for another promise, or migrated to one meanwhile."""
        self.ledger.require(self.promise)

    def _kept(self) -> Answering:
        """Have the engine keep groups as small as a model says they are."""
        kept = self.promise.kept
        if kept is None or kept.by is None:
            return self.table
        if not isinstance(self.table, Picking):
            raise Refused(
                f"The model {kept.title!r} needs at most {kept.most} rows for each value of {kept.by!r}, and "
                "this table cannot pick them. Leave `by` out and vouch for it yourself, or use another table."
            )
        return self.table.keeping(kept.by, kept.most, kept.order)

    def _charge(
        self,
        mechanism: Mechanism[Any],
        document: Mapping[str, Any],
        parts: tuple[Part, ...],
        request: str | None,
        analyst: str,
    ) -> Charge:
        question = question_of(self.table, self.promise, document)
        asked = asked_in_words(document, self.promise.schema)
        if not asked and isinstance(mechanism, Worded):
            asked = (mechanism.words,)
        return Charge(request or uuid4().hex, question, parts, analyst, document, asked)

    def _run(self, mechanism: Mechanism[Output], source: Answering) -> bytes:
        with lent(source) as read:
            return mechanism.run(read, self.promise.schema)
