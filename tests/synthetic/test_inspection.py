"""A synthetic table beside the real one: figures that are known by hand, and files that say whose they are."""

import csv
import itertools
import json
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.errors import BadInput, HolderError, Unapproved
from entwined.learning.codes import Codes
from entwined.learning.pairs import pair_counts
from entwined.report.inspection_page import FIRST_LINE, inspection_page
from entwined.schema import Categorical, Integer, Schema, Text, write_schema
from entwined.synthetic.answering import tables_asked
from entwined.synthetic.disclosure import copies, membership
from entwined.synthetic.holders_rows import SideBySide, held_out, public_cells, side_by_side
from entwined.synthetic.inspection import WARNING, inspected
from entwined.synthetic.likeness import all_apart, apart, mean_distance, total_variation
from entwined.synthetic.relations import correlation, correlations, informations
from entwined.synthetic.subgroups import subgroups
from entwined.synthetic.summing_up import sentences
from entwined.synthetic.telling_apart import told_apart
from entwined.synthetic.training import trained

SIZES = {"sex": 3, "work": 5, "age": 21, "pay": 3}
HOSTILE = "<script>alert(1)</script>"


def people(rows, seed, *, tied=True):
    """Pay hangs on work and age, unless columns were shuffled."""
    rng = np.random.default_rng(seed)
    sex, work, age = rng.integers(0, 2, rows), rng.integers(0, 4, rows), rng.integers(0, 20, rows)
    pay = (rng.random(rows) < (0.1 + 0.2 * work)).astype(int)
    if not tied:
        pay = rng.permutation(pay)
    return Codes.of(SIZES, np.stack([sex, work, age, pay], axis=1))


@pytest.fixture(scope="module")
def real():
    return people(2000, 1)


@pytest.fixture(scope="module")
def alike():
    return people(2000, 2)


@pytest.fixture(scope="module")
def shuffled():
    return people(2000, 3, tied=False)


# Distances


def brute(one, other, columns):
    """Half the sum over all cells, one by one."""
    off = 0.0
    for cell in itertools.product(*(range(one.sizes[at]) for at in columns)):
        first, second = (
            (codes.values[:, list(columns)] == np.array(cell)).all(axis=1).mean() for codes in (one, other)
        )
        off += abs(first - second)
    return off / 2


@pytest.mark.parametrize("columns", [(0,), (1, 3), (0, 2, 3)])
def test_distances_are_those_of_the_definition(real, shuffled, columns):
    assert total_variation(real, shuffled, columns) == pytest.approx(brute(real, shuffled, columns))
    assert total_variation(real, real, columns) == 0


def test_cells_too_many_to_lay_out_are_looked_up(real, shuffled, monkeypatch):
    expected = total_variation(real, shuffled, (0, 1, 2))
    monkeypatch.setattr("entwined.synthetic.likeness.MOST_CELLS", 10)
    assert total_variation(real, shuffled, (0, 1, 2)) == pytest.approx(expected)


def test_what_chance_does_is_what_two_samples_show():
    """By the mean of forty pairs of samples: the normal law is within a tenth of it."""
    pairs = [(people(1000, 100 + at), people(1500, 200 + at)) for at in range(40)]
    found = [apart(one, other, (1, 3)) for one, other in pairs]
    assert np.mean([one.distance for one in found]) == pytest.approx(
        np.mean([one.by_chance for one in found]), rel=0.1
    )


def test_a_sample_is_as_good_as_its_own_size(real):
    """Rows drawn from the real table are as good as a sample of as many people, within a quarter."""
    rng = np.random.default_rng(5)
    drawn = [real.some(rng.integers(0, real.rows, 500)) for _ in range(30)]
    said = np.median([apart(real, one, (1, 2)).sample for one in drawn])
    assert said == pytest.approx(500, rel=0.25)
    assert apart(real, real, (1,)).sample is None


def test_all_marginals_or_so_many_of_them_the_farthest_first(real, shuffled):
    found = all_apart(real, shuffled, 2)
    assert len(found) == 6
    assert found[0].columns == ("work", "pay")
    assert [one.distance for one in found] == sorted((one.distance for one in found), reverse=True)
    assert len(all_apart(real, shuffled, 2, most=3)) == 3
    assert mean_distance([]) == 0


