"""Wider secrets from a release file: over several columns, by ends of chances, beside counts, by Laplace noise."""

import json
import math
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from entwined.bounds.attributes.together import parity_gap
from entwined.schema import Boolean, Real, Schema, write_schema

ROWS = 200
COLUMNS = Real("weight", 0, 200, step="0.5"), Boolean("tall"), Boolean("good")
HEAD = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
"""
NOT_PROTECTED = 'individuals = "not protected"\n'
WEIGHT = '\n[[query]]\nname = "weight"\nkind = "mean"\ncolumn = "weight"\n'
TALL = '\n[[query]]\nname = "tall"\nkind = "count"\nwhere = "tall"\n'
GOOD = '\n[[query]]\nname = "good"\nkind = "count"\nwhere = "good"\n'
TOGETHER = """
[[secret]]
name = "sex and smoking"
epsilon = 1
delta = 0.001

[[secret.together]]
column = "sex"
value = "female"
apart = [0.4, 0.6]

[[secret.together]]
column = "smokes"
value = "yes"
apart = [[0.1, 0.2], [0.2, 0.3]]

[[secret.law]]
column = "weight"
slopes = {sex = [-12, -10], smokes = 3}
sd = 14
"""
SHARE = """
[[secret]]
column = "sex"
value = "female"
apart = [0.4, 0.6]
epsilon = 1
delta = 0.001

[[secret.law]]
column = "weight"
difference = -12
sd = 14

