"""Secrets about whole columns from a release file: planned, released, verified, and refused in words."""

import json
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.canonical import fraction_text
from entwined.door.certificate import opened, sealed
from entwined.errors import OverBudget, Refused
from entwined.mechanisms.batch import plan_batch
from entwined.promise.promise import promise_of
from entwined.promise.secrets import KeptSecrets
from entwined.queries import Count, Mean
from entwined.queries.plain import PlainSum
from entwined.request.desk import open_desk
from entwined.request.request_file import read_request
from entwined.request.verification import verify
from entwined.schema import Boolean, Real, Schema, read_schema, write_schema

ROWS = 400
COLUMNS = Real("weight", 0, 200, step="0.1"), Real("pressure", 0, 250, step="0.1"), Boolean("anaemia")
NOT_PROTECTED = 'individuals = "not protected"'
ROWS_TOO = "leakage = 1\ndelta = 1e-6\ncap = 3"
HEAD = """
title = "The ward"
table = "patients.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
"""
WOMEN = """
[[secret]]
name = "share of women"
column = "sex"
value = "female"
apart = [[0.25, 0.5], [0.5, 0.75]]
epsilon = 1
delta = 0.001
"""
WEIGHT = '\n[[secret.law]]\ncolumn = "weight"\ndifference = [-14, -10]\nsd = 15\n'
PRESSURE = '\n[[secret.law]]\ncolumn = "pressure"\ndifference = [-0.5, 0.5]\nsd = 20\n'
ANAEMIA = '\n[[secret.law]]\nwhere = "anaemia"\nchance = 0.3\nothers_chance = 0.1\n'
MEAN_WEIGHT = '\n[[query]]\nname = "mean weight"\nkind = "mean"\ncolumn = "weight"\n'
MEAN_PRESSURE = '\n[[query]]\nname = "mean pressure"\nkind = "mean"\ncolumn = "pressure"\n'
COUNTED = '\n[[query]]\nname = "anaemia"\nkind = "count"\nwhere = "anaemia"\n'


@pytest.fixture
def ward(tmp_path, monkeypatch):
    luck = random.Random(str(tmp_path))  # other rows in every test: tables are bound to their ledgers
    lines = []
    for _ in range(ROWS):
        female = luck.random() < 0.6
        weight, pressure = luck.gauss(75 if female else 87, 15), luck.gauss(100, 20)
        lines.append(f"{weight:.1f},{pressure:.1f},{luck.random() < (0.3 if female else 0.1)}\n")
    (tmp_path / "patients.csv").write_text("weight,pressure,anaemia\n" + "".join(lines))
    write_schema(Schema(COLUMNS, rows=ROWS).approve(), tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*parts: str) -> None:
    Path("release.toml").write_text("\n".join((HEAD, *parts)))


def certificate(folder: str) -> dict:
    return json.loads(Path(folder, "answers.json").read_text())["certificate"]


def test_individuals_not_protected_is_said_first_everywhere_and_closes_the_table(ward, run):
    write(NOT_PROTECTED, MEAN_WEIGHT, WOMEN, WEIGHT)
    code, out, _ = run("plan", "release.toml", "--html", "plan.html")
    assert (code, out[:29]) == (0, "INDIVIDUALS ARE NOT PROTECTED")
    assert "INDIVIDUALS ARE NOT PROTECTED" in Path("plan.html").read_text()
    code, out, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (code, err) == (0, "")
    page = Path("out/report.html").read_text()
    body = page[page.index("<body") :]
    assert body.index("INDIVIDUALS ARE NOT PROTECTED") < body.index("<h1")
    assert "An observer cannot tell whether the share of" in body
    assert "The column is not in the table." in body
    assert "<svg" in body
    assert "How often the best observer finds out" in body
    assert "exp(0)" not in body
    proof = certificate("out")
    assert proof["says"].startswith("INDIVIDUALS ARE NOT PROTECTED")
    assert proof["nominal"] == proof["secrets"]["individuals"] == "not protected"
    assert run("verify", "out/answers.json")[0] == 0
    again = run("release", "release.toml", "-o", "again", "--yes")
    assert "nothing new was charged" in again[1]
    Path("release.toml").write_text(Path("release.toml").read_text().replace("mean weight", "weight"))
    assert "a second release of this table is refused" in run("plan", "release.toml")[1]
    code, _, err = run("release", "release.toml", "-o", "second", "--yes")
    assert (code, "a second release of this table is refused" in err) == (1, True)
    write("leakage = 1\ncap = 3", COUNTED)
    code, _, err = run("release", "release.toml", "-o", "rows", "--yes")
    assert code == 2
    assert "made for other terms" in err
    code, _, err = run("budget", "migrate", "release.toml", "--yes")
    assert code == 1
    assert "list of secrets about whole columns is another one" in err


