"""A regression that keeps a secret mean, from a release file: planned, released, verified, refused in words."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from entwined.schema import Integer, Real, Schema, write_schema

COVARIANCE = np.array(
    [
        [100.0, -40.0, 20.0, 50.0],
        [-40.0, 225.0, 60.0, 10.0],
        [20.0, 60.0, 64.0, 5.0],
        [50.0, 10.0, 5.0, 144.0],
    ]
)
ROWS = 40


RELEASE = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
{rows}

[[mechanism]]
kind = "linear_regression"
name = "weight by height and age"
target = "weight"
columns = ["height", "age"]
{more}

[[secret]]
column = "income"
figure = "mean"
apart = [28, 32]
epsilon = 0.5
delta = 0.05
covariance = {{columns = ["income", "weight", "height", "age"], matrix = {matrix}}}
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    rng = np.random.default_rng(list(str(tmp_path).encode()))
    rows = np.rint(rng.multivariate_normal([30, 80, 170, 40], COVARIANCE, ROWS)[:, 1:]).astype(int)
    (tmp_path / "people.csv").write_text(
        "weight,height,age\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    )
    columns = Integer("weight", 0, 201), Integer("height", 0, 260), Integer("age", -40, 160)
    write_schema(Schema(columns, rows=ROWS).approve(), tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return rows


def write(rows='individuals = "not protected"', more=""):
    text = RELEASE.format(rows=rows, more=more, matrix=COVARIANCE.tolist())
    Path("release.toml").write_text(text)


def told(c, deviation):
    """E_γ at ε = 0.5 between mean incomes of 28 and 32, of the intercept with noise of this deviation."""
    given = COVARIANCE[1:, 1:] - np.outer(COVARIANCE[1:, 0], COVARIANCE[1:, 0]) / COVARIANCE[0, 0]
    moved = 4 * abs(c @ COVARIANCE[1:, 0]) / COVARIANCE[0, 0]
    mu = moved / math.sqrt(c @ given @ c / ROWS + deviation**2)
    return stats.norm.cdf(mu / 2 - 0.5 / mu) - math.exp(0.5) * stats.norm.cdf(-mu / 2 - 0.5 / mu)


def test_a_regression_from_a_release_file(people, run):
    write()
    code, out, _ = run("plan", "release.toml")
    assert (code, "Slopes have no noise" in out) == (0, True)
    code, out, err = run("release", "release.toml", "-o", "out", "--yes", "--json")
    assert (code, err) == (0, "")
    (sheet,) = json.loads(out)["outputs"].values()
    design = np.column_stack([people[:, 1:], np.ones(ROWS)])
    exact = np.linalg.lstsq(design, people[:, 0], rcond=None)[0]
    found = {row["coefficient"]: row for row in sheet["rows"]}
    assert found["height"]["value"] == pytest.approx(exact[0], abs=1e-4)
    assert found["age"]["value"] == pytest.approx(exact[1], abs=1e-4)
    deviation = found["intercept"]["deviation of its noise"]
    assert abs(found["intercept"]["value"] - exact[2]) < 5 * deviation + 0.1
    assert (
        0.98 * 0.05
        < told(np.array([1, -found["height"]["value"], -found["age"]["value"]]), deviation)
        <= 0.05
    )
    (name,) = Path("out").glob("weight*.json")
    assert run("verify", str(name))[0] == 0
    assert "How often the best observer finds out" in Path("out/report.html").read_text()
    assert run("release", "release.toml", "-o", "again", "--yes")[0] == 0


def test_slopes_are_those_of_the_rows_that_there_are(people, run):
    """A number of rows that is declared wrongly does not let means into the slopes."""
    lines = Path("people.csv").read_text().splitlines(keepends=True)
    Path("people.csv").write_text("".join(lines[:31]))
    write()
    code, out, _ = run("release", "release.toml", "-o", "out", "--yes", "--json")
    assert code == 0
    (sheet,) = json.loads(out)["outputs"].values()
    design = np.column_stack([people[:30, 1:], np.ones(30)])
    exact = np.linalg.lstsq(design, people[:30, 0], rcond=None)[0]
    assert [row["value"] for row in sheet["rows"][:2]] == pytest.approx(exact[:2].tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ("leakage = 1\ndelta = 1e-6\ncap = 3", "", "protects no row"),
        ('individuals = "not protected"', "leakage = 1", "protects no row"),
        ('individuals = "not protected"', '[[query]]\nkind = "mean"\ncolumn = "age"', "one mechanism alone"),
    ],
)
def test_what_does_not_go_with_it_is_refused(people, run, rows, more, said):
    write(rows, more)
    code, _, err = run("plan", "release.toml")
    assert code != 0
    assert said in " ".join(err.split())


def test_steps_that_are_coarse_beside_what_a_mean_varies_by_are_refused(people, run):
    """Whole rows about their mean tell on which part of a step it lies, unless it varies by a step or so."""
    columns = (
        Real("weight", 0, 200, step=10),
        Integer("height", 0, 260),
        Integer("age", -40, 160),
    )
    write_schema(Schema(columns, rows=ROWS).approve(), Path("schema.toml"))
    write()
    code, _, err = run("plan", "release.toml")
    assert code != 0
    assert "are not small beside what a mean" in " ".join(err.split())
