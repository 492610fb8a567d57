"""`entwined verify`: derive a certificate again, without any data, and hold what lies beside it against it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.cli.arguments import JsonOption, TrustingOption
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadCertificate, BadInput

if TYPE_CHECKING:
    from entwined.bounds import Verdict
    from entwined.ledger import Book
    from entwined.signing import PublicKey

OF_RELEASE = "entwined release certificate "
OF_MECHANISM = "entwined mechanism "
NUMBERS = "entwined release 3"
SCHEMA = "schema.toml"
CERTIFICATE = "certificate.json"


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    certificates: Annotated[
        list[Path],
        typer.Argument(metavar="CERTIFICATE…", help="Certificates that entwined wrote.", readable=False),
    ],
    as_document: JsonOption = False,  # noqa: FBT002
    schema: Annotated[
        Path | None,
        typer.Option("--schema", help=f"The schema of a release; by default the {SCHEMA} beside it."),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option("--models", help="Where edge files that models name are; by default beside it."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="The public key that must have signed, as `key new` showed it."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="Also hold them against this ledger, where you have it.")
    ] = None,
    trusting: TrustingOption = None,
) -> None:
    """Check that certificates follow from their inputs, and that several can belong to one history."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads would take longer than they save
    with progress():
        wanted, documents = public_key(key), [read(path) for path in certificates]
        found = [
            checked(document, path.parent, schema, models, wanted, trusting or [])
            for document, path in zip(documents, certificates, strict=True)
        ]
        if ledger is not None and all(one.valid for one in found):
            places = [LedgerCheck(path.parent, schema, models, trusting or []) for path in certificates]
            found = [
                each[0].verdict(*each[1:], ledger) for each in zip(places, documents, found, strict=True)
            ]
    together = history(documents) if len(found) > 1 and all(one.valid for one in found) else None
    show(certificates, found, together, as_document=as_document)
    if not all(one.valid for one in found) or (together is not None and not together.valid):
        raise typer.Exit(1)


def show(paths: list[Path], found: "list[Verdict]", together: "Verdict | None", *, as_document: bool) -> None:
    """Print a verdict a certificate, and one on all of them."""
    if as_document:
        said = [{"valid": one.valid, "why": one.why} for one in found]
        if len(said) == 1:
            as_json(said[0])
            return
        named = [{"certificate": str(path), **one} for path, one in zip(paths, said, strict=True)]
        last = together or next(one for one in found if not one.valid)
        as_json({"valid": last.valid, "why": last.why, "certificates": named})
        return
    for path, one in zip(paths, found, strict=True):
        place = f"{path}: " if len(paths) > 1 else ""
        say(f"{place}{words(one)}")
    if together is not None:
        say(f"Together: {together.why}")


def words(verdict: "Verdict") -> str:
    """Say whether a certificate holds, and why."""
    return f"{'Valid' if verdict.valid else 'NOT valid'}. {verdict.why}"


def public_key(text: str | None) -> "PublicKey | None":
    """Read the key that is demanded."""
    from entwined.signing import PublicKey

    return None if text is None else PublicKey.from_text(text)


def read(path: Path) -> Any:
    """Read a certificate from a file."""
    from entwined.bounds.certificate import read_certificate

    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadCertificate(f"{path} is a pipe or a device. Give the path of a certificate.")
    if path.is_dir():
        raise BadCertificate(f"{path} is a folder. Give a certificate in it: {path / CERTIFICATE}.")
    found = read_certificate(path)
    if isinstance(found, dict) and str(found.get("format", "")).startswith(NUMBERS):
        raise BadCertificate(
            f"{path} holds released numbers. Give the {CERTIFICATE} beside it; the numbers are held against it."
        )
    return found


def checked(
    document: Any,
    beside: Path,
    schema: Path | None,
    models: Path | None,
    key: "PublicKey | None",
    trusting: list[str],
) -> "Verdict":
    """Derive one certificate again; that of a release rests on its schema."""
    if not is_of_release(document):
        from entwined.bounds import verify

        if key is not None:
            raise BadInput(
                "Certificates of bounds are not signed. Leave --key out, or give one of a release."
            )
        return verify(document, beside if models is None else models, trusting=trusting)
    from entwined.request.published import verify_published
    from entwined.schema import read_schema

    place = beside / SCHEMA if schema is None else schema
    if not place.exists():
        raise BadCertificate(
            f"The certificate is of a release, and its schema is not at {place}. Name it with --schema."
        )
    return verify_published(document, read_schema(place), beside, models, key, trusting)


def is_of_release(document: Any) -> bool:
    """Tell certificates of releases from those of bounds."""
    return isinstance(document, dict) and str(document.get("format", "")).startswith(
        (OF_RELEASE, OF_MECHANISM)
    )


@dataclass(frozen=True)
class LedgerCheck:
    """Where the files of a certificate are, for a check against the ledger itself, which only its holder has."""

    beside: Path
    schema: Path | None
    models: Path | None
    trusting: list[str]

    def verdict(self, document: Any, verdict: "Verdict", place: str) -> "Verdict":
        """Compare a certificate with the ledger, and all published numbers with the draws in it."""
        from entwined.bounds import Verdict
        from entwined.ledger import Book
        from entwined.request.history import wrong_in_ledger
        from entwined.request.published import certificate_in

        if not is_of_release(document):
            raise BadInput("A certificate of a bound is in no ledger. Leave --ledger out.")
        book = Book(place)
        try:
            wrong = wrong_in_ledger(certificate_in(document), book)
            if wrong is None:
                return Verdict(valid=True, why=f"{verdict.why} {self._compared(document, book)}")
        except BadCertificate as reason:
            wrong = str(reason)
        finally:
            book.close()
        return Verdict(valid=False, why=wrong)

    def _compared(self, document: Any, book: "Book") -> str:
        """Make the published files again from the draws, and say which are the same."""
        from entwined.report.rebuilding import PublishedFolder
        from entwined.schema import read_schema

        schema = read_schema(self.beside / SCHEMA if self.schema is None else self.schema)
        models = self.beside if self.models is None else self.models
        folder = PublishedFolder(self.beside, schema, book, models, self.trusting)
        try:
            folder.require(document)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise BadCertificate(
                "The published files cannot be made again from the ledger: a part is missing."
            ) from None
        made = f" Its draws give {', '.join(sorted(folder.same))}." if folder.same else ""
        random = (
            f" Made up anew each time, so not compared: {', '.join(folder.made_up)}."
            if folder.made_up
            else ""
        )
        return f"The ledger says the same.{made}{random}"


def history(documents: list[Any]) -> "Verdict":
    """Say whether certificates can belong to one history."""
    from entwined.request.history import one_history
    from entwined.request.published import certificate_in

    if not all(map(is_of_release, documents)):
        raise BadInput("Certificates of bounds have no history. Give those of releases together.")
    return one_history([certificate_in(document) for document in documents])