def test_secrets_are_not_promised_for_what_was_released_before(ward, run):
    write("leakage = 1\ncap = 3", COUNTED)
    assert run("release", "release.toml", "-o", "rows", "--yes")[0] == 0
    write(NOT_PROTECTED, MEAN_WEIGHT, WOMEN, WEIGHT)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 2
    code, _, err = run("budget", "migrate", "release.toml", "--yes")
    assert (code, "secrets about whole columns" in err) == (1, True)


def test_no_noise_is_said_plainly_and_the_exact_mean_leaves(ward, run):
    write(NOT_PROTECTED, MEAN_PRESSURE, WOMEN, PRESSURE)
    code, out, _ = run("release", "release.toml", "-o", "out", "--yes", "--json")
    assert code == 0
    sheet = json.loads(out)["outputs"]["answers"]
    values = np.loadtxt("patients.csv", delimiter=",", skiprows=1, usecols=1)
    assert sheet["rows"][0]["value"] == pytest.approx(values.mean(), abs=1e-6)
    assert (
        "No noise is needed: the spread that the data have by themselves keeps every secret."
        in sheet["notes"]
    )


def told_of_a_sum(difference: float, sd: float, variance: float, step: float, grain: int) -> float:
    """E_e of sums a grain apart, between 100 and 300 women of 400, by their Fourier transforms alone."""
    size = 1 << 20
    turns = 2 * np.pi * np.fft.rfftfreq(size)
    near = (turns + np.pi / grain) % (
        2 * np.pi / grain
    ) - np.pi / grain  # sums a grain apart: their transform repeats
    laws = []
    for women in (100, 300):
        mean = women * difference / step
        own = np.exp(-0.5 * ROWS * (sd / step) ** 2 * near**2 - 1j * near * mean) * np.sinc(
            near * grain / (2 * np.pi)
        )
        laws.append(np.fft.irfft(own * np.exp(-0.5 * variance * turns**2), size))
    one, other = laws
    return float(max(np.maximum(p - math.e * q, 0).sum() for p, q in ((one, other), (other, one))))


@pytest.mark.parametrize("rows", [NOT_PROTECTED, ROWS_TOO])
def test_the_mean_of_a_column_is_checked_by_its_fourier_transform(ward, run, rows):
    write(rows, MEAN_WEIGHT, WOMEN, WEIGHT)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    assert run("verify", "out/answers.json")[0] == 0
    asked = Mean("weight", count="public").bound(read_schema("schema.toml")).plain(read_schema("schema.toml"))
    (variance,) = map(Fraction, certificate("out")["mechanism"]["noise"]["variances"])

    def slip(times: float) -> float:
        noise = float(variance) * times**2
        return told_of_a_sum(-14, 15, noise, float(asked.step), asked.grain)

    assert 0.9e-3 < slip(1.0) <= 1e-3 < slip(0.8)


