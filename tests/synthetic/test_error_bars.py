"""What may be published about a synthetic table: from the noise alone, and right by simulation."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.errors import BadInput
from entwined.noise import DiscreteLaplace
from entwined.report.public_word_page import public_word_page
from entwined.schema import Categorical, Integer, Schema, write_schema
from entwined.synthetic.error_bars import public_word, word_of
from support.source import MODULES, imports
from support.two_tables import a_word, noisy_table

NAMES = ["sex", "work", "age", "town"]


def test_a_table_is_as_good_as_a_sample_that_is_as_far_off():
    """The mean square error of the noise is that of so many people drawn by chance."""
    law, rows = np.array([0.5, 0.3, 0.15, 0.05]), 10_000
    noise = DiscreteLaplace(40)
    rng = np.random.default_rng(0)
    noisy = [noise.add((law * rows).astype(np.int64)) for _ in range(400)]
    (bar,) = public_word(["a"], [noisy_table(["a"], (law * rows).astype(int).tolist(), 40)]).bars
    far = np.mean([((one - law * rows) ** 2).sum() for one in noisy])
    drawn = rng.multinomial(round(bar.sample), law, 400) * rows / round(bar.sample)
    assert ((drawn - law * rows) ** 2).sum(axis=1).mean() == pytest.approx(far, rel=0.25)
    misplaced = np.mean([np.abs(one - law * rows).sum() / 2 / rows for one in noisy])
    assert misplaced <= bar.misplaced < 1.3 * misplaced
    inside = np.mean([np.abs(one - law * rows) <= bar.half_width for one in noisy])
    assert inside >= 0.93


def test_a_table_that_was_counted_twice_is_one_with_less_noise():
    """Rows follow the mean of both, weighed by noise: by simulation, and tables of other groups stay apart."""
    rows, scales = 10_000, (40, 60)
    law = np.array([5000, 3000, 1500, 500])
    once = [public_word(["a"], [noisy_table(["a"], law.tolist(), scale)]).bars[0] for scale in scales]
    tables = [noisy_table(["a"], law.tolist(), scale) for scale in scales]
    (bar,) = public_word(["a"], tables).bars
    assert bar.misplaced < min(one.misplaced for one in once)
    weights = np.array([float(DiscreteLaplace(scale).variance) ** -1 for scale in scales])
    drawn = np.array(
        [[DiscreteLaplace(scale).add(np.zeros(4, np.int64)) for scale in scales] for _ in range(2000)]
    )
    off = np.abs(np.einsum("t,rtc->rc", weights / weights.sum(), drawn))
    assert 0.94 <= np.mean(off <= bar.half_width) <= 0.97
    assert off.sum(axis=1).mean() / 2 / rows <= bar.misplaced
    groups = [table | {"groups": [[0, 1, 2, 3]]} for table in tables[:1]]
    assert len(public_word(["a"], [*tables, *groups]).bars) == 2


def test_noise_in_the_counts_is_taken_out_of_their_squares():
    """Else a table of noise would be taken for one of few large cells."""
    noise, rows = DiscreteLaplace(40), noisy_table(["b"], [2000], 1)
    said = []
    for _ in range(20):
        drawn = noisy_table(["a"], noise.add(np.full(400, 5)).tolist(), 40)
        said += [bar.sample for bar in public_word(["a", "b"], [drawn, rows]).bars if bar.columns == ("a",)]
    exact = 2000**2 * (1 - 1 / 400) / (400 * float(noise.variance))
    assert np.median(said) == pytest.approx(exact, rel=0.1)


def test_relations_are_those_of_some_table():
    word = a_word(NAMES)
    assert word.rows == pytest.approx(100)
    assert word.measured == (("sex", "work"),)
    assert len(word.unmeasured) == 5
    assert word.alone == ("town",)
    assert word.bars[0].columns == ("sex", "work")
    assert public_word(["a"], [noisy_table(["a"], [100, 0], "0.01")]).bars[0].sample is None
    json.dumps(word.document, allow_nan=False)


def test_twice_the_loss_is_half_the_noise():
    found = a_word(NAMES).sweep()
    assert sorted(found) == [1, 2]
    assert found[2][0.5] == pytest.approx(2 * found[2][1.0]) == pytest.approx(4 * found[2][2.0])
    assert found[2][0.1] <= 1


def test_the_page_says_what_was_measured_and_what_not():
    page = public_word_page(a_word(NAMES))
    assert "Not causal" in page
    assert "Counted in no table: <bdi>town</bdi>" in page
    assert "HOLDER" not in page


def test_nothing_public_is_made_near_rows():
    """No module of the public page imports what reads rows, however far down."""
    todo, seen = ["entwined.report.public_word_page"], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [one for one in imports(MODULES[name]) if "synthetic" in one or "learning" in one]
    assert not {"entwined.synthetic.holders_rows", "entwined.synthetic.inspection"} & seen


def described(columns, tables):
    """A description file, as far as error bars are read from it."""
    mechanism = {"columns": [{"column": name, "width": 1} for name in columns]}
    return {"certificate": {"mechanism": mechanism}, "drawn": json.dumps({"tables": tables})}


@pytest.mark.parametrize(
    "document",
    [
        {},
        described([], []),
        described(["a"], [{"columns": ["a"], "counts": []}]),
        described(["a"], [noisy_table(["a"], [], 1)]),
        described(["a"], [noisy_table(["a"], ["x"], 1)]),
        described(["a"], []) | {"drawn": "["},
    ],
)
def test_a_file_that_describes_nothing_is_refused(document):
    with pytest.raises(BadInput, match="no tables of noisy counts"):
        word_of(document)


FILE = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 10

[[mechanism]]
name = "description"
kind = "synthesis"
mode = "independent"
tables = [["sex", "work"]]
leakage = 2
"""


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A described table, with a synthetic one beside it."""
    at = tmp_path_factory.mktemp("described")
    rows = "".join(f"{'fm'[n % 2]},{'abc'[n % 3]},{n % 70}\n" for n in range(600))
    (at / "people.csv").write_text("sex,work,age\n" + rows)
    columns = Categorical("sex", ("f", "m")), Categorical("work", ("a", "b", "c")), Integer("age", 0, 79)
    write_schema(Schema(columns, most_rows=1000).approve(), at / "schema.toml")
    (at / "release.toml").write_text(FILE)
    assert run("release", at / "release.toml", "-o", at / "out", "--yes").exit_code == 0
    (at / "out" / "synthetic.csv").write_text("sex,work,age\n" + rows)
    return at


def test_the_command_writes_a_page_that_may_be_published(folder, tmp_path):
    words = ["inspect", folder / "out", "-o", tmp_path / "page.html"]
    done = run(*words, "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["rows"] == pytest.approx(600, abs=100)
    assert said["relations_measured"] == [["sex", "work"]]
    assert said["relations_not_measured"] == [["age", "sex"], ["age", "work"]]
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert "leaked at most <strong>2</strong>" in (tmp_path / "page.html").read_text()
    assert "sex × work" in run(*words).stdout


def test_both_parts_are_written_apart_and_the_schema_lies_beside(folder, tmp_path):
    words = ["inspect", folder / "out", "--table", folder / "people.csv", "-o", tmp_path / "page.html"]
    done = run(*words, "--json")
    assert list(json.loads(done.stdout)["files"]) == [str(tmp_path / "page.html")]
    assert "HOLDER" not in done.stdout + (tmp_path / "page.html").read_text()
    found = json.loads((tmp_path / "page.holder-only.json").read_text())
    assert found["total_variation"]["2"]["largest"] == 0
    assert len((tmp_path / "page.holder-only.html").read_text()) > 10_000


def test_what_is_lacking_is_said(folder, tmp_path):
    page = tmp_path / "page.html"
    with pytest.raises(BadInput, match="without a description"):
        run("inspect", "rows.csv", "-o", page)
    with pytest.raises(BadInput, match="need the real rows"):
        run("inspect", folder / "out", "--target", "sex", "-o", page)
    with pytest.raises(BadInput, match="Give it with --schema"):
        run("inspect", "rows.csv", "--table", "rows.csv", "-o", page)
    with pytest.raises(BadInput, match="without a description"):
        run("inspect", tmp_path, "-o", page)
    with pytest.raises(BadInput, match="has neither synthetic"):
        run(
            "inspect",
            tmp_path,
            "--table",
            folder / "people.csv",
            "--schema",
            folder / "schema.toml",
            "-o",
            page,
        )


def test_rows_at_random_have_no_description_and_are_compared_all_the_same(folder, tmp_path):
    (tmp_path / "synthetic.csv").write_text("sex,work,age\nf,a,1\nm,b,70\n")
    words = [
        "--table",
        folder / "people.csv",
        "--schema",
        folder / "schema.toml",
        "-o",
        tmp_path / "page.html",
    ]
    files = json.loads(run("inspect", tmp_path, *words, "--json").stdout)["files"]
    assert files == [str(tmp_path / f"page.holder-only.{end}") for end in ("html", "json")]
