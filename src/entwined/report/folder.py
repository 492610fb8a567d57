"""A release as a folder: the values and the certificate first, and the folder appears whole or not at all.

If what is only for show cannot be made, the folder holds the rest: a charge is never paid for nothing.
"""

import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from entwined.dependence import Dependence, Edged
from entwined.dependence.graph_files import named_from
from entwined.door.certificate import CERTIFICATE, covering, signed
from entwined.errors import BadInput, Refused
from entwined.estimate.answers import Release
from entwined.estimate.compared import ComparedNumbers
from entwined.report.computed_files import write_certified, write_json
from entwined.report.formats import Format
from entwined.report.release_files import ComputedFiles, ReleaseFiles, carried_out
from entwined.request.computed import Computation
from entwined.request.published import OURS, file_digests
from entwined.schema import Schema
from entwined.schema.files import text_of
from entwined.signing import Key
from entwined.writing import LEAST_ROOM, drafted, why_not

AGAIN: Final = "The ledger keeps the answer: ask the same again, and it is given without a charge."


def require_free(folder: Path, models: Iterable[Dependence] = ()) -> None:
    """Refuse, before anything is charged, a folder that could not be written or edge files that it cannot hold."""
    _edge_files(models)
    try:
        with suppress(FileNotFoundError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or any(folder.iterdir()):
                raise BadInput(f"{folder!s:.200} is there already and not empty. Name a new folder.")
        above = next(place for place in folder.absolute().parents if place.exists())
        try:
            with drafted(
                above / CERTIFICATE
            ) as probe:  # rights alone do not tell: some places take no files at all
                probe.write_bytes(bytes(LEAST_ROOM))
                probe.unlink()
        except OSError as reason:
            raise BadInput(
                f"{folder!s:.200} cannot be made in {above!s:.200}: {why_not(reason)} Nothing was charged."
            ) from None
    except (OSError, ValueError) as reason:
        raise BadInput(f"{folder!s:.200} cannot be used: {_why(reason)}. Name another folder.") from None


def write_release(  # noqa: PLR0913  (all that goes into a folder)
    folder: Path,
    *,
    release: Release,
    names: Sequence[str],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
    models: Iterable[Dependence] = (),
    key: Key | None = None,
    also: Sequence[Format] = (),
    computed: Sequence[Computation] = (),
    compared: Sequence[ComparedNumbers] = (),
) -> list[Path]:
    """Write all that people and programs need of a release into a new folder."""
    edges = _edge_files(models)
    files = ReleaseFiles(release, names, schema, carried_out(outlook, budget), computed, compared, also)

    def fill(draft: Path) -> list[str]:
        (draft / "schema.toml").write_text(text_of(schema), encoding="utf-8", newline="\n")
        _copy_edges(edges, draft)
        failed = files.write(draft)
        write_certified(draft, computed, key)
        certificate = covering(release.certificate, published=file_digests(draft))
        write_json(draft / CERTIFICATE, certificate if key is None else signed(certificate, key))
        return failed

    return write_files(folder, fill)


def write_computed(  # noqa: PLR0913  (all that goes into a folder)
    folder: Path,
    *,
    computed: Sequence[Computation],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
    models: Iterable[Dependence] = (),
    key: Key | None = None,
    also: Callable[[Path], object] | None = None,
) -> list[Path]:
    """Write what mechanisms gave into a new folder, where no question was asked beside them.

    `also` writes what is made of it into the same folder, and the certificate covers that too.
    """
    edges = _edge_files(models)
    files = ComputedFiles(computed, schema, carried_out(outlook, budget))

    def fill(draft: Path) -> list[str]:
        (draft / "schema.toml").write_text(text_of(schema), encoding="utf-8", newline="\n")
        _copy_edges(edges, draft)
        failed = files.write(draft)
        if also is not None:
            also(draft)
        write_certified(draft, computed, key)
        return failed

    return write_files(folder, fill)


def write_files(folder: Path, fill: Callable[[Path], list[str]]) -> list[Path]:
    """Fill a new folder, which appears whole or not at all; then say what could not be made of what is for show."""
    require_free(folder)
    target = folder.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with drafted(target) as draft:
            draft.mkdir()
            failed = fill(draft)
    except OSError as reason:
        raise BadInput(f"{folder!s:.200} cannot be written: {why_not(reason)} {AGAIN}") from None
    if failed:
        raise Refused(f"{' '.join(failed)} Everything else is in {folder!s:.200}. {AGAIN}")
    return sorted(folder.iterdir())


def _edge_files(models: Iterable[Dependence]) -> dict[str, Edged]:
    """Find the models whose edges stand in a file, by its name; one name must mean one file."""
    found: dict[str, Edged] = {}
    for model in models:
        if not isinstance(model, Edged) or not model.fields:
            continue
        name = str(dict(model.fields)["edges"])
        if name in OURS or found.setdefault(name, model).edges_digest != model.edges_digest:
            raise BadInput(
                f"The edge file {name!r:.100} is published beside the certificate, and another file there is called "
                "so. Rename it."
            )
    return found


def _copy_edges(edges: Mapping[str, Edged], draft: Path) -> None:
    """Put the edge files beside the certificate, without which nobody could derive it again."""
    for name, model in edges.items():
        if model.edges_file is not None:
            shutil.copyfile(model.edges_file, draft / name)
        if named_from(model, draft) is None:
            raise Refused(
                f"The edge file {name!r:.100} is not any more what was read. Bring it back. {AGAIN}"
            )


def _why(reason: Exception) -> str:
    return getattr(reason, "strerror", None) or "it is no path"
