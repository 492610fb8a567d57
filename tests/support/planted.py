"""Tables with values that few people have, in many kinds and formats; and a search for them in whatever was written."""

import csv
import datetime as dt
import gzip
import io
import json
import zipfile

import pandas as pd

PEOPLE, HOLDERS = 240, 9
WORDS = ("I was in the hospital zq", "Ünïcødé 病院 zq", "<b>zq</b>", "=zq1()", "zq@home.example")
NUMBERS = (918273645, -918273644)
DECIMALS = (77.12347, 31415.926)
DAYS = (dt.date(1817, 3, 4), dt.date(2217, 5, 6))
LABELS = tuple(f"zq label {number:02d}" for number in range(30))


def planted(holders, rows_each=1):
    """Rows of people with two rows each or more, of whom so many hold each of the planted values."""
    rows = []
    for person in range(PEOPLE):
        rare = person < holders
        for row in range(max(2, rows_each) if rare else 2):
            number = person + row
            rows.append(
                {
                    "person_id": f"zq-person-{person:04d}",
                    "answer": WORDS[0] if rare else ("yes", "no", "don't know")[number % 3],
                    "place": WORDS[1 + number % 4] if rare else ("north", "south")[number % 2],
                    "pay": NUMBERS[number % 2] if rare else 1000 + 7 * (number % 90),
                    "height": DECIMALS[number % 2] if rare else 1.5 + (number % 50) / 100,
                    "born": DAYS[number % 2] if rare else dt.date(1950 + number % 40, 1 + number % 12, 5),
                    "opinion": f"zq free text {person} {row} {'x' * (person % 7)}",
                    "code": 100.0 + person % 30 if rare else float(1 + number % 4),
                    "recoded": float(1 + person) if person < len(LABELS) else 1.0,
                    "sex": ("f", "m")[number % 2],
                }
            )
    return pd.DataFrame(rows)


def needles():
    """Every text by which a planted value could be found."""
    yield from ("zq", "918273", "77.1234", "31415.9", "1817-", "2217-", "病院")


def write_csv(frame, folder):
    path = folder / "rows.csv"
    frame.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL)
    return path


def write_parquet(frame, folder):
    path = folder / "rows.parquet"
    frame.to_parquet(path)
    return path


def write_duckdb(frame, folder):
    import duckdb

    path = folder / "rows.duckdb"
    with duckdb.connect(str(path)) as link:
        link.register("frame", frame)
        link.execute("CREATE TABLE rows AS SELECT * FROM frame")
    return f"{path}::rows"


def write_sav(frame, folder):
    import pyreadstat

    path = folder / "rows.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels={
            "code": {1: "low", 4: "high"},
            "recoded": {1: "a common answer"} | dict(enumerate(LABELS[1:], 2)),
        },
        missing_ranges={"pay": [{"lo": -1e9, "hi": -1e8}]},
    )
    return path


def write_dta(frame, folder):
    import pyreadstat

    path = folder / "rows.dta"
    pyreadstat.write_dta(frame, str(path), variable_value_labels={"code": {1: "low", 4: "high"}})
    return path


FORMATS = {
    "csv": write_csv,
    "parquet": write_parquet,
    "duckdb": write_duckdb,
    "sav": write_sav,
    "dta": write_dta,
}


def found_in(content, words):
    """Search bytes, and what is packed in them, for words."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            content += b"".join(packed.read(name) for name in packed.namelist())
    if content[:2] == b"\x1f\x8b":
        content += gzip.decompress(content)
    spelled = {word: (word, json.dumps(word)[1:-1]) for word in words}
    return [word for word, ways in spelled.items() if any(way.encode() in content for way in ways)]


def found_below(folder, words, *, but=()):
    """Search every file below a folder, but the tables themselves."""
    left_out = {str(path).partition("::")[0] for path in but}
    files = [path for path in folder.rglob("*") if path.is_file() and str(path) not in left_out]
    return {str(path): hits for path in files if (hits := found_in(path.read_bytes(), words))}
