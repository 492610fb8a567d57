"""What is said before the charge of a synthetic table, and of how many rows there are at most, is never a default."""

import json
from pathlib import Path

import pytest

from entwined.schema import Categorical, Integer, Schema, write_schema
from support.command import document

TERMS = 'table = "people.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 9\n{}'
SYNTHESIS = 'expected_rows = 200\n[[mechanism]]\nkind = "synthesis"\nleakage = {}\n'
COUNTS = 'loss = 1\n[[query]]\nkind = "histogram"\ncolumn = "town"\n'
COLUMNS = Integer("age", 0, 99), Categorical("town", ("a", "b")), Categorical("sex", ("m", "f"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{at % 90},{'ab'[at % 2]},{'mf'[at % 2]}\n" for at in range(200))
    Path("people.csv").write_text("age,town,sex\n" + lines)
    write_schema(Schema(COLUMNS).approve(), Path("schema.toml"))
    return tmp_path


def test_relations_that_a_loss_affords_are_said_before_the_charge_and_counted_after_it(folder, run):
    Path("release.toml").write_text(TERMS.format(SYNTHESIS.format(0.1)))
    planned = document(run("plan", "release.toml", "--json"))["mechanisms"][0]["expected"]
    assert planned["relations"]["afforded_at_most"] == 0
    assert all(row["rows misplaced, about"] <= 200 for row in planned["rows"])
    code, out, err = run("synth", "release.toml", "-o", "out")
    assert (code, "Nothing was charged" in err or "nothing was charged" in err) == (2, True)
    said = "affords none of 3 pairs of columns: columns will be independent of each other"
    assert said in out
    assert not Path("ledger.sqlite").exists()
    code, out, _ = run("synth", "release.toml", "-o", "out", "--yes")
    assert code == 0
    assert out.index(said) < out.index("none of 3 pairs of columns was measured")
    assert "none of 3 pairs of columns was measured" in Path("out/report.html").read_text()
    done = document(run("synth", "release.toml", "-o", "again", "--yes", "--json"))
    assert done["relations"] == planned["relations"]
    more = json.loads(json.dumps(planned["relations"]["enough"]))[0]["times_the_loss"]
    Path("release.toml").write_text(TERMS.format(SYNTHESIS.format(0.105 * more)))
    assert (
        document(run("plan", "release.toml", "--json"))["mechanisms"][0]["expected"]["relations"]["afforded"]
        >= 1
    )


def test_the_usual_cap_of_rows_is_not_shown_as_if_it_said_something(folder, run):
    Path("release.toml").write_text(TERMS.format(COUNTS))
    assert run("release", "release.toml", "-o", "counts", "--yes")[0] == 0
    Path("release.toml").write_text(TERMS.format(SYNTHESIS.format(1)))
    assert run("synth", "release.toml", "-o", "rows", "--yes")[0] == 0
    for page in ("counts", "rows"):
        text = Path(page, "report.html").read_text()
        assert "at most 1,000,000,000" not in text.replace("\u202f", ",").replace("\xa0", ",")
        assert "from a table." in text.split("Random noise")[0]
    assert "1,000,000,000" not in run("approve", "schema.toml", "--yes")[1]
    write_schema(Schema(COLUMNS, most_rows=5000).approve(), Path("schema.toml"))
    assert "At most 5,000 rows" in run("approve", "schema.toml", "--yes")[1]
