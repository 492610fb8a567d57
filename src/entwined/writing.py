"""One way to write files and folders: aside, where only the owner may look, and then moved whole.

A draft is a folder beside its target. Whoever makes it holds a lock in it, which the kernel gives back when
the maker dies; so whoever writes to the same place next can tell the drafts of the dead and removes them.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from entwined.errors import BadInput

LEAST_ROOM: Final = 1 << 16
"""Bytes without which a disk is full."""
ADVICE: Final = {
    errno.ENOSPC: "the disk is full. Make room there.",
    errno.EDQUOT: "your quota of the disk is used up. Make room there.",
    errno.EFBIG: "a file may not be so large. Raise the limit (ulimit -f).",
    errno.EROFS: "the file system is mounted read-only. Mount it for writing.",
    errno.EACCES: "you have no right to write there. Ask for it, or name another place.",
    errno.EPERM: "you have no right to write there. Ask for it, or name another place.",
    errno.EIO: "the disk does not read or write. Check the disk.",
}
PREFIX: Final = ".entwined-draft-"
LOCK: Final = "lock"
OWNER_ONLY: Final = 0o700
FOR_ONE: Final = 0o600
SUSPECT: Final = re.compile(
    "[=+@|\\-\u2212\u207a\u207b\u207c\u208a\u208b\u208c\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20\uff5c]"
)
"""The signs that begin a formula or an order to another program, with their wide, small and raised forms."""
BLANKS: Final = ("\t", "\r", "\n")
CUTS: Final = re.compile(r"([;\t\r\n])")
QUOTES: Final = '"\u201c\u201d\u201e\u00ab\u00bb\uff02`'
FILLERS: Final = "\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f"
BELOW_ZERO: Final = re.compile(r"-[0-9]+(\.[0-9]+)?")
MARKUP: Final = re.compile(r"[\\`*\[\]|~<>&]")
ENTITIES: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def why_not(failed: OSError) -> str:
    """Say what a file system refuses and what to do about it, as the end of a sentence and a sentence.

    >>> why_not(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full. Make room there.'
    """
    if failed.errno in ADVICE:
        return ADVICE[failed.errno]
    return f"{failed.strerror or 'it is no path'}. Give a path that you may write to."


def why_not_at(folder: Path) -> str:
    """Say what is wrong with the file system of a folder, where that can be seen; else nothing."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return ""
    if about.f_flag & os.ST_RDONLY:
        return ADVICE[errno.EROFS]
    return ADVICE[errno.ENOSPC] if about.f_bavail * about.f_frsize < LEAST_ROOM else ""


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """Lend a path for a file or folder to be made at; on leaving without an error it is moved to its target."""
    sweep(target.parent)
    draft, lock = _begun(target.parent)
    try:
        made = draft / "made"
        yield made
        if made.exists():
            made.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(lock)


def sweep(folder: Path) -> None:
    """Remove the drafts in a folder whose makers died."""
    with suppress(OSError), os.scandir(folder) as found:
        for entry in [one for one in found if one.name.startswith(PREFIX)]:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False) and entry.stat().st_uid == os.geteuid():
                    _remove_if_dead(Path(entry.path))


def write_whole(path: Path, content: str | bytes, *, only_owner: bool = False) -> None:
    """Write a file whole or not at all; one that is there keeps its rights, and a link leads on to its file.

    With `only_owner` nobody else may ever open it: it has these rights before it is where others could look.
    """
    if not path.name:
        raise BadInput(f"{str(path)!r} names no file. Give the path of one.")
    try:
        target = Path(os.path.realpath(path))
        kept = _rights(target)
        rights = FOR_ONE if only_owner else kept
        with drafted(target) as made:
            made.write_bytes(content if isinstance(content, bytes) else content.encode())
            if rights is not None:
                made.chmod(rights)
    except (OSError, ValueError) as failed:
        no_path = "it is no path, or a text that no file can hold. Give a path that you may write to."
        why = why_not(failed) if isinstance(failed, OSError) else no_path
        raise BadInput(f"{path!s:.200} cannot be written: {why}") from None


def _rights(path: Path) -> int | None:
    """Give the rights of the file that is there, if one is; refuse what must not be replaced."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path!s:.200} cannot be written: it is there and is no file. Give another path.")
    if not os.access(path, os.W_OK):
        raise BadInput(f"{path!s:.200} cannot be written: Permission denied. Give a path you may write to.")
    return stat.S_IMODE(found.st_mode)


def _begun(folder: Path) -> tuple[Path, int]:
    """Make a draft and hold its lock; one that a sweeper took for dead in between is given up."""
    while True:
        draft = folder / f"{PREFIX}{uuid4().hex}"
        draft.mkdir(mode=OWNER_ONLY)
        with suppress(FileNotFoundError):
            lock = _locked(draft)
            if lock is not None:
                return draft, lock


def _locked(draft: Path) -> int | None:
    """Take the lock of a draft, unless somebody has it or removed it."""
    lock = os.open(draft / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), (draft / LOCK).stat()):
            return lock
    except BlockingIOError:
        pass
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None


def _remove_if_dead(draft: Path) -> None:
    lock = _locked(draft)
    if lock is not None:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(lock)


def harmless(text: str) -> str:
    """Keep a spreadsheet from taking a text, or a piece of it, for a formula; a number below zero is none.

    Where a spreadsheet cuts lines at semicolons, tabs or bars, each piece of a text becomes a cell of its own. What
    nobody sees in front of a formula, and quotes, do not make it harmless.

    >>> harmless("=1+1"), harmless("-1+1"), harmless("-8"), harmless("north")
    ("'=1+1", "'-1+1", '-8', 'north')
    >>> harmless(" =1+1"), harmless("|calc"), harmless("a;=1"), harmless("9 - 5; x|y")
    ("' =1+1", "'|calc", "a;'=1", '9 - 5; x|y')
    """
    if not text.startswith(BLANKS) and not SUSPECT.search(text):
        return text
    pieces = CUTS.split(text)  # every second one is what it was cut at
    pieces[::2] = ["|".join(map(_marked, piece.split("|"))) for piece in pieces[::2]]
    pieces[::2] = map(
        _marked, pieces[::2]
    )  # a bar that nothing was cut at begins an order to another program
    marked = "".join(pieces)
    return f"'{marked}" if marked.startswith(BLANKS) else marked


def _marked(piece: str) -> str:
    """Put an apostrophe before a piece that begins a formula."""
    return f"'{piece}" if _begins_formula(piece) else piece


def _begins_formula(piece: str) -> bool:
    """Whether the first sign that is seen begins a formula, in whatever width it is written."""
    if BELOW_ZERO.fullmatch(piece):
        return False
    return next((SUSPECT.match(sign) is not None for sign in piece if not _is_unseen(sign)), False)


def _is_unseen(sign: str) -> bool:
    """Whether a sign leaves a blank or nothing on paper, or only quotes what follows."""
    return sign in QUOTES or sign in FILLERS or unicodedata.category(sign)[0] in "ZC" or sign.isspace()


def in_markdown(text: str) -> str:
    r"""Write a text for a cell of a Markdown table: nothing in it is markup, HTML or the end of the cell.

    >>> print(in_markdown("<img onerror=x>|[a](javascript:b)"))
    &lt;img onerror=x&gt;\|\[a\](javascript:b)
    """
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return MARKUP.sub(lambda found: ENTITIES.get(found[0]) or f"\\{found[0]}", line)
