"""Verifying with the ledger refuses every kind of published number that is not what the ledger's draws give.

The forger here is a good one: all digests and the certificate are made again, so that without the ledger nothing is wrong.
"""

import json
import re
import shutil

import pyarrow as pa
import pytest
from openpyxl import load_workbook
from pyarrow import parquet

from corpus.run import run
from entwined.canonical import canonical, sha256
from entwined.door.certificate import covering
from entwined.estimate.post_processing import PostProcessing
from entwined.estimate.release_of_draws import release_of_draws
from entwined.request.published import file_digest
from entwined.request.rebuilding import draws_of
from entwined.request.task_numbers import numbers_of
from entwined.request.verification import claimed
from entwined.schema import Categorical, Integer, Schema, read_schema, write_schema

SCHEMA = Schema(
    (Categorical("region", ("north", "south", "=east")), Integer("age", 0, 99)),
    neighbours="add_remove",
    most_rows=1000,
).approve()
REQUEST = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 20
loss = 2
impossible = ["region is null", "age is null"]
expected_rows = 60

[[query]]
kind = "histogram"
column = "region"

[[query]]
name = "mean age"
kind = "mean"
column = "age"

[[comparison]]
name = "north over south"
kind = "ratio"
one = ["histogram of region", "north"]
other = ["histogram of region", "south"]

[[mechanism]]
name = "Groups by age"
kind = "k_means"
columns = ["age"]
centres = 2
rounds = 2
loss = 1
"""
SYNTHESIS = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 20

[[mechanism]]
name = "description"
kind = "synthesis"
mode = "independent"
loss = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a release in all its forms and with a synthetic table, and their ledger."""
    place = tmp_path_factory.mktemp("rebuilding")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        write_schema(SCHEMA, place / "schema.toml")
        rows = [f"{('north', 'south')[n % 3 > 0]},{n}" for n in range(60)]
        (place / "people.csv").write_text("\n".join(["region,age", *rows, ""]))
        (place / "release.toml").write_text(REQUEST)
        (place / "synth.toml").write_text(SYNTHESIS)
        also = ["--format", "xlsx", "--format", "r"]
        done = run(["release", "release.toml", "-o", "out", "--yes", *also], place)
        assert done.code == 0, done.err
        made = run(["synth", "synth.toml", "-o", "synthetic", "--yes", "--rows", "5"], place)
        assert made.code == 0, made.err
        yield place


@pytest.fixture
def forged(folder, tmp_path):
    """Copies of the folders to forge numbers in, away from their ledger."""
    for name in ("out", "synthetic"):
        shutil.copytree(folder / name, tmp_path / name)
    return tmp_path


def verified(path, *more):
    done = run(["verify", str(path), *map(str, more)], path.parent)
    return done.code, done.out + done.err


def certified_again(place):
    """Do what a forger does: make all digests and certificates again."""
    documents = {path: json.loads(path.read_text()) for path in place.glob("*.json")}
    about = {path for path, document in documents.items() if "certificate" in document}
    for path in sorted(about, key=lambda path: path.name != "release.json"):
        document = documents[path]
        numbers = {key: value for key, value in document.items() if key != "certificate"}
        proof = covering(document["certificate"], released=sha256(canonical(numbers)))
        if path.name != "release.json":
            given = {name: file_digest(place / name) for name in proof["published"]}
            proof = covering(proof, published=given)
        path.write_text(json.dumps(numbers | {"certificate": proof}))
    if (place / "certificate.json").exists():
        proof = json.loads((place / "release.json").read_text())["certificate"]
        given = json.loads((place / "certificate.json").read_text())["published"]
        proof = covering(proof, published={name: file_digest(place / name) for name in given})
        (place / "certificate.json").write_text(json.dumps(proof))


def changed(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def histogram(document):
    return next(answer for answer in document["answers"] if answer["query"]["query"] == "histogram")


def test_a_sound_folder_is_the_one_that_the_draws_give(folder):
    for path in ("out/certificate.json", "out/groups_by_age.json", "synthetic/description.json"):
        code, said = verified(folder / path, "--ledger", folder / "ledger.sqlite")
        assert code == 0, said
        assert "report.html" in said
    assert "synthetic.csv, synthetic.parquet" in said
    assert "not compared" in said
    code, said = verified(folder / "out/certificate.json", "--ledger", folder / "ledger.sqlite")
    for name in ("release.json", "values.csv", "values.parquet", "values.xlsx", "values.R", "comparisons.json", "groups_by_age.csv", "groups_by_age.json"):  # fmt: skip
        assert name in said.partition("Its draws give")[2]


@pytest.mark.parametrize(
    "column",
    [lambda answer: answer["value"], lambda answer: answer["adjusted"]["value"]],
    ids=["value", "adjusted"],
)
def test_a_value_that_does_not_follow_from_the_draws_beside_it_needs_no_ledger(forged, column):
    path = forged / "out" / "release.json"
    changed(path, lambda document: column(histogram(document)).__setitem__(1, 412))
    certified_again(forged / "out")
    code, said = verified(forged / "out" / "certificate.json")
    assert code == 1
    assert "says 412" in said
    assert "value[1]" in said


def test_draws_that_are_not_the_ledgers_are_refused_with_all_that_follows_from_them(folder, forged):
    path = forged / "out" / "release.json"
    document = json.loads(path.read_text())
    histogram(document)["numbers"][0][1] += 4  # more would contradict the other draws, and be warned of
    _, batch = claimed(document["certificate"], read_schema(forged / "out" / "schema.toml"), forged)
    how = PostProcessing.from_document(document["post_processing"])
    made = release_of_draws(batch, draws_of(batch, document), how).numbers
    path.write_text(json.dumps(made | {"certificate": document["certificate"]}))
    certified_again(forged / "out")
    certificate = forged / "out" / "certificate.json"
    assert verified(certificate)[0] == 0  # whoever has no ledger cannot tell
    code, said = verified(certificate, "--ledger", folder / "ledger.sqlite")
    assert code == 1
    assert "histogram of region" in said
    assert re.search(r"answers\[0\]\.[a-z.\[\]0-9]*: it says .+, and the draws in the ledger give .+", said)


def in_csv(path):
    lines = path.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if "region" in line and at)
    names = lines[0].split(",")
    cells = lines[at].split(",")
    cells[names.index("value")] = "412"
    path.write_text("\n".join([*lines[:at], ",".join(cells), *lines[at + 1 :], ""]))