[[secret.law]]
where = "tall"
chance = [0.2, 0.25]
others_chance = [0.5, 0.6]
"""
NETWORK = {
    "kind": "bayes_net",
    "variables": [
        {"name": "income", "values": ["low", "high"], "parents": [], "table": [[0.5, 0.5]]},
        {"name": "good", "values": ["low", "high"], "parents": ["income"], "table": [[0.8, 0.2], [0.2, 0.8]]},
        {"name": "girl", "values": ["low", "high"], "parents": ["income"], "table": [[0.6, 0.4], [0.4, 0.6]]},
        {"name": "tall", "values": ["low", "high"], "parents": ["girl"], "table": [[0.9, 0.1], [0.1, 0.9]]},
    ],
}
INCOME = '\n[[secret]]\nname = "incomes"\ncolumn = "income"\nnetwork = "network.json"\nepsilon = 1\n'


@pytest.fixture
def people(tmp_path, monkeypatch):
    luck = random.Random(str(tmp_path))
    rows = [f"{luck.gauss(75, 14):.1f},{luck.random() < 0.4},{luck.random() < 0.5}\n" for _ in range(ROWS)]
    (tmp_path / "people.csv").write_text("weight,tall,good\n" + "".join(rows))
    (tmp_path / "network.json").write_text(json.dumps(NETWORK))
    write_schema(Schema(COLUMNS, rows=ROWS).approve(), tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def released(run, *parts):
    Path("release.toml").write_text("\n".join((HEAD, *parts)))
    code, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, ""), err
    assert run("verify", "out/answers.json")[0] == 0
    return json.loads(Path("out/answers.json").read_text())["certificate"], " ".join(out.split())


def test_one_secret_over_two_columns(people, run):
    proof, said = released(run, NOT_PROTECTED, WEIGHT, TOGETHER)
    assert "the share of 'yes' in smokes is under or over 20 %" in said
    assert "alone or together" in proof["says"]
    deviation = (
        math.sqrt(Fraction(proof["mechanism"]["noise"]["variances"][0])) / ROWS / 2
    )  # in steps of half
    moved = 12 * 0.2 + 3 * 0.2
    assert math.sqrt(deviation**2 + 14**2 / ROWS) == pytest.approx(2.5747 * moved, rel=0.01)


def test_a_mean_and_a_count_with_ends_of_chances_leave_together(people, run):
    proof, said = released(run, NOT_PROTECTED, WEIGHT, TALL, SHARE)
    assert "2 answered together" in said
    noise = proof["mechanism"]["noise"]
    assert min(map(Fraction, noise["variances"])) > 6
    page = Path("out/report.html").read_text()
    assert "percentage points more often" in page


def test_laplace_noise_keeps_a_network_of_laws_for_certain(people, run):
    proof, said = released(run, NOT_PROTECTED, TALL, GOOD, INCOME)
    assert "but for a chance" not in said
    scales = [Fraction(one) for one in proof["mechanism"]["noise"]["scales"]]
    shown = math.log(0.58 / 0.42)  # of tall given income: 0.9 · 0.6 + 0.1 · 0.4 against the others
    assert float(scales[0]) == pytest.approx(ROWS / (1 - shown), rel=1e-4)
    assert scales[0] == scales[1]
    worst = exact_leakage(float(scales[0]))
    assert worst <= 1
    assert exact_leakage(0.3 * float(scales[0])) > 1
    assert (
        "but for"
        not in Path("out/report.html").read_text().split("What nobody can tell")[1].split("</section>")[0]
    )


def exact_leakage(scale):
    """The largest log ratio of two counts with Laplace noise, of tables whose columns are all alike or all not."""
    ends = [(0, ROWS), (0, ROWS)]
    income = {"low": (0.58, 0.8), "high": (0.42, 0.2)}
    laws = []
    for tall, good in income.values():
        weights = {
            (a, b): (tall if a == 0 else 1 - tall) * (good if b == 0 else 1 - good) for a, b in product(*ends)
        }
        outputs = product(*ends)
        laws.append(
            [
                sum(w * math.exp(-(abs(x - a) + abs(y - b)) / scale) for (a, b), w in weights.items())
                for x, y in outputs
            ]
        )
    return max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True))


def test_example_1_height_alone_is_free(people, run):
    proof, said = released(run, NOT_PROTECTED, TALL, INCOME)
    assert proof["mechanism"]["noise"] == {"scales": ["0/1"]}
    assert "No noise is needed" in said


def test_laplace_noise_meets_both_promises(people, run):
    proof, _ = released(run, "leakage = 0.001\ncap = 1\n", TALL, INCOME)
    assert "Replacing one row" in proof["says"]
    assert Fraction(proof["mechanism"]["noise"]["scales"][0]) >= 1000


def test_intervals_of_a_network_cost_more_noise(people, run):
    wide = json.loads(json.dumps(NETWORK))
    wide["variables"][2]["table"] = [[[0.55, 0.65], [0.35, 0.45]], [[0.35, 0.45], [0.55, 0.65]]]
    Path("network.json").write_text(json.dumps(wide))
    proof, _ = released(run, NOT_PROTECTED, TALL, GOOD, INCOME)
    shown = math.log(0.62 / 0.38)  # girls may be 0.65 and 0.35
    found = float(Fraction(proof["mechanism"]["noise"]["scales"][0]))
    assert found == pytest.approx(ROWS / (1 - shown), rel=1e-4)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((NOT_PROTECTED, TALL, TOGETHER), "nothing is proved of counts"),
        ((NOT_PROTECTED, WEIGHT, SHARE, INCOME), "one noise does not keep both"),
        (("leakage = 1\ndelta = 1e-6\ncap = 3\n", TALL, INCOME), "Leave delta out"),
        ((NOT_PROTECTED, WEIGHT, TOGETHER.replace("smokes = 3", "age = 3")), "slopes = {sex = "),
    ],
)
def test_what_is_not_proved_is_refused(people, run, parts, said):
    Path("release.toml").write_text("\n".join((HEAD, *parts)))
    code, _, err = run("plan", "release.toml")
    assert code != 0
    assert said in " ".join(err.split())


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (1.0, 0.01), (2.5, 0.05)])
def test_no_rule_decides_further_apart_than_parity_allows(epsilon, delta):
    """A pair of laws reaches it, and of random pairs that keep (ε, δ) none is above."""
    gamma = math.exp(epsilon)
    p, q = (gamma + delta) / (gamma + 1), (1 - delta) / (gamma + 1)
    assert p - q == pytest.approx(parity_gap(epsilon, delta))
    assert max(p - gamma * q, (1 - q) - gamma * (1 - p)) <= delta + 1e-12
    rng = np.random.default_rng(3)
    one, other = (rng.dirichlet(np.full(6, 3.0), 4000) for _ in range(2))
    slips = np.maximum(one - gamma * other, 0).sum(axis=1), np.maximum(other - gamma * one, 0).sum(axis=1)
    kept = np.maximum(*slips) <= delta
    gaps = np.abs(one - other).sum(axis=1) / 2
    assert not (gaps[kept] > parity_gap(epsilon, delta)).any()