def test_one_noise_meets_both_promises_and_each_is_checked_exactly(ward, run):
    write(ROWS_TOO, COUNTED, WOMEN, ANAEMIA)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    proof = certificate("out")
    assert "Replacing one row" in proof["says"]
    assert "An observer cannot tell" in proof["says"]
    assert run("verify", "out/answers.json")[0] == 0
    (variance,) = map(Fraction, proof["mechanism"]["noise"]["variances"])
    leaked = float(Fraction(proof["nominal"]))
    places = np.arange(-2000, 2400)
    drawn = np.exp(-(places**2) / (2 * float(variance)))
    drawn /= drawn.sum()

    def apart(one, other, epsilon):
        return max(np.maximum(p - math.exp(epsilon) * q, 0).sum() for p, q in ((one, other), (other, one)))

    assert apart(drawn[1:], drawn[:-1], leaked) <= 1e-6  # one row moves the count by one
    assert leaked < 0.05  # the noise of the secret protects rows far better than was asked
    laws = []
    for women in (ROWS // 4, ROWS * 3 // 4):
        law = np.ones(1)
        for rows, chance in ((women, 0.3), (ROWS - women, 0.1)):
            counted = [math.comb(rows, k) * chance**k * (1 - chance) ** (rows - k) for k in range(rows + 1)]
            law = np.convolve(law, counted)
        laws.append(np.convolve(law, drawn))
    assert apart(*laws, 1.0) <= 1e-3
    assert apart(*laws, 0.9) > 1e-3


def test_a_strict_leakage_makes_the_noise(ward, run):
    write("leakage = 0.001\ndelta = 1e-6\ncap = 3", MEAN_WEIGHT, MEAN_PRESSURE, WOMEN, WEIGHT, PRESSURE)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    assert 0.0009 < float(Fraction(certificate("out")["nominal"])) <= 0.001
    assert run("verify", "out/answers.json")[0] == 0


def test_a_certificate_with_less_noise_or_other_secrets_is_not_valid(ward, run):
    write(NOT_PROTECTED, MEAN_WEIGHT, WOMEN, WEIGHT)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    proof, schema = certificate("out"), read_schema("schema.toml")
    assert verify(proof, schema).valid
    less = json.loads(json.dumps(opened(proof)))
    less["mechanism"]["noise"]["variances"] = [
        fraction_text(Fraction(one) * 16 / 25) for one in less["mechanism"]["noise"]["variances"]
    ]
    assert not verify(sealed(less), schema).valid
    for place, value in (("epsilon", "2/1"), ("delta", "1/2"), ("rows", 300), ("reading", "averaged")):
        other = json.loads(json.dumps(opened(proof)))
        other["secrets"]["kept"][0]["secret"][place] = value
        assert not verify(sealed(other), schema).valid
    hidden = json.loads(json.dumps(opened(proof)))
    hidden["secrets"]["individuals"] = "protected"
    assert not verify(sealed(hidden), schema).valid
    del hidden["secrets"]
    assert not verify(sealed(hidden), schema).valid


def test_nothing_else_passes_the_door_of_a_promise_with_secrets(ward):
    write(ROWS_TOO, COUNTED, WOMEN, ANAEMIA)
    request = read_request("release.toml")
    promise = promise_of(request.schema, (), "any", request.delta, request.secrets)
    batch = plan_batch(promise, [Count(where="anaemia")], leakage=1)
    door = open_desk("patients.csv", request.schema, ledger="ledger.sqlite", cap=3, delta="1e-6")
    with door, pytest.raises(Refused, match="does not keep the secrets"):
        promise.secrets.require_kept(batch.document)
    with pytest.raises(Exception, match="other terms"):
        type(door)(door.table, promise, door.ledger)


def test_a_door_in_python_keeps_them(ward):
    women = ColumnSecret.of(
        "sex", [[0.25, 0.5], [0.5, 0.75]], rows=ROWS, epsilon=1, delta="0.001", value="female"
    )
    kept = KeptSecrets((Guarded(women, (Linked.of("weight", [-14, -10], 15),)),), individuals=False)
    with open_desk("patients.csv", "schema.toml", ledger="ledger.sqlite", cap=1, secrets=kept) as door:
        with pytest.raises(Refused, match="does not keep the secrets"):
            door.release(Count(where="anaemia"), loss=1)
        passed = door.keeping({"weight": Mean("weight")})
        assert passed.certificate["says"].startswith("INDIVIDUALS ARE NOT PROTECTED")
        with pytest.raises(OverBudget, match="a second release of this table is refused"):
            door.keeping({"again": Mean("weight")})
    law = Guarded(women, tuple(Linked.of(name, at, 15) for name in "abcdefghi" for at in (1, 2)))
    with pytest.raises(Refused, match="more than 256 ways"):
        law.cases([PlainSum(name) for name in "abcdefghi"])


def test_sql_keeps_them_too(ward, run):
    write(NOT_PROTECTED, COUNTED, WOMEN, WEIGHT, ANAEMIA)
    code, out, _ = run("sql", "SELECT avg(weight) AS w FROM t", "--dry-run")
    assert (code, "INDIVIDUALS ARE NOT PROTECTED" in out, "An observer cannot tell" in out) == (0, True, True)
    code, out, _ = run("sql", "SELECT avg(weight) AS w FROM t", "--yes", "--json")
    assert (code, json.loads(out)["outputs"]["answers"]["rows"][0]["answer"]) == (0, "w")
    code, _, err = run("sql", "SELECT count(*) FROM t WHERE anaemia", "--yes")
    assert (code, "a second release" in err) == (1, True)


@pytest.mark.parametrize(
    ("parts", "code", "said"),
    [
        ((MEAN_WEIGHT, WOMEN, WEIGHT), 2, "protects no row by itself"),
        ((NOT_PROTECTED, ROWS_TOO, MEAN_WEIGHT, WOMEN, WEIGHT), 2, "and not both"),
        ((NOT_PROTECTED, COUNTED), 2, "nothing would be protected"),
        (
            (NOT_PROTECTED, MEAN_WEIGHT, WOMEN, ANAEMIA),
            1,
            "Nothing is said of how 'weight' goes with the secret",
        ),
        ((NOT_PROTECTED, COUNTED, WOMEN, WEIGHT), 1, "Nothing is said of how the rows with"),
        (
            (NOT_PROTECTED, MEAN_WEIGHT.replace('"weight"', '"weight"\nwhere = "anaemia"'), WOMEN, WEIGHT),
            1,
            "not one plain sum over all rows",
        ),
        (("leakage = 1\ncap = 3", MEAN_WEIGHT, WOMEN, WEIGHT), 1, "Give delta = 1e-6"),
        ((NOT_PROTECTED, MEAN_WEIGHT, WOMEN + "rows = 7\n", WEIGHT), 2, "the schema has 400"),
        (
            (NOT_PROTECTED, MEAN_WEIGHT, WOMEN + 'level = "law"\n', WEIGHT),
            1,
            "every two have to be kept apart",
        ),
        ((NOT_PROTECTED, MEAN_WEIGHT, WOMEN + 'reading = "averaged"\n', WEIGHT), 1, "Use the worst point"),
        ((NOT_PROTECTED, MEAN_WEIGHT, WOMEN, WEIGHT + "seed = 3\n"), 2, "there are no seeds here"),
        ((NOT_PROTECTED, MEAN_WEIGHT, WOMEN, WEIGHT.replace("sd = 15", "")), 2, "needs its column, its sd"),
    ],
)
def test_what_cannot_be_promised_is_refused_before_anything_is_charged(ward, run, parts, code, said):
    write(*parts)
    found, _, err = run("release", "release.toml", "-o", "out", "--yes")
    assert (found, said in " ".join(err.split())) == (code, True), err
    assert not Path("out").exists()


def test_a_truth_outside_the_laws_is_warned_of(ward, run):
    write(
        NOT_PROTECTED,
        MEAN_WEIGHT,
        WOMEN,
        WEIGHT,
        '\n[[secret.truth]]\ncolumn = "weight"\ndifference = -20\nsd = 15\n',
    )
    out = run("plan", "release.toml")[1]
    assert "the slope is -20, and the class has -14 to -10" in out
    assert "The promise does not hold for it." in out


def test_jointly_normal_columns_and_a_mean_that_is_secret(ward, run):
    joint = """
[[secret]]
column = "pressure"
figure = "mean"
apart = [[95, 100], [100, 105]]
epsilon = 1
delta = 0.001
covariance = {columns = ["pressure", "weight"], matrix = [[400, 120], [120, 225]]}
"""
    write(NOT_PROTECTED, MEAN_WEIGHT, joint)
    assert run("release", "release.toml", "-o", "out", "--yes")[0] == 0
    (variance,) = map(Fraction, certificate("out")["mechanism"]["noise"]["variances"])
    wanted = math.sqrt((0.3 * 10 * 2.5747) ** 2 - (225 - 0.09 * 400) / ROWS)
    assert math.sqrt(variance) * 0.1 / ROWS == pytest.approx(wanted, rel=1e-3)


def test_a_mean_by_public_rows_is_one_plain_sum(ward):
    schema = read_schema("schema.toml")
    asked = Mean("weight").by_public_rows(schema).bound(schema)
    assert asked.count == "public"
    assert asked.plain(schema).unit * ROWS == asked.plain(schema).step
    assert Mean("weight", where="anaemia").by_public_rows(schema).count == "noisy"
