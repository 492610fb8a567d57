"""A published folder written again from the draws in the ledger, and compared with it file by file.

    certificate ─> draws in the ledger ─> numbers ─┬─> release.json, or what a mechanism gave: compared
                                                   └─> all files that a release writes of them: compared

The files are written by the very functions that a release writes them with, so that none has a check of its own.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from entwined.bounds.certificate import read_certificate
from entwined.canonical import Document
from entwined.door.certificate import CERTIFICATE, PUBLISHED, opened, sealed
from entwined.errors import BadCertificate
from entwined.estimate.compared import ComparedNumbers, NamedNumbers, WantedComparison
from entwined.estimate.post_processing import PostProcessing
from entwined.ledger import Book
from entwined.mechanisms.batch import Batch
from entwined.mechanisms.offered import Offered
from entwined.mechanisms.streams.followed import Followed
from entwined.report.file_differences import file_difference
from entwined.report.formats import FORMATS
from entwined.report.release_files import REPORT, ComputedFiles, ReleaseFiles
from entwined.request.computed import Computation
from entwined.request.published import COMPARISONS, NUMBERS, PLAN, certificate_in
from entwined.request.rebuilding import SettledDraws, fingerprint_of
from entwined.request.tasks import stem_of
from entwined.request.verification import claimed
from entwined.schema import Schema
from entwined.series.journal import wrong_journal
from entwined.synthetic.files import DICTIONARIES, write_dictionary
from entwined.synthetic.reading import SYNTHETIC, described, making

NEEDS_PLAN: Final = (
    f"{{file}} follows from the draws and from {PLAN}, which is not beside it. Put {PLAN} back."
)
OF_NUMBERS: Final = (
    "values.csv",
    "values.parquet",
    REPORT,
    COMPARISONS,
    *(each.file for each in FORMATS.values()),
)
OTHER_FOLDER: Final = "The certificate is not the one of the mechanism {name!r:.60} in the plan beside it."


@dataclass(frozen=True, eq=False)
class PublishedFolder:
    """The folder of a certificate, the schema that it was released under, and the ledger that has its draws."""

    folder: Path
    schema: Schema
    book: Book
    models: Path
    trusting: Sequence[str] = ()
    same: list[str] = field(default_factory=list)
    """The files that were found to say what the draws give."""

    def require(self, document: Any) -> None:
        """Refuse a folder that states a number which the ledger's draws do not give."""
        if certificate_in(document) is not document:
            self._computation(document)
        elif document["mechanism"]["kind"] != Batch.kind:
            self._require_digest(document)
            return
        elif not self._has(NUMBERS):
            return
        if self.plan is None:
            self._require_numbers_alone()
            return
        with tempfile.TemporaryDirectory() as place:
            self._write(Path(place))
            for path in sorted(Path(place).iterdir()):
                if path.name != PLAN and self._has(path.name):
                    if wrong := file_difference(self.folder / path.name, path):
                        raise BadCertificate(wrong)
                    self.same.append(path.name)

    @property
    def made_up(self) -> list[str]:
        """The files whose rows are drawn anew whenever they are written, so that none can be written again."""
        found = self.folder.glob("synthetic*")
        return sorted(path.name for path in found if path.suffix in {".csv", ".parquet"})

    @cached_property
    def plan(self) -> Document | None:
        """The plan that was carried out."""
        return read_certificate(self.folder / PLAN) if self._has(PLAN) else None

    def _has(self, name: str) -> bool:
        return (self.folder / name).is_file()

    def _require_digest(self, certificate: Document) -> None:
        """Compare draws that are published nowhere by their digest; those of a stream are in its journal."""
        draws = SettledDraws(certificate, self.book)
        draws.require_digest()
        if certificate["mechanism"]["kind"] != Followed.kind:
            return
        for journal in self.folder.glob("*.journal"):
            if wrong := wrong_journal(journal, [drawn.decode() for drawn in draws.draws]):
                raise BadCertificate(wrong)
            self.same.append(journal.name)

    def _require_numbers_alone(self) -> None:
        """Compare the numbers where nothing but them was published."""
        for name in OF_NUMBERS:
            if self._has(name):
                raise BadCertificate(NEEDS_PLAN.format(file=name))
        if self._has(NUMBERS) and self._has(CERTIFICATE):
            self._release()
            self.same.append(NUMBERS)

    def _write(self, place: Path) -> None:
        """Write the files of the folder from the draws."""
        plan = self.plan or {}
        documents = [
            read_certificate(self.folder / f"{stem_of(each['name'])}.json")
            for each in plan.get("mechanisms", ())
        ]
        computed = [self._computation(each) for each in documents]
        if self._has(NUMBERS):
            self._release_files(plan, computed).write(place)
        else:
            ComputedFiles(computed, self.schema, plan).write(place)
        for each in computed:
            if each.numbers["kind"] in SYNTHETIC and any(map(self._has, DICTIONARIES)):
                _, mechanism = self._claimed(each.certificate)
                rows = making(described(mechanism, str(each.numbers["drawn"]), self.schema))
                write_dictionary(place, rows(None))
        self.same.extend(f"{each.stem}.json" for each in computed)

    def _claimed(self, certificate: Mapping[str, Any]) -> tuple[Any, Any]:
        return claimed(dict(certificate), self.schema, self.models, self.trusting)

    def _computation(self, document: Document) -> Computation:
        """Make what a mechanism gave from its draws."""
        certificate = certificate_in(document)
        _, mechanism = self._claimed(certificate)
        if not isinstance(mechanism, Offered):
            raise BadCertificate(OTHER_FOLDER.format(name=document.get("name")))
        numbers = SettledDraws(certificate, self.book).numbers(document, mechanism)
        sheet = mechanism.shown(mechanism.output(str(numbers["drawn"]).encode()))
        name = str(numbers["name"])
        return Computation(name, stem_of(name), mechanism.words, sheet, numbers, _as_released(certificate))

    def _release(self) -> tuple[Batch, Any, PostProcessing]:
        """Make the release of a batch from its draws."""
        published = read_certificate(self.folder / NUMBERS)
        certificate = read_certificate(self.folder / CERTIFICATE)
        promise, batch = self._claimed(certificate)
        release = SettledDraws(certificate, self.book).release(published, batch, promise)
        how = PostProcessing.from_document(published["post_processing"])
        return batch, replace(release, certificate=published["certificate"]), how

    def _release_files(self, plan: Document, computed: Sequence[Computation]) -> ReleaseFiles:
        """Make all that a release writes, its answers named and in order as they were planned."""
        batch, release, how = self._release()
        by_text = {answer.asked: answer for answer in release.answers}
        planned = [(each["name"], fingerprint_of(each["query"])) for each in plan["statistics"]]
        names = tuple(name for name, _ in planned)
        answers = tuple(by_text[text] for _, text in planned)
        named = replace(release, answers=answers, names=names, schema=self.schema)
        also = [each for each in FORMATS.values() if self._has(each.file)]
        compared = self._compared(NamedNumbers(batch, named, names, how.impossible))
        return ReleaseFiles(named, names, self.schema, plan, computed, compared, also)

    def _compared(self, numbers: NamedNumbers) -> tuple[ComparedNumbers, ...]:
        if not self._has(COMPARISONS):
            return ()
        listed = read_certificate(self.folder / COMPARISONS)["comparisons"]
        wanted = [
            WantedComparison(each["name"], each["kind"], tuple(each["one"]), tuple(each["other"]))
            for each in listed
        ]
        return numbers.all(wanted)


def _as_released(certificate: Mapping[str, Any]) -> Document:
    """Give a certificate as it was before it named the files beside it."""
    return dict(sealed({key: value for key, value in opened(certificate).items() if key != PUBLISHED}))
