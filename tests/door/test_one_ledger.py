"""The same rows have one ledger, whatever they are asked by and however they are stored: the rollback guard.

Every entry point is tried on `rows.csv` after its rows were released from under another ledger, or under a newer copy
of the same one, as that file or as another one with the same rows.
"""

import os
import random
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entwined.door import witnessed as witnessed_module
from entwined.errors import BadLedger, LedgerDamaged
from entwined.learning.chain_on_request import counts_on_request, settled_counts
from entwined.learning.covariance import covariance_on_request, settled_moments
from entwined.learning.on_request import learn_on_request
from entwined.learning.private import Budget
from entwined.ledger import Book
from entwined.ledger.slices import no_earmarks
from entwined.queries import Histogram
from entwined.request.computed import compute
from entwined.request.desk import open_desk
from entwined.request.fulfil import fulfil
from entwined.request.request_file import read_request
from entwined.schema import Categorical, Integer, Schema, Text, write_schema
from entwined.series.following import Streaming, followed
from entwined.series.journal import StepJournal
from entwined.tables import open_table
from entwined.tables import table as table_module
from entwined.tables.fingerprint import RowSums, fingerprint_of_codes
from entwined.web.offers import Offer
from support import engines
from support.streams import piped

PEOPLE, MONTHS = 30, 6
ROWS = PEOPLE * MONTHS
SCHEMA = Schema(
    (
        Text("who", compare="exact"),
        Integer("month", 1, MONTHS),
        Categorical("state", ("well", "ill")),
        Integer("x", 0, 9),
        Integer("y", 0, 9),
    ),
    rows=ROWS,
    most_rows=ROWS,
).approve()
TERMS = 'schema = "schema.toml"\ncap = 500.0\n'
QUERY = 'loss = 1.0\n[[query]]\nkind = "histogram"\ncolumn = "state"\n'
K_MEANS = '[[mechanism]]\nkind = "k_means"\ncolumns = ["x", "y"]\ncentres = 2\nrounds = 1\nloss = 1.0\n'
SYNTHESIS = '[[mechanism]]\nkind = "synthesis"\nloss = 1.0\n'
STREAM = (
    '[[mechanism]]\nkind = "stream"\nname = "ill"\nwhere = "state = \'ill\'"\nhorizon = 400\nloss = 1.0\n'
)


def drawn():
    rng = random.Random(5)
    whose = [(f"p{who}", month) for who in range(PEOPLE) for month in range(1, MONTHS + 1)]
    return {
        "who": ("text", [who for who, _ in whose]),
        "month": ("whole", [month for _, month in whose]),
        "state": ("text", [rng.choice(["well", "ill", None]) for _ in whose]),
        "x": ("whole", [rng.randrange(10) for _ in whose]),
        "y": ("whole", [rng.randrange(10) for _ in whose]),
    }


def request_of(folder, ledger, asked, table="rows.csv"):
    path = folder / f"{len(list(folder.glob('*.toml')))}.toml"
    path.write_text(f'table = "{table}"\nledger = "{ledger}"\n{TERMS}{asked}')
    return read_request(path), path


def release(folder, ledger):
    request, _ = request_of(folder, ledger, QUERY)
    fulfil(request, request.plan())


def k_means(folder, ledger):
    compute(request_of(folder, ledger, K_MEANS)[0])


def synthesis(folder, ledger):
    compute(request_of(folder, ledger, SYNTHESIS)[0])


def stream(folder, ledger):
    streaming = Streaming.of(request_of(folder, ledger, STREAM)[0])
    incoming = os.open(folder / "rows.csv", os.O_RDONLY)
    try:
        with followed(streaming, incoming, StepJournal(folder / f"{ledger}.journal")) as following:
            assert sum(len(block) for block in following.blocks) == ROWS
    finally:
        os.close(incoming)


def learn_columns(folder, ledger):
    learn_on_request(request_of(folder, ledger, QUERY)[0], Budget.of("0.5", "0.5"))


def learn_chain(folder, ledger):
    request, _ = request_of(folder, ledger, QUERY)
    counts_on_request(request, *settled_counts(request, "who", "month", "state", "1"))


def learn_covariance(folder, ledger):
    request, _ = request_of(folder, ledger, QUERY)
    covariance_on_request(request, *settled_moments(request, ["x", "y"], "200"), "0.9")


def service(folder, ledger):
    offer = Offer.open(request_of(folder, ledger, QUERY)[1], no_earmarks)
    asked = {"queries": [{"kind": "histogram", "column": "state"}], "sql": "", "consistent": True}
    try:
        offer.answer(offer.wanted(asked | {"loss": "1", "leakage": None}), "ann", None)
    finally:
        offer.close()


