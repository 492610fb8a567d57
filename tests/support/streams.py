"""Streams to follow: a folder with a schema, lines that come in and a request for one stream."""

import os
from pathlib import Path

from entwined.request.request_file import read_request
from entwined.schema import Boolean, Integer, Schema, write_schema
from entwined.series.following import Streaming

LINES = "at_home,watts\n" + "".join(f"{at % 3 == 0},{at % 7}\n" for at in range(60))
DAYS = "day,at_home,watts\n" + "".join(f"{at // 4},{at % 3 == 0},{at % 7}\n" for at in range(60))
CHAIN = """
[[dependence]]
model = {kind = "endless_chain", transition = [[0.9, 0.1], [0.1, 0.9]]}
columns = ["at_home"]
missing_says_nothing = ["at_home"]
"""


def stream_in(
    folder: Path, about: str = "", *, models: str = CHAIN, head: str = "", lines: str = LINES
) -> Path:
    """Write all that a stream needs, and give its request."""
    columns = (Boolean("at_home"), Integer("watts", 0, 6))
    if lines.startswith("day"):
        columns = (Integer("day", 0, 99, public=True), *columns)
    write_schema(Schema(columns, most_rows=1000).approve(), folder / "schema.toml")
    (folder / "lines.csv").write_text(lines)
    inside = '\nwhere = "watts >= 0"'
    path = folder / "release.toml"
    path.write_text(
        'table = "lines.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\n'
        f'cap = {5 if "leakage" in about else 10_000}\n{head}\n{models}\n[[mechanism]]\nkind = "stream"\nname = "home"\n{about}{"" if "total" in about or "where" in about else inside}'
    )
    return path


def streaming_in(folder: Path, about: str = "leakage = 1", **more: str) -> Streaming:
    """The same, settled."""
    return Streaming.of(read_request(stream_in(folder, about, **more)))


def piped(text: str) -> int:
    """Give the end of a pipe that says this and no more."""
    out, into = os.pipe()
    os.write(into, text.encode())
    os.close(into)
    return out
