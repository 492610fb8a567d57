"""Published numbers made again from the draws that the ledger keeps, and compared with what was published.

A certificate names a computation and a place in the ledger. The ledger has the draws of that computation, and all
numbers follow from them by public choices: so whoever has the ledger needs to believe nothing that was published.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from entwined.canonical import Document, sha256_of_bytes
from entwined.errors import BadCertificate
from entwined.estimate.answers import Release
from entwined.estimate.consistent_release import Drawn
from entwined.estimate.post_processing import PostProcessing
from entwined.estimate.release_of_draws import Draws, release_of_draws
from entwined.ledger import Book, Entry, Kind
from entwined.mechanisms.batch import Batch
from entwined.mechanisms.offered import Offered
from entwined.promise.promise import Promise
from entwined.queries.documents import question_of
from entwined.request.earlier import drawn_before
from entwined.request.task_numbers import numbers_of

Made = TypeVar("Made")

NO_DRAWS: Final = "The ledger has no answer for what the certificate says was released."
FROM_LEDGER: Final = "the draws in the ledger give"
FROM_DRAWS: Final = "the draws beside it give"
SHOWN: Final = 40


class Difference(NamedTuple):
    """The first place where a document is not what it should be."""

    place: tuple[str | int, ...]
    published: Any
    rebuilt: Any

    def words(self, name: str, source: str = FROM_LEDGER) -> str:
        """Say which value differs: where it stands, what it is and what it should be."""
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.place)
        return (
            f"{name} differs at {where.lstrip('.')[:SHOWN] or 'its start'}: it says {shortened(self.published)}, and "
            f"{source} {shortened(self.rebuilt)}."
        )


def shortened(value: Any) -> str:
    """Write a value for a message."""
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def difference(published: Any, rebuilt: Any, place: tuple[str | int, ...] = ()) -> Difference | None:
    """Find the first place where two JSON documents differ."""
    if isinstance(published, dict) and isinstance(rebuilt, dict):
        for key in [*rebuilt, *(key for key in published if key not in rebuilt)]:
            if key not in published or key not in rebuilt:
                return Difference((*place, key), published.get(key, "nothing"), rebuilt.get(key, "nothing"))
            if wrong := difference(published[key], rebuilt[key], (*place, key)):
                return wrong
        return None
    if isinstance(published, list) and isinstance(rebuilt, list):
        if len(published) != len(rebuilt):
            return Difference(place, f"{len(published)} entries", f"{len(rebuilt)} entries")
        steps = (
            difference(*pair, (*place, at)) for at, pair in enumerate(zip(published, rebuilt, strict=True))
        )
        return next(filter(None, steps), None)
    same = type(published) is type(rebuilt) and published == rebuilt
    return None if same else Difference(place, published, rebuilt)


def fingerprint_of(query: Any) -> str:
    """Give the text of a query as releases hold it."""
    return json.dumps(query, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def draws_of(batch: Batch, release: Mapping[str, Any]) -> Draws:
    """Read the draws of a batch from its published numbers; the same statistic must have the same draws everywhere."""
    by_text = {
        fingerprint_of(answer["query"]): [tuple(numbers) for numbers in answer["numbers"]]
        for answer in release["answers"]
    }
    draws: dict[int, tuple[int, ...]] = {}
    for query, uses in zip(batch.queries, batch.uses, strict=True):
        for use, numbers in zip(uses, by_text[query.fingerprint], strict=True):
            if draws.setdefault(use, numbers) != numbers:
                raise BadCertificate(
                    f"The answers to {query!s:.100} and to another query have other draws in common."
                )
    return [draws[use] for use in range(len(batch.statistics))]


def wrong_values(batch: Batch, published: Mapping[str, Any]) -> str | None:
    """Say which published number does not follow from the published draws; one that needs earlier draws is left out."""
    how = PostProcessing.from_document(published["post_processing"])
    if how.earlier:
        return None
    rebuilt = release_of_draws(batch, draws_of(batch, published), how).numbers
    given = {key: value for key, value in published.items() if key != "certificate"}
    return _words(given, rebuilt, FROM_DRAWS)


def _words(published: Mapping[str, Any], rebuilt: Mapping[str, Any], source: str) -> str | None:
    """Say which number differs, or else which words; an answer is named by its question."""
    answers = difference(published["answers"], rebuilt["answers"], ("answers",))
    wrong = answers or difference(dict(published), dict(rebuilt))
    if wrong is None:
        return None
    match wrong.place:
        case ("answers", int(at), str(), *_):
            query = published["answers"][at]["query"]
            asked = question_of(fingerprint_of(query))
            columns = ", ".join(asked.values) or "rows"
            return wrong.words(f"release.json ({asked.kind} of {columns:.30})", source)
    return wrong.words("release.json", source)


class SettledDraws:
    """What the ledger has drawn for the computation of a certificate, the newest first."""

    def __init__(self, certificate: Mapping[str, Any], book: Book) -> None:
        self.certificate = certificate
        self._book = book
        self.draws = tuple(self._found())

    def _found(self) -> list[bytes]:
        end = self.certificate["ledger"]["position"]
        charges = [
            entry.position
            for entry in self._book.history()
            if entry.position <= end and is_charge_of(self.certificate, entry)
        ]
        return [drawn for _, drawn in self._book.answered(reversed(charges)).values()]

    def release(self, published: Mapping[str, Any], batch: Batch, promise: Promise) -> Release:
        """Make the release of a batch from its draws; refuse a published one that has other numbers."""
        how = PostProcessing.from_document(published["post_processing"])
        earlier = self._earlier(how.earlier, promise)
        given = {key: value for key, value in published.items() if key != "certificate"}
        made = (release_of_draws(batch, batch.output(drawn), how, earlier) for drawn in self.draws)
        return self._first(made, lambda each: _words(given, each.numbers, FROM_LEDGER))

    def numbers(self, published: Mapping[str, Any], mechanism: Offered) -> Document:
        """Make what is published of a mechanism from its draws; refuse other numbers."""
        name = str(published["name"])
        given = {key: value for key, value in published.items() if key != "certificate"}

        def wrong(made: Document) -> str | None:
            found = difference(given, made)
            return None if found is None else found.words(f"What {name:.30} gave", FROM_LEDGER)

        return self._first((numbers_of(name, mechanism, drawn.decode()) for drawn in self.draws), wrong)

    def require_digest(self) -> None:
        """Refuse a certificate that is about other draws than the ledger's, where no numbers are published."""
        released = self.certificate["released"]
        if not any(released == sha256_of_bytes(drawn) for drawn in self.draws):
            raise BadCertificate(
                f"The certificate is about draws of the digest {released[:8]}…, and the ledger has others for it."
            )

    def _earlier(self, positions: Sequence[int], promise: Promise) -> list[Drawn]:
        answered = self._book.answered(positions)
        documents = {
            position: charge.fields.get("document", {}) for position, (charge, _) in answered.items()
        }
        for position in positions:
            if documents.get(position, {}).get("kind") != Batch.kind:
                raise BadCertificate(f"The release agrees with entry {position}, which answered no batch.")
        return [drawn_before(documents[position], answered[position][1], promise) for position in positions]

    @staticmethod
    def _first(candidates: Iterator[Made], wrong: Callable[[Made], str | None]) -> Made:
        """Take the first that was published; say how the newest one differs where none was."""
        first = ""
        for candidate in candidates:
            why = wrong(candidate)
            if why is None:
                return candidate
            first = first or why
        raise BadCertificate(first or NO_DRAWS)


def is_charge_of(certificate: Mapping[str, Any], entry: Entry) -> bool:
    """Whether an entry charges what a certificate is about: the same computation, and the same losses."""
    if entry.kind is not Kind.CHARGE or entry.fields["document"] != certificate["mechanism"]:
        return False
    return bool([list(part.row) for part in entry.parts] == certificate["losses"])
