"""Other losses and other parents, tried on the holder's own rows: right at the ends, refusals told, files marked."""

import json
import stat
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.errors import BadInput
from entwined.progress import listening
from entwined.promise.measure import Concentrated
from entwined.report.inspection_page import inspection_page
from entwined.schema import Boolean, Integer, Schema
from entwined.synthetic.holders_rows import side_by_side
from entwined.synthetic.inspection import inspected
from entwined.synthetic.summing_up import sentences
from entwined.synthetic.sweeping import SWEEPING, TIMES, WAYS, Described, nearest, swept

COLUMNS = tuple(Boolean(name) for name in "abcd")
SCHEMA = Schema(COLUMNS, most_rows=5000).approve()


def parity(rows=3000, seed=5):
    """Of a, b and c each two are independent, and all three are not; d goes with a."""
    rng = np.random.default_rng(seed)
    a, b = rng.random(rows) < 0.5, rng.random(rows) < 0.5
    d = np.where(rng.random(rows) < 0.9, a, ~a)
    return pa.table({"a": a, "b": b, "c": a ^ b, "d": d})


@pytest.fixture(scope="module")
def both():
    return side_by_side(parity(), parity(seed=6), SCHEMA)


@pytest.fixture(scope="module")
def found(both):
    return swept(both, Described(Fraction(20)))


def tried(found, mode, parents, epsilon):
    (one,) = (one for one in found if (one.mode, one.parents, one.epsilon) == (mode, parents, epsilon))
    return one.apart


def test_every_way_is_tried_with_every_loss(found):
    assert len(found) == len(WAYS) * len(TIMES)
    assert {one.epsilon for one in found} == {2, 20, 200}
    assert not any(one.why_not for one in found)


def test_two_parents_see_what_one_cannot(found):
    """A parity of two columns: with one parent or none half of the people are in a wrong cell of three columns."""
    for mode, parents in (("independent", None), ("correlated", 1)):
        assert tried(found, mode, parents, 200)[2] > 0.1
    assert tried(found, "correlated", 2, 200)[2] < 0.03
    assert tried(found, "correlated", 1, 200)[1] < 0.03 < tried(found, "independent", None, 200)[1]
    assert nearest(found, 200).mode != "independent"


def test_less_noise_is_no_worse(found):
    for mode, given in WAYS:
        first, *_, last = (tried(found, mode, given.get("parents"), epsilon) for epsilon in (2, 20, 200))
        assert last[0] <= first[0] + 0.005


def test_what_is_refused_says_why_and_the_others_go_on():
    """Two columns have no network of three, and one column has none at all."""
    schema = Schema((Boolean("a"),), most_rows=5000).approve()
    narrow = side_by_side(parity().select(["a"]), parity(seed=6).select(["a"]), schema)
    some = swept(narrow, Described(Fraction(20)))
    assert {one.mode for one in some if one.why_not} == {"correlated"}
    told = inspected(narrow, sweep=Described(Fraction(20)))
    assert "A network needs two columns at least" in inspection_page(told)
    json.dumps(told.document, allow_nan=False)


def test_noise_is_that_of_the_measure(both):
    some = swept(both, Described(Fraction(1), Concentrated(Fraction(1, 10**6))))
    assert not any(one.why_not for one in some)


def test_the_page_and_the_sentences_have_it_where_it_was_asked_for(both):
    told = inspected(both, sweep=Described(Fraction(20)))
    page = inspection_page(told)
    assert "Other losses, other parents" in page
    assert "correlated, k = 2" in page
    assert any(one.startswith("Tried anew") for one in sentences(told))
    assert len(told.document["sweep"]) == len(WAYS) * len(TIMES)
    without = inspected(both)
    assert "sweep" not in without.document
    assert "Other losses" not in inspection_page(without)


def test_the_bar_is_of_all_trials(both):
    heard = []
    with listening(lambda *told: heard.append(told)):
        swept(both, Described(Fraction(20)))
    assert [what for what, *_ in heard] == [SWEEPING] * (len(WAYS) * len(TIMES) + 1)


def test_rules_hold_in_what_is_tried():
    """Where a is impossible without d, no trial is refused, and none makes such people up."""
    from entwined.mechanisms.marginals.rules import Rules

    rows = parity()
    kept = rows.filter(
        pa.array([d or not a for a, d in zip(rows["a"].to_pylist(), rows["d"].to_pylist(), strict=True)])
    )
    ruled = side_by_side(kept, kept, SCHEMA)
    some = swept(ruled, Described(Fraction(20), rules=Rules(("a and not d",))))
    assert not any(one.why_not for one in some)


def test_the_command_tries_them_for_the_holder_alone(tmp_path):
    import pyarrow.csv as arrow_csv

    from entwined.schema import write_schema

    schema = Schema((*COLUMNS, Integer("age", 0, 9)), most_rows=5000).approve()
    write_schema(schema, tmp_path / "schema.toml")
    rows = parity().append_column("age", pa.array(np.arange(3000) % 10))
    arrow_csv.write_csv(rows, tmp_path / "rows.csv")
    where = ["--ledger", str(tmp_path / "l.sqlite"), "--cap", "9", "--leakage", "3"]
    runner = CliRunner()
    words = ["synth", str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.toml"), *where]
    made = runner.invoke(app, [*words, "-o", str(tmp_path / "out"), "--yes"], catch_exceptions=False)
    assert made.exit_code == 0
    page = tmp_path / "page.html"
    asked = ["inspect", str(tmp_path / "out"), "-o", str(page), "--sweep"]
    refused = runner.invoke(app, asked)
    assert refused.exit_code != 0
    done = runner.invoke(app, [*asked, "--table", str(tmp_path / "rows.csv")], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Tried anew" in done.stdout
    assert "Other losses" not in page.read_text()
    private = tmp_path / "page.holder-only.json"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    told = json.loads(private.read_text())["sweep"]
    assert {one["epsilon"] for one in told} == {0.3, 3, 30}
    (at_once,) = {
        one["misplaced"]["1"] for one in told if (one["mode"], one["epsilon"]) == ("independent", 30)
    }
    assert at_once < 0.05


def test_households_are_sent_elsewhere():
    document = {"certificate": {"mechanism": {"kind": "households"}, "nominal": "1/1"}}
    with pytest.raises(BadInput, match="entwined households"):
        Described.of(document, SCHEMA)