# Relations and subgroups


def test_relations_that_were_lost_come_first(real, shuffled):
    assert informations(pair_counts(real), pair_counts(shuffled))[0].columns == ("work", "pay")
    lost = correlations(real, shuffled, (1, 2, 3))[0]
    assert lost.columns == ("work", "pay")
    assert lost.real == pytest.approx(np.corrcoef(real.values[:, 1], real.values[:, 3])[0, 1])
    assert abs(lost.synthetic) < 0.1


def test_missing_values_have_no_correlation():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (200, 2))
    values[:100, 1] = 5
    codes = Codes.of({"a": 6, "b": 6}, values)
    there = values[100:]
    assert correlation(codes, (0, 1))[0, 1] == pytest.approx(np.corrcoef(there.T)[0, 1])
    constant = Codes.of({"a": 6, "b": 6}, np.stack([values[:, 0], np.full(200, 2)], axis=1))
    assert correlation(constant, (0, 1))[0, 1] == 0


def test_the_group_that_was_wronged_is_named(real):
    values = real.values.copy()
    group = values[:, 1] == 0
    values[group, 3] = 1 - values[group, 3]
    worst = subgroups(pair_counts(real), pair_counts(Codes(real.names, real.sizes, values)))[0]
    assert (worst.column, worst.cell, worst.other) in {("work", 0, "pay"), ("pay", 1, "work")}
    gone = Codes(real.names, real.sizes, real.values[~group])
    absent = subgroups(pair_counts(real), pair_counts(gone))[0]
    assert (absent.column, absent.cell, absent.distance, absent.synthetic_people) == ("work", 0, 1.0, 0)


# Classifiers


def test_shuffled_columns_are_told_by_pairs_alone(real, alike, shuffled):
    """False alarm: 4 standard deviations of a fair coin."""
    by_columns, by_pairs = (told_apart(real, shuffled, pairs=pairs) for pairs in (False, True))
    assert abs(by_columns.right - 0.5) < 2 * by_columns.half_width
    assert by_pairs.right > 0.5 + 3 * by_pairs.half_width
    assert abs(told_apart(real, alike, pairs=True).right - 0.5) < 2 * by_pairs.half_width
    elsewhere = Codes.of(SIZES, np.full((500, 4), 2))
    assert told_apart(real, elsewhere, pairs=False).right > 0.97


def test_a_model_is_as_good_as_what_it_was_trained_on(real, alike, shuffled):
    good, bad = (trained(real, made, "pay") for made in (alike, shuffled))
    assert good.on_real == bad.on_real
    assert abs(good.on_synthetic - good.on_real) < 2 * good.half_width
    assert bad.on_synthetic < good.on_real - 2 * good.half_width
    with pytest.raises(BadInput, match="Name one of sex"):
        trained(real, alike, "wealth")


def test_questions_are_judged_by_what_chance_does(real, alike, shuffled):
    verdicts = {one.columns: one.verdict for one in tables_asked(all_apart(real, shuffled, 2))}
    assert verdicts["work", "pay"] == "badly"
    assert verdicts["sex", "pay"] == "well"
    assert {one.verdict for one in tables_asked(all_apart(real, alike, 2))} == {"well"}


# Attacks


def test_copies_are_found_and_strangers_are_not():
    rng = np.random.default_rng(4)
    sizes = {f"q{at}": 8 for at in range(8)}
    real, strangers = (Codes.of(sizes, rng.integers(0, 8, (400, 8))) for _ in range(2))
    caught = copies(real, real)
    assert caught.unique == 200
    assert caught.matched > 80
    assert caught.unrelated == 0
    assert copies(real, strangers).matched == 0
    assert membership(real, real, strangers).area > 0.95
    others = Codes.of(sizes, rng.integers(0, 8, (400, 8)))
    innocent = membership(real, others, strangers)
    assert abs(innocent.area - 0.5) < 2 * innocent.half_width


# Two tables under one schema, the page, the command

