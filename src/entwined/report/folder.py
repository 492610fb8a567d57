"""A release as a folder: the values and the certificate first, and the folder appears whole or not at all.

If what is only for show cannot be made, the folder holds the rest: a charge is never paid for nothing.
"""

import json
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from entwined.errors import BadInput, EntwinedError, Refused
from entwined.release import Release
from entwined.report.charts import no_charts
from entwined.report.findings import findings
from entwined.report.release_page import report_page
from entwined.report.values import write_values
from entwined.schema import Schema, write_schema

AGAIN: Final = "The ledger keeps the answer: ask the same again, and it is given without a charge."


def require_free(folder: Path) -> None:
    """Refuse, before anything is charged, a folder that could not be written."""
    try:
        with suppress(FileNotFoundError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or any(folder.iterdir()):
                raise BadInput(f"{folder!s:.200} is there already and not empty. Name a new folder.")
        above = next(place for place in folder.absolute().parents if place.exists())
        try:
            Path(
                tempfile.mkdtemp(dir=above)
            ).rmdir()  # rights alone do not tell: some places take no files at all
        except OSError:
            raise BadInput(
                f"{folder!s:.200} cannot be made: you may not write to {above!s:.200}. Name another."
            ) from None
    except (OSError, ValueError) as reason:
        raise BadInput(f"{folder!s:.200} cannot be used: {_why(reason)}. Name another folder.") from None


def write_release(
    folder: Path,
    *,
    release: Release,
    names: Sequence[str],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> list[Path]:
    """Write everything that people and programs need of a release into a new folder; no report without charts."""
    require_free(folder)
    named = findings(release, names, schema)
    draft = folder.absolute().with_name(f".entwined-{uuid4().hex}")
    try:
        draft.mkdir(parents=True)
        write_values(named, draft)
        _write_json(draft / "release.json", release.document())
        _write_json(draft / "certificate.json", dict(release.certificate))
        write_schema(schema, draft / "schema.toml")
        failed = _shown(draft, release, names, schema, outlook, budget)
        draft.rename(folder)
    except OSError as reason:
        raise BadInput(
            f"{folder!s:.200} cannot be written: {_why(reason)}. Name another folder. {AGAIN}"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    if failed:
        raise Refused(
            f"The report could not be drawn: {failed} Everything else is in {folder!s:.200}. {AGAIN}"
        )
    return sorted(folder.iterdir())


def _shown(
    draft: Path,
    release: Release,
    names: Sequence[str],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> str:
    """Write what is only for show; say why it could not be done, if so."""
    try:
        _write_json(draft / "plan.json", dict(outlook))
        if no_charts():
            return ""
        page = report_page(release, names=names, schema=schema, outlook=outlook, budget=budget)
        (draft / "report.html").write_text(page, encoding="utf-8", newline="\n")
    except EntwinedError as reason:
        return str(reason)
    except OSError:
        raise
    except Exception as reason:  # noqa: BLE001  (the answer is paid for: nothing may keep it from being written)
        return f"{type(reason).__name__}."
    return ""


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")


def _why(reason: Exception) -> str:
    return getattr(reason, "strerror", None) or "it is no path"
