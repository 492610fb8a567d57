"""What a file holds, if it is there, can be read, and is not too large."""

import stat
from pathlib import Path
from typing import Final

from entwined.errors import BadModel

UTF8_MARK: Final = b"\xef\xbb\xbf"
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: Path, most: int) -> bytes:
    """Read a regular file whole, refusing more than `most` bytes before they are read."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise BadModel("This is a folder. Give the file inside it.")
        if not stat.S_ISREG(found.st_mode):
            raise BadModel("This is a pipe or a device. Give a regular file.")
        refuse_large(found.st_size, most)
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise BadModel("There is no such file. Check its name and folder.") from None
    except PermissionError:
        raise BadModel("The file may not be read. Ask for the right to read it.") from None
    except (OSError, ValueError) as failed:
        why = failed.strerror if isinstance(failed, OSError) else failed
        raise BadModel(f"The file cannot be read: {why}. Check its name and folder.") from None
    refuse_large(len(data), most)
    return data


def refuse_large(size: int, most: int) -> None:
    """Refuse a file that would not fit in memory once it is read."""
    if size > most:
        raise BadModel(
            f"The file has {size / 1e6:.0f} MB; the most is {most / 1e6:.0f} MB. Split or shorten it."
        )


def text_of(data: bytes) -> str:
    """Decode UTF-8 without a byte order mark; refuse whatever else it is."""
    if data.startswith(UTF8_MARK):
        raise BadModel("The file starts with a byte order mark. Save it as plain UTF-8, without a mark.")
    refuse_binary(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failed:
        wrong = f"Byte {failed.start + 1} of the file is not UTF-8"
        raise BadModel(f"{wrong}. Save the file as UTF-8 text.") from None


def refuse_binary(data: bytes) -> None:
    """Refuse an empty file, UTF-16, and anything with a zero byte."""
    if not data or data.isspace():
        raise BadModel("The file is empty. Check that it is the right one.")
    if data.startswith(UTF16_MARKS):
        raise BadModel("The file is UTF-16. Save it as UTF-8 text.")
    if b"\0" in data:
        raise BadModel(
            f"Byte {data.index(0) + 1} of the file is zero: it is not text. Save it as UTF-8 text."
        )