def in_parquet(path):
    table = parquet.read_table(path)
    at = table.schema.names.index("value")
    values = [412.0, *table["value"].to_pylist()[1:]]
    parquet.write_table(table.set_column(at, table.schema.field("value"), pa.array(values)), path)


def in_workbook(path):
    book = load_workbook(path)
    sheet = next(sheet for sheet in book.worksheets if sheet.title not in {"Contents", "Single numbers"})
    cell = next(cell for line in sheet.iter_rows() for cell in line if isinstance(cell.value, int | float))
    cell.value = 412
    book.save(path)


def in_report(path):
    text, times = re.subn(r"(<td[^>]*>)[0-9][0-9.,]*(?=<)", r"\g<1>412", path.read_text(), count=1)
    assert times == 1
    path.write_text(text)


def in_comparisons(path):
    changed(path, lambda document: document["comparisons"][0].__setitem__("value", 412))


def in_sheet(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], ",".join(["412", *lines[1].split(",")[1:]]), *lines[2:], ""]))


def nudged(drawn):
    """Change every drawn count by one."""
    match drawn:
        case list():
            return [nudged(each) for each in drawn]
        case dict():
            counted = {"tables", "numbers", "counts"}
            return {key: nudged(each) if key in counted else each for key, each in drawn.items()}
    return drawn + 1 if isinstance(drawn, int) else drawn


@pytest.mark.parametrize(
    ("name", "forge", "certificate"),
    [
        ("out/values.csv", in_csv, "out/certificate.json"),
        pytest.param("out/values.parquet", in_parquet, "out/certificate.json", marks=pytest.mark.slow),
        ("out/values.xlsx", in_workbook, "out/certificate.json"),
        pytest.param(
            "out/values.R",
            lambda path: path.write_text("412\n"),
            "out/certificate.json",
            marks=pytest.mark.slow,
        ),
        ("out/report.html", in_report, "out/certificate.json"),
        ("out/comparisons.json", in_comparisons, "out/certificate.json"),
        ("out/groups_by_age.csv", in_sheet, "out/certificate.json"),
        pytest.param("out/groups_by_age.csv", in_sheet, "out/groups_by_age.json", marks=pytest.mark.slow),
        pytest.param(
            "synthetic/description.csv", in_sheet, "synthetic/description.json", marks=pytest.mark.slow
        ),
        pytest.param(
            "synthetic/dictionary.csv", in_sheet, "synthetic/description.json", marks=pytest.mark.slow
        ),
    ],
)
def test_a_file_with_another_number_is_refused_though_all_digests_are_right(
    folder, forged, name, forge, certificate
):
    before = (forged / name).read_bytes()
    forge(forged / name)
    assert (forged / name).read_bytes() != before
    certified_again((forged / name).parent)
    assert verified(forged / certificate)[0] == 0
    code, said = verified(forged / certificate, "--ledger", folder / "ledger.sqlite")
    assert code == 1
    assert name.partition("/")[2] in said
    assert "412" in said


@pytest.mark.parametrize("name", ["out/groups_by_age.json", "synthetic/description.json"])
def test_draws_of_a_mechanism_that_are_not_the_ledgers_are_refused(folder, forged, name):
    path = forged / name
    document = json.loads(path.read_text())
    _, mechanism = claimed(document["certificate"], read_schema(path.parent / "schema.toml"), forged)
    draws = canonical(nudged(json.loads(document["drawn"])))
    assert draws != document["drawn"]
    made = numbers_of(document["name"], mechanism, draws)
    path.write_text(json.dumps(made | {"certificate": document["certificate"]}))
    certified_again(path.parent)
    assert verified(path)[0] == 0
    code, said = verified(path, "--ledger", folder / "ledger.sqlite")
    assert code == 1
    assert "differs at drawn" in said


def test_files_that_follow_from_a_plan_are_not_believed_without_it(folder, forged):
    (forged / "out" / "plan.json").unlink()
    code, said = verified(forged / "out" / "certificate.json", "--ledger", folder / "ledger.sqlite")
    assert code == 1
    assert "plan.json" in said
