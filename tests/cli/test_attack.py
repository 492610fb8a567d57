"""`entwined attack` and `entwined audit`: one JSON document, no row read, nothing charged, refusals with their codes."""

import json

import pytest

from entwined.report import attack_page
from entwined.schema import Boolean, Integer, Schema, Text
from entwined.schema.files import write_schema
from support.command import document

SCHEMA = Schema(
    (Text("home", compare="exact"), Boolean("ill"), Integer("age", 0, 90)),
    neighbours="add_remove",
    most_rows=1000,
).approve()
RELEASE = """
table = "there-is-no-such-table.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 1
leakage = 1

[[dependence]]
model = {kind = "groups", largest = 10}
by = "home"

[[query]]
name = "ill"
kind = "count"
where = "ill"
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_schema(SCHEMA, "schema.toml")
    (tmp_path / "release.toml").write_text(RELEASE)
    (tmp_path / "model.json").write_text('{"kind": "groups", "largest": 8}')
    (tmp_path / "model.toml").write_text('kind = "independent"\nunits = 4\n')
    return tmp_path


def test_a_planned_release_is_attacked_on_generated_people(run, here):
    found = document(
        run("attack", "release.toml", "--known", "0", "--known", "1", "--releases", "60", "--json")
    )
    assert (found["format"], found["people"], found["charged"]) == ("entwined attack 1", "generated", 0)
    (model,) = found["models"]
    assert model["plain_breaks_its_promise"]
    assert model["certified_added"] <= model["certified_leaks_at_most"] <= model["promised"] == 1
    assert [one["known_share"] for one in model["attacks"]] == [0, 1]
    nobody, all_known = (one["plain"] for one in model["attacks"])
    assert nobody["known_before"]["nats"] == pytest.approx(0, abs=1e-9)
    assert nobody["added"]["largest_log_odds"] > 2
    assert all_known["added"]["largest_log_odds_at_any_answer"] <= 1 + 1e-9
    assert sorted(path.name for path in here.iterdir()) == [
        "model.json",
        "model.toml",
        "release.toml",
        "schema.toml",
    ]


def test_models_and_the_family_are_attacked_for_people_to_read(run, here):
    code, out, err = run(
        "attack", "model.json", "--leakage", "0.5", "--known", "0", "--releases", "40", "--html", "page.html"
    )
    assert (code, err) == (0, "")
    assert "nothing was charged" in out
    assert out.index("Known before") < out.index("Added by the release")
    assert "more than it promises (0.5)" in out
    assert "https://" not in (here / "page.html").read_text()
    code, out, _ = run("attack", "--family", "--target", "Ben", "--known", "0.5", "--releases", "40")
    assert (code, "Ben of 8 units" in out) == (0, True)
    found = document(
        run("attack", "model.toml", "--publish", "each", "--values", "3", "--releases", "40", "--json")
    )
    assert not found["models"][0]["plain_breaks_its_promise"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["attack"], 2, "or --family and no file"),
        (["attack", "model.json", "--family"], 2, "or --family and no file"),
        (["attack", "model.json", "--target", "Ada"], 2, "no unit 'Ada'"),
        (["attack", "model.json", "--known", "1.5"], 2, "Give 0 to 1"),
        (["attack", "model.json", "--releases", "0"], 2, "releases"),
        (["attack", "model.json", "--values", "1"], 2, "no secrets"),
        (["attack", "model.json", "--leakage", "none"], 2, "Leakage"),
        (["attack", "nothing.json"], 2, "nothing.json"),
        (["attack", "wide.json"], 1, "numbers; the most"),
        (["attack", "smooth.json"], 1, "finitely many values"),
        (["audit", "release.toml", "--samples", "5"], 2, "samples"),
        (["audit", "model.toml"], 2, "model.toml"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(run, here, words, code, said):
    (here / "smooth.json").write_text('{"kind": "gaussian", "covariance": [[1, 0.5], [0.5, 1]]}')
    every = [[one, other, 0.1] for one in range(40) for other in range(one)]
    (here / "wide.json").write_text(json.dumps({"kind": "graph", "units": 40, "edges": every}))
    found, out, err = run(*words)
    assert (found, out) == (code, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_release_is_audited_beside_its_claim(run, here):
    found = document(run("audit", "release.toml", "--samples", "2000", "--json"))
    assert found["claimed_epsilon"] == pytest.approx(0.1)  # a tenth, for groups of ten
    assert 0 <= found["at_least_epsilon"] <= found["claimed_epsilon"]
    assert (found["refuted"], found["false_alarm"]) == (False, 1e-4)
    code, out, _ = run("audit", "release.toml", "--samples", "1000")
    assert (code, "Not refuted" in out, "planted" in out) == (0, True, True)
    assert not (here / "ledger.sqlite").exists()


def test_a_refuted_release_ends_in_one(run, here, monkeypatch):
    """The planted noise stands for the release's own: the claim falls, and the exit code says so."""
    monkeypatch.setattr("entwined.audit.rehearsal.ReleaseAudit.refuted", True)
    code, out, _ = run("audit", "release.toml", "--samples", "1000")
    assert (code, "REFUTED" in out) == (1, True)


def test_only_attacks_make_a_page():
    for wrong in ({}, {"format": "entwined attack 1"}, {"format": "entwined attack 1", "models": []}):
        with pytest.raises(Exception, match=r"no attack|missing"):
            attack_page(wrong)