def python(folder, ledger):
    with open_desk(folder / "rows.csv", SCHEMA, ledger=folder / ledger, cap=500) as desk:
        desk.release(Histogram("state"), loss=1)


def python_sql(folder, ledger):
    with open_desk(folder / "rows.csv", SCHEMA, ledger=folder / ledger, cap=500) as desk:
        desk.sql("SELECT COUNT(*) AS n FROM t WHERE x > 4", loss=1)


def python_mechanism(folder, ledger):
    with open_desk(folder / "rows.csv", SCHEMA, ledger=folder / ledger, cap=500) as desk:
        desk.compute("k_means", columns=["x", "y"], centres=2, rounds=1, loss=1)


ENTRIES = (
    release, k_means, synthesis, stream, learn_columns, learn_chain, learn_covariance, service, python, python_sql,
    python_mechanism,
)  # fmt: skip


def same_file(folder):
    return folder / "rows.csv"


def exact_copy(folder):
    return Path(shutil.copy(folder / "rows.csv", folder / "copy.csv"))


def reordered(folder):
    """Rows and columns in another order, numbers in another spelling, and a column more."""
    table = engines.arrow(drawn()).take(np.random.default_rng(2).permutation(ROWS))
    table = table.select(["y", "x", "state", "month", "who"])
    months = pa.array([f"0{month}.0" for month in table["month"].to_pylist()])
    table = table.set_column(3, "month", months).append_column("more", pa.array(range(ROWS)))
    lines = [",".join(table.column_names)]
    lines += [
        ",".join("" if cell is None else str(cell) for cell in row.values()) for row in table.to_pylist()
    ]
    (folder / "sorted.csv").write_text("\n".join(lines) + "\n")
    return folder / "sorted.csv"


def parquet(folder):
    pq.write_table(engines.arrow(drawn()), folder / "rows.parquet")
    return folder / "rows.parquet"


def frame(_):
    return engines.arrow(drawn())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = tmp_path / "project"
    project.mkdir()
    engines.csv_file(drawn(), project)
    write_schema(SCHEMA, project / "schema.toml")
    return project


def slowly(form):
    return pytest.param(form, marks=pytest.mark.slow)


def named(value):
    return value.__name__


def released_from(source, folder, ledger="first.sqlite", loss=1):
    with open_desk(source, SCHEMA, ledger=folder / ledger, cap=500) as desk:
        desk.release(Histogram("x"), loss=loss)


def spent(path):
    if not path.exists():
        return Fraction(0)
    book = Book(path)
    try:
        return book.spent().price.nominal
    finally:
        book.close()


@pytest.mark.parametrize(
    "form", [same_file, slowly(exact_copy), reordered, parquet, slowly(frame)], ids=named
)
def test_no_entry_point_takes_a_second_ledger_for_the_same_rows(folder, form):
    released_from(form(folder), folder)
    for entry in ENTRIES:
        with pytest.raises(BadLedger, match=r"was released (from )?(before|from under)|another one"):
            entry(folder, f"{entry.__name__}.sqlite")
        assert spent(folder / f"{entry.__name__}.sqlite") == 0, entry


@pytest.mark.parametrize(
    "form", [slowly(same_file), slowly(exact_copy), slowly(reordered), parquet, slowly(frame)], ids=named
)
def test_no_entry_point_takes_an_old_copy_of_the_ledger(folder, form):
    """Also where the anchor was put back with it."""
    released_from(form(folder), folder)
    state, saved = folder.parent / "state/entwined/anchors", folder.parent / "saved"
    saved.mkdir()
    for path in folder.glob("first.sqlite*"):
        shutil.copy(path, saved)
    shutil.copytree(state, saved / "anchors")
    released_from(form(folder), folder, loss=2)
    for path in folder.glob("first.sqlite*"):
        path.unlink()
    for path in saved.glob("first.sqlite*"):
        shutil.copy(path, folder)
    shutil.rmtree(state)
    shutil.copytree(saved / "anchors", state)
    for entry in ENTRIES:
        with pytest.raises(LedgerDamaged, match="old copy"):
            entry(folder, "first.sqlite")
    assert spent(folder / "first.sqlite") == 1


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_every_entry_point_binds_the_rows_that_it_was_asked_about(folder, entry):
    """Whatever came first, the next ledger for the same rows is refused; the first one goes on."""
    entry(folder, "first.sqlite")
    with pytest.raises(BadLedger, match="another one"):
        released_from(reordered(folder), folder, "second.sqlite")
    assert spent(folder / "second.sqlite") == 0
    released_from(parquet(folder), folder)


