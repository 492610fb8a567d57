"""What a release talks about, and regressions that keep a secret."""

import json
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.attributes import coefficient_case, talks_about, talks_of
from entwined.bounds.attributes.least_trace import least_trace, strain
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.cli.app import app
from entwined.errors import BadInput, BadModel
from entwined.schema import Boolean, Categorical, Integer, Schema, write_schema

RELEASE = """
table = "private.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 3
leakage = 1

[[query]]
kind = "mean"
column = "weight"
count = "public"
"""


def rows_of(seed: str, count: int) -> str:
    luck = random.Random(seed)
    lines = ["sex,weight,height,ill\n"]
    for _ in range(count):
        sex = luck.choice(["female", "other"])
        height = luck.gauss(165 if sex == "female" else 178, 6)
        weight = luck.gauss(height - 95, 8)
        lines.append(f"{sex},{weight:.0f},{height:.0f},{luck.random() < 0.2}\n")
    return "".join(lines)


@pytest.fixture
def planned(tmp_path, monkeypatch):
    for name in ("private", "public"):
        (tmp_path / f"{name}.csv").write_text(rows_of(name, 600))
    columns = (
        Categorical("sex", ("female", "other", "none")),
        Integer("weight", 0, 250),
        Integer("height", 50, 250),
        Boolean("ill"),
    )
    write_schema(Schema(columns, rows=600).approve(), tmp_path / "schema.toml")
    (tmp_path / "release.toml").write_text(RELEASE)
    monkeypatch.chdir(tmp_path)
    return lambda *given: CliRunner().invoke(app, ["plan", "release.toml", *given])


def test_a_plan_says_which_columns_it_talks_about_by_a_public_table(planned):
    found = planned("--talks-about", "public.csv", "--json")
    told = {one["column"]: one for one in json.loads(found.stdout)["talks_about"]}
    assert told["weight"]["odds_factor"] is None
    assert told["height"]["guessed_right"] > 0.78 > told["sex = female"]["guessed_right"] > 0.6
    assert told["ill"]["guessed_right"] < 0.55
    assert "Without noise this release would talk about" in planned("--talks-about", "public.csv").stdout


def test_the_private_rows_are_not_public(planned):
    Path("copy.csv").write_text(Path("private.csv").read_text())
    found = planned("--talks-about", "copy.csv")
    assert "has the rows of the private one" in str(found.exception)


def test_a_declared_law_will_do_and_its_odds_are_those_of_an_observer(planned):
    law = {"columns": ["weight", "height"], "covariance": [[100, 48], [48, 64]]}
    Path("law.json").write_text(json.dumps(law))
    found = json.loads(planned("--talks-about", "law.json", "--json").stdout)["talks_about"][1]
    luck = np.random.default_rng(3)
    rows = luck.multivariate_normal([0, 0], law["covariance"], (20_000, 10)).mean(
        axis=1
    )  # means of ten rows each
    high = luck.normal(48 / 64 * 8 / math.sqrt(10), math.sqrt((100 - 48**2 / 64) / 10), 20_000)
    low = luck.normal(-48 / 64 * 8 / math.sqrt(10), math.sqrt((100 - 48**2 / 64) / 10), 20_000)
    assert ((high > 0).mean() + (low < 0).mean()) / 2 == pytest.approx(found["guessed_right"], abs=0.01)
    assert np.corrcoef(rows.T)[0, 1] == pytest.approx(0.6, abs=0.02)
    with pytest.raises(BadInput, match="Nothing is said of 'age'"):
        talks_of(law, ["age"])
    with pytest.raises(BadModel, match="symmetric"):
        talks_about(["a", "b"], [[1, 2], [0, 1]], ["a"])


def test_coefficients_of_a_regression_move_in_the_intercept_alone():
    luck = np.random.default_rng(5)
    design = np.column_stack([np.ones(60), luck.normal(0, 1, 60)])
    shift, own = coefficient_case(design.tolist(), 2.0, 3.0, 1.5)
    protected = luck.normal(0, 1, (4000, 60))
    protected -= protected.mean(axis=1, keepdims=True)  # as it varies around a mean that is given
    fits = []
    for mean in (0.0, 1.5):
        answers = 4 + 0.5 * design[:, 1] + 2 * (protected + mean) + luck.normal(0, 3, (4000, 60))
        fits.append(np.linalg.lstsq(design, answers.T, rcond=None)[0])
    assert (fits[1] - fits[0]).mean(axis=1) == pytest.approx(shift, abs=0.05)
    spread = np.cov(fits[0])
    assert np.linalg.eigvalsh(spread - own).min() > -0.05 * np.trace(own)
    mu = 1 / analytic_ratio(Fraction(1), Fraction(1, 1000))
    noise = least_trace([(shift, own)], mu)
    assert strain([(shift, spread)], noise) <= mu**2 * 1.05
    with pytest.raises(BadModel, match="first column is ones"):
        coefficient_case([[2, 1], [1, 1]], 1, 1, 1)