WORK = ("farm", "shop", HOSTILE, "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, real, alike, shuffled):
    at = tmp_path_factory.mktemp("inspected")
    for name, codes in {
        "real": real,
        "synthetic": alike,
        "shuffled": shuffled,
        "strangers": people(500, 9),
    }.items():
        with (at / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "sex", "work", "age", "pay"])
            writer.writerows(
                ["x", "fm"[sex], WORK[work], 5 * age + at % 5, ["low", "high"][pay]]
                for at, (sex, work, age, pay) in enumerate(codes.values.tolist())
            )
    columns = (
        Text("name"),
        Categorical("sex", ("f", "m")),
        Categorical("work", WORK),
        Integer("age", 0, 99),
        Categorical("pay", ("low", "high")),
    )
    write_schema(Schema(columns, most_rows=10_000).approve(), at / "schema.toml")
    return at


@pytest.fixture(scope="module")
def schema(folder):
    from entwined.schema import read_schema

    return read_schema(folder / "schema.toml")


@pytest.fixture(scope="module")
def both(folder, schema):
    return side_by_side(folder / "real.csv", folder / "shuffled.csv", schema)


def test_both_tables_are_read_in_the_cells_of_the_schema(both, real, shuffled):
    assert both.real.sizes == tuple(SIZES.values())
    assert (both.real.values == real.values).all()
    assert (both.synthetic.values == shuffled.values).all()
    assert both.left_out == {"name": "text is never compared"}
    assert both.ordered == (2,)


def test_columns_that_the_table_lacks_are_named_and_an_unapproved_schema_is_refused(folder, schema, tmp_path):
    (tmp_path / "narrow.csv").write_text("sex,pay\nf,low\nm,high\nm,\n")
    found = side_by_side(folder / "real.csv", tmp_path / "narrow.csv", schema)
    assert found.names == ("sex", "pay")
    assert found.left_out["age"] == "not in the synthetic table"
    assert found.synthetic.values.tolist() == [[0, 0], [1, 1], [1, 2]]
    (tmp_path / "other.csv").write_text("length\n1\n")
    with pytest.raises(BadInput, match="no column of the schema"):
        side_by_side(folder / "real.csv", tmp_path / "other.csv", schema)
    (tmp_path / "empty.csv").write_text("sex,pay\n")
    with pytest.raises(HolderError, match="no rows"):
        side_by_side(folder / "real.csv", tmp_path / "empty.csv", schema)
    with pytest.raises(Unapproved):
        side_by_side(folder / "real.csv", tmp_path / "narrow.csv", Schema(schema.columns, most_rows=10))


def test_numbers_are_cut_and_long_lists_left_out():
    long = Categorical("town", tuple(map(str, range(1200))))
    axes, left_out = public_cells(Schema((Integer("age", 0, 119), long), most_rows=10))
    assert [(axis.column, axis.cells, axis.width) for axis in axes] == [("age", 21, 6)]
    assert list(left_out) == ["town"]


def test_the_page_begins_with_whose_it_is_and_takes_no_name_for_markup(both, folder):
    found = inspected(both, "pay", held_out(folder / "strangers.csv", both))
    page = inspection_page(found)
    assert page.startswith(FIRST_LINE)
    assert WARNING in page.split("\n")[0]
    assert HOSTILE not in page
    assert all(sentence in page for sentence in sentences(found))
    assert "weak evidence" in page
    assert "not what causes what" in page
    assert next(iter(found.document)) == "holder_only"
    json.dumps(found.document, allow_nan=False)


def test_one_column_is_enough(both):
    narrow = SideBySide(both.schema, both.axes[:1], both.real.only(["sex"]), both.synthetic.only(["sex"]), {})
    assert "Mutual information" not in inspection_page(inspected(narrow))


def test_the_command_writes_the_holders_files_apart(folder, tmp_path):
    words = ["inspect", str(folder / "synthetic.csv"), "--table", str(folder / "real.csv")]
    words += ["--schema", str(folder / "schema.toml"), "--target", "pay", "-o", str(tmp_path / "page.html")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "page.holder-only.html",
        "page.holder-only.json",
    ]
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "HOLDER ONLY" in "".join(path.read_text().splitlines()[:2])