def test_a_file_that_grew_since_its_release_is_followed_under_its_own_ledger_alone(folder):
    released_from(folder / "rows.csv", folder)
    with (folder / "rows.csv").open("a") as growing:
        growing.write("p0,1,ill,3,4\n")
    with pytest.raises(BadLedger, match="was released from before"):
        stream(folder, "second.sqlite")
    assert not (folder / "second.sqlite").exists()


def test_what_is_documented_as_not_noticed_is_not(folder):
    """A row more or less, and another coding of the columns: docs/operations.md says so."""
    released_from(folder / "rows.csv", folder)
    lines = (folder / "rows.csv").read_text().splitlines(keepends=True)
    (folder / "fewer.csv").write_text("".join(lines[:1] + lines[2:]))
    columns = tuple(one if one.name != "x" else Integer("x", 0, 12) for one in SCHEMA.columns)
    coarser = Schema(columns, most_rows=ROWS).approve()
    plain = Schema(SCHEMA.columns, most_rows=ROWS).approve()
    for at, (source, schema) in enumerate(((folder / "fewer.csv", plain), (parquet(folder), coarser))):
        with open_desk(source, schema, ledger=folder / f"other{at}.sqlite", cap=9) as desk:
            assert desk.release(Histogram("state"), loss=1)


def test_rows_of_a_pipe_are_known_once_they_came_in(folder):
    """Before they are read nobody can tell; a release of the same rows under another ledger is refused from then on."""
    text = (folder / "rows.csv").read_text()

    def follow(name):
        streaming = Streaming.of(request_of(folder, f"{name}.sqlite", STREAM)[0])
        end = piped(text)
        try:
            with followed(streaming, end, StepJournal(folder / f"{name}.journal"), again=False) as following:
                return sum(len(block) for block in following.blocks)
        finally:
            os.close(end)

    assert follow("piped") == ROWS
    with pytest.raises(BadLedger, match="another one"):
        released_from(parquet(folder), folder, "second.sqlite")
    with pytest.raises(BadLedger, match="another one"):
        follow("second")


def test_a_file_that_grew_while_it_was_followed_is_bound_as_it_was_and_as_it_is(folder):
    whole = (folder / "rows.csv").read_text()
    lines = whole.splitlines(keepends=True)
    (folder / "rows.csv").write_text("".join(lines[: ROWS // 2]))
    streaming = Streaming.of(request_of(folder, "first.sqlite", STREAM)[0])
    incoming = os.open(folder / "rows.csv", os.O_RDONLY)
    with followed(streaming, incoming, StepJournal(folder / "ill.journal")) as following:
        next(following.blocks)
        with (folder / "rows.csv").open("a") as growing:
            growing.write("".join(lines[ROWS // 2 :]))
        list(following.blocks)
    os.close(incoming)
    for name, text in (("then.csv", lines[: ROWS // 2]), ("now.csv", lines)):
        (folder / name).write_text("".join([text[0], *sorted(text[1:])]))
        with pytest.raises(BadLedger, match="another one"):
            released_from(folder / name, folder, f"{name}.sqlite")


def test_rows_that_come_one_by_one_have_the_fingerprint_of_their_table():
    rng = np.random.default_rng(4)
    sizes = {column.name: column.size for column in SCHEMA.columns[1:]}
    codes = np.stack([rng.integers(0, size, 500) for size in sizes.values()], axis=1)
    sums = RowSums(sizes)
    for row in codes[rng.permutation(500)].tolist():
        sums.add(dict(zip(sizes, row, strict=True)))
    assert sums.fingerprint == fingerprint_of_codes(sizes, codes)
    with open_table(engines.arrow(drawn()), SCHEMA) as table:
        found = table.fingerprint()
    sums = RowSums.under(SCHEMA)
    columns = drawn()
    for at in range(ROWS):
        sums.add({name: SCHEMA.coded(name).encode(columns[name][1][at]) for name in sizes})
    assert sums.fingerprint == found


def test_a_large_table_is_scanned_once_for_each_version(folder, monkeypatch):
    scans = []
    monkeypatch.setattr(witnessed_module, "LARGE", ROWS)
    scan = table_module.fingerprint
    monkeypatch.setattr(table_module, "fingerprint", lambda rows: scans.append(1) or scan(rows))
    for turn in range(3):
        released_from(folder / "rows.csv", folder, loss=turn + 1)
    assert len(scans) == 1
    with pytest.raises(BadLedger, match="another one"):
        released_from(reordered(folder), folder, "second.sqlite")
    assert len(scans) == 2
    (kept,) = [path for path in (folder.parent / "state/entwined/fingerprints").iterdir() if path.is_file()][
        :1
    ]
    assert kept.stat().st_mode & 0o077 == 0, "a fingerprint of private rows is for their holder alone"
