"""Learning with a budget is planned: what would fail or give nothing is refused before the charge."""

import json
from pathlib import Path

import numpy as np
import pytest

from entwined.schema import Categorical, Integer, Schema, write_schema
from support.command import document

TERMS = 'table = "people.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 30\n'
COLUMNS = (
    Integer("who", 0, 99),
    Integer("step", 1, 8),
    Categorical("state", ("a", "b")),
    Integer("x", 0, 100),
    Integer("y", 0, 100),
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A request for a table of so many rows, whose x and y have a deviation of 30."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def made(rows, sd=30):
        rng = np.random.default_rng(rows)
        x, y = np.clip(np.rint(rng.normal(50, sd, (2, rows))), 0, 100).astype(int)
        lines = [f"{n % 100},{n % 8 + 1},{'ab'[n % 2]},{x[n]},{y[n]}" for n in range(rows)]
        Path("people.csv").write_text("who,step,state,x,y\n" + "\n".join(lines) + "\n")
        write_schema(Schema(COLUMNS, rows=rows).approve(), Path("schema.toml"))
        Path("release.toml").write_text(TERMS)

    return made


def covariance(*options):
    return ("learn", "covariance", "release.toml", "--columns", "x,y", "-o", "found.json", "--yes", *options)


@pytest.mark.parametrize("members", [(), ("--members", "3")])
def test_a_covariance_that_noise_would_hide_is_refused_before_the_charge_with_the_loss_that_would_do(
    people, run, members
):
    people(60)
    code, out, err = run(*covariance("--budget", "1", *members))
    assert (code, out) == (1, "")
    assert "nothing would be learned. Spend about" in err
    assert not Path("ledger.sqlite").exists()
    times = float(err.split("Spend about ")[1].split(" times")[0])
    assert run(*covariance("--budget", str(0.8 * times), *members))[0] == 1
    assert document(run(*covariance("--budget", str(1.1 * times), *members, "--plan", "--json")))["price"] > 1
    assert not Path("ledger.sqlite").exists()


def test_the_plan_of_a_covariance_is_what_comes(people, run):
    """Columns that vary as was planned for: the ends that come are within a fifth of those that were foretold."""
    people(3000, 25)
    asked = covariance("--budget", "1", "--json")
    planned = document(run(*asked, "--plan"))["expected"]
    assert not Path("found.json").exists()
    found = document(run(*asked))
    assert found["expected"] == planned
    scatter = json.loads(Path("found.json").read_text())["scatter"]
    ends = [(float(eval(end)) / 3000) ** 0.5 / 100 for end in scatter[0][0]]  # noqa: S307  (a fraction of ours)
    assert ends == pytest.approx([planned["deviation_low"], planned["deviation_high"]], rel=0.2)


def test_what_was_paid_for_is_not_lost_where_no_family_model_can_be_made(people, run):
    """Columns that vary by far less than was planned for: the covariance is there all the same."""
    people(300, 0.3)
    code, _, err = run(*covariance("--budget", "2", "--members", "2"))
    assert code == 1
    assert "found.covariance.json" in err
    assert json.loads(Path("found.covariance.json").read_text())["columns"] == ["x", "y"]


CHAIN = ("chain", "release.toml", "--state", "state", "--order", "step", "--by", "who")


@pytest.mark.parametrize(
    ("learner", "options", "says"),
    [
        (CHAIN, ("--smoothing", "none", "-o", "m.json"), "Smoothing"),
        (CHAIN, ("--confidence", "2", "-o", "m.json"), "Confidence"),
        (CHAIN, ("-o", "m.bif"), ".bif"),
        (CHAIN, ("-o", "m.txt"), ".txt"),
        (CHAIN, ("-o", "nowhere/m.json"), "folder is not there"),
        (CHAIN, ("--budget", "0.001", "-o", "m.json"), "nothing would be learned"),
        (("release.toml",), ("--smoothing", "-1", "-o", "m.json"), "Smoothing"),
        (("release.toml",), ("--confidence", "1.5", "-o", "m.json"), "Confidence"),
        (("release.toml",), ("-o", "m.bif"), ".bif"),
        (("release.toml",), ("-o", "nowhere/m.json"), "folder is not there"),
        (("release.toml",), ("--budget", "0.001", "-o", "m.json"), "nothing would be learned"),
        (("release.toml",), ("--parents", "4", "-o", "m.toml"), "too large"),
        (("covariance", "release.toml", "--columns", "x,y"), ("--members", "1", "-o", "m.json"), "A family of 1"),
        (("covariance", "release.toml", "--columns", "x,y"), ("--members", "2", "-o", "m.bif"), ".bif"),
        (("covariance", "release.toml", "--columns", "x,y"), ("--at-most", "-o", "m.json"), "--members"),
        (("covariance", "release.toml", "--columns", "x,y"), ("--spread", "0.7", "-o", "m.json"), "--spread"),
        (("covariance", "release.toml", "--columns", "x,y"), ("-o", "nowhere/m.json"), "folder is not there"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_options_is_said_before_the_charge(people, run, learner, options, says):
    people(1000)
    budget = () if "--budget" in options else ("--budget", "4")
    code, out, err = run("learn", *learner, *options, *budget, "--yes")
    assert (code in {1, 2}, out) == (True, "")
    assert says in err
    assert not Path("ledger.sqlite").exists()
