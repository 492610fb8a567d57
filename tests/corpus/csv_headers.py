"""CSV files whose first line already tells that they cannot be the table."""

import gzip
import io
import pickle
import tarfile
import zipfile

from corpus.case import each
from corpus.workshop import HEADER, ROW, ROWS, SECRET

PACKED = gzip.compress(ROWS, mtime=0)
NAMES = b"region,age,income,who"


def zipped() -> bytes:
    """A zip with the table in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("survey.csv", ROWS)
    return made.getvalue()


def tarred() -> bytes:
    """A packed tar with the table in it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as pack:
        about = tarfile.TarInfo("survey.csv")
        about.size = len(ROWS)
        pack.addfile(about, io.BytesIO(ROWS))
    return made.getvalue()


def damaged(data: bytes, at: int, to: bytes = b"\xff\x00\xff") -> bytes:
    """Write over a few bytes."""
    at %= len(data)
    return data[:at] + to + data[at + len(to) :]


PLAIN = [
    ("empty", b"", "list of 1 to"),
    ("one line end", b"\n", "list of 1 to"),
    ("only line ends", b"\r\n\r\n\n\n", "list of 1 to"),
    ("only a byte order mark", b"\xef\xbb\xbf", "list of 1 to"),
    ("UTF-16 with a mark", ROWS.decode().encode("utf-16"), "UTF-8"),
    ("UTF-16 big with a mark", b"\xfe\xff" + ROWS.decode().encode("utf-16-be"), "UTF-8"),
    ("UTF-16 without a mark", ROWS.decode().encode("utf-16-le"), "line of names"),
    ("UTF-32", ROWS.decode().encode("utf-32"), "UTF-8"),
    ("UTF-7", "region,äge,income,who\n".encode("utf-7") + ROW, "'age'"),
    ("Latin-1 names", "régïon,age,income,who\n".encode("latin-1") + ROW, "UTF-8"),
    ("Shift JIS names", "地域,age,income,who\n".encode("shift_jis") + ROW, "UTF-8"),
    ("half a character", b"region\xc3,age,income,who\n" + ROW, "UTF-8"),
    ("overlong character", b"region\xc0\xaf,age,income,who\n" + ROW, "UTF-8"),
    ("half a surrogate pair", b"region\xed\xa0\x80,age,income,who\n" + ROW, "UTF-8"),
    ("zero in a name", b"reg\0ion,age,income,who\n" + ROW, "line of names"),
    ("zeros only", bytes(5000), "line of names"),
    ("a quote that stays open", b'region,"age,income,who\n' + ROW, "list of 1 to"),
    ("three quotes", b'"region"",age,income,who\n' + ROW, "list of 1 to"),
    ("a name over two lines", b'"reg\nion",age,income,who\n' + ROW, "list of 1 to"),
    ("a name twice", b"region,age,income,who,age\n" + ROW, "one name"),
    ("a column too few", b"region,income,who\n" + ROW, "'age'"),
    ("no header at all", ROW, "'region'"),
    ("no header, and a cell twice", f"{SECRET},{SECRET},1,2\n".encode() + ROW, "one name"),
    ("names in capitals", HEADER.upper() + ROW, "'region'"),
    ("spaces around names", b" region , age , income , who \n" + ROW, "'region'"),
    ("names in two kinds of delimiter", b"region,age;income;who\n" + ROW, "'region'"),
    ("colons between", b"region:age:income:who\n" + ROW, "'region'"),
    ("commas only", b",,,\n" + ROW, "'region'"),
    ("Excel's first line", b"sep=,\n" + ROWS, "'region'"),
    ("a comment first", b"# a survey\n" + ROWS, "'region'"),
    ("an empty line first", b"\n" + ROWS, "list of 1 to"),
    ("two byte order marks", b"\xef\xbb\xbf" * 2 + ROWS, "'region'"),
    ("look-alike letters", "rеgion,age,income,who\n".encode() + ROW, "'region'"),
    ("decomposed letters", "region\u0301,age,income,who\n".encode() + ROW, "'region'"),
    ("a space of no width", "region\u200b,age,income,who\n".encode() + ROW, "'region'"),
    ("vertical tabs", b"region\x0bage\x0bincome\x0bwho\n" + ROW, "'region'"),
    ("a header of 2 MB", NAMES + b"," + b"x" * 2_000_000 + b"\n" + ROW, "1 MB"),
    ("a name of 10 MB", b"x" * 10_000_000, "1 MB"),
    ("a name of 200 kB", NAMES + b"," + b"x" * 200_000 + b"\n" + ROW, "list of 1 to"),
    ("10^6 columns", NAMES + b",column" * 10**6 + b"\n" + ROW, "1 MB"),
    ("10^6 short columns", b"," * 999_999 + b"\n", "10,000"),
    ("10,001 columns", NAMES + b"".join(b",c%d" % at for at in range(9_997)) + b"\n", "10,000"),
    ("10^6 quotes", b'"' * 1_000_000 + b"\n", "list of 1 to"),
    ("JSON", b'[{"region": "north"}]\n', "'region'"),
    ("HTML", b"<!doctype html>\n<table></table>\n", "'region'"),
    ("a zip", zipped(), "start with a line"),
    ("a gzip without its name", PACKED, "start with a line"),
    ("a PNG", b"\x89PNG\r\n\x1a\n" + bytes(50), "UTF-8"),
    ("a program", b"\x7fELF\x02\x01\x01" + bytes(50), "line of names"),
    ("a pickle", pickle.dumps({"region": ["north"]}), "start with a line"),
    ("SQLite", b"SQLite format 3\0" + bytes(100), "line of names"),
    ("XML with entities", b'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "c">]>\n', "'region'"),
]
GZIPPED = [
    ("plain text called gz", ROWS, "start with a line"),
    ("empty gz", b"", "list of 1 to"),
    ("gz cut in its head", PACKED[:5], "start with a line"),
    ("gz cut in its data", PACKED[:25], "start with a line"),
    ("gz cut in its sum", PACKED[:-3], "start with a line"),
    ("gz damaged in its magic", damaged(PACKED, 0), "start with a line"),
    ("gz damaged in its flags", damaged(PACKED, 3), "start with a line"),
    ("gz damaged in its data", damaged(PACKED, 12), "start with a line"),
    ("gz damaged in the middle", damaged(PACKED, len(PACKED) // 2), "start with a line"),
    ("gz damaged in its sum", damaged(PACKED, -6), "start with a line"),
    ("gz with rubbish behind", PACKED + b"rubbish", "start with a line"),
    ("gz in gz", gzip.compress(PACKED), "start with a line"),
    ("a tar in gz", tarred(), "line of names"),
    ("a gz bomb without a line end", gzip.compress(b"x" * 1_000_000, 1) * 50, "1 MB"),
    ("a gz bomb of zeros", gzip.compress(bytes(1_000_000), 1) * 50, "1 MB"),
    ("a gz of nothing", gzip.compress(b""), "list of 1 to"),
    ("zstd called gz", b"\x28\xb5\x2f\xfd" + bytes(20), "start with a line"),
]
CASES = [
    *each("CSV header", PLAIN, lambda place, data: place.release(table=place.file("bad.csv", data))),
    *each("gzip", GZIPPED, lambda place, data: place.release(table=place.file("bad.csv.gz", data))),
]
