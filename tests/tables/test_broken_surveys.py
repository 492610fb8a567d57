"""A broken survey file is refused before anything is charged, and never ends the process that opened it."""

import os
import random
import signal
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from entwined import open as opened
from entwined.errors import BadTable, EntwinedError, HolderError
from entwined.queries import CountOf, Histogram, everything
from entwined.schema import Categorical, Integer, Schema
from entwined.tables import describe, open_table, survey_process
from entwined.tables.survey_process import asked

SCHEMA = Schema(
    (Integer("age", 0, 99), Categorical("sex", ("m", "f"))), neighbours="add_remove", most_rows=1000
).approve()
ROWS = pd.DataFrame({"age": [float(n % 90) for n in range(200)], "sex": ["m", "f"] * 100})
WRITE = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}


def survey(folder, end):
    path = folder / f"rows{end}"
    WRITE[end](ROWS, str(path))
    return path


def more_rows(path):
    """Say in the head of a Stata file that it has far more rows than it has."""
    data = bytearray(path.read_bytes())
    at = data.index(b"<N>") + 3
    data[at : at + 8] = struct.pack("<q", 10**12)
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-400])


@pytest.mark.parametrize(("end", "spoil"), [(".dta", more_rows), (".dta", cut), (".sav", cut)])
def test_rows_that_cannot_be_read_are_refused_before_the_charge_at_every_try(tmp_path, end, spoil):
    path = survey(tmp_path, end)
    spoil(path)
    try:
        door = opened(path, SCHEMA, ledger=tmp_path / "ledger.sqlite", cap=9)
    except BadTable:
        return
    with door:
        for _ in range(2):
            with pytest.raises(HolderError, match="Nothing was charged"):
                door.release(Histogram("sex"), leakage=1)
        assert door.ledger.spent().price.nominal == 0


def spoilt(data, luck):
    """Change a few bytes anywhere, mostly in the head."""
    made = bytearray(data)
    for _ in range(luck.randrange(1, 6)):
        most = len(made) if luck.random() < 0.3 else min(len(made), 2000)
        made[luck.randrange(most)] = luck.choice([0, 1, 255, luck.randrange(256)])
    return bytes(made)


@pytest.mark.parametrize("end", WRITE)
def test_no_bytes_of_a_file_end_the_process(tmp_path, end):
    whole = survey(tmp_path, end).read_bytes()
    path, luck = tmp_path / f"spoilt{end}", random.Random(7)
    for _ in range(5):
        path.write_bytes(spoilt(whole, luck))
        try:
            with open_table(path, SCHEMA) as table:
                table.check([CountOf(everything())])
        except EntwinedError:
            continue
    path.write_bytes(whole)
    with open_table(path, SCHEMA) as table:
        assert table.answer([CountOf(everything())])[0].tolist() == [200]


@pytest.fixture
def slow(tmp_path):
    """A sound file that takes long enough to be read for something to happen meanwhile."""
    path = tmp_path / "slow.sav"
    pyreadstat.write_sav(pd.concat([ROWS] * 2000), str(path))
    return path


def test_a_reader_that_dies_of_a_fault_is_a_refusal_and_the_next_file_is_read(slow, tmp_path):
    job = {"kind": "rows", "path": str(slow), "rows": str(tmp_path / "rows"), "columns": {}}
    asked({**job, "kind": "names"}, tmp_path)  # it has begun
    reader = survey_process._process._started.pid
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asked, job, tmp_path)
        while not (children := Path(f"/proc/{reader}/task/{reader}/children").read_text().split()):
            assert not answer.done()
        os.kill(int(children[0]), signal.SIGSEGV)
        assert answer.result() is None
    assert asked({**job, "kind": "names"}, tmp_path) == {"names": ["age", "sex"]}
    assert survey_process._process._started.pid == reader


def test_a_reader_that_takes_too_long_is_stopped(slow, tmp_path, monkeypatch):
    monkeypatch.setenv("ENTWINED_READING_SECONDS", "0.02")
    with pytest.raises(BadTable, match=r"not read within 0\.02 seconds"):
        asked({"kind": "rows", "path": str(slow), "rows": str(tmp_path / "rows"), "columns": {}}, tmp_path)


def test_labels_are_read_in_the_same_process(tmp_path):
    path = tmp_path / "labelled.sav"
    pyreadstat.write_sav(ROWS, str(path), column_labels=["Age", "Sex"])
    assert [column.label for column in describe(path).schema.columns] == ["Age", "Sex"]
