"""What `bound`, `calibrate` and `plan` say of further knowledge, and whom they trust."""

import json
from pathlib import Path

import pytest

SERIES = '{"kind":"markov_chain","length":526,"transition":[[0.5,0.5],[1,0]]}'
START = "Knowing the law of the first step (`initial`; here the stationary one)"


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("series.json").write_text(SERIES)
    Path("long.json").write_text(SERIES.replace("526", "20000"))


def test_a_bound_says_what_would_lower_it(run):
    asked = "--loss", "1", "--knowledge", "model"
    _, out, _ = run("bound", "series.json", *asked)
    assert "What would help, by examples that were worked out:" in out
    assert f"{START}, the leakage would be 3.811 instead of 526." in " ".join(out.split())
    found = json.loads(run("bound", "series.json", *asked, "--json")[1])
    (hint,) = found["hints"]
    assert hint.keys() == {"about", "knowing", "leakage", "instead_of", "says"}
    assert (hint["about"], round(hint["leakage"], 3), round(hint["instead_of"])) == ("start", 3.811, 526)
    followed = json.loads(SERIES) | {"initial": [2 / 3, 1 / 3]}
    Path("series.json").write_text(json.dumps(followed))
    again = json.loads(run("bound", "series.json", *asked, "--json")[1])
    assert again["leakage"] == pytest.approx(hint["leakage"])
    assert again["hints"] == []


def test_a_calibration_says_how_much_more_would_be_allowed(run):
    asked = "calibrate", "series.json", "--leakage", "1", "--knowledge", "model"
    assert f"{START}, 140.7 times the loss would leak no more." in " ".join(run(*asked)[1].split())
    (hint,) = json.loads(run(*asked, "--json")[1])["hints"]
    assert round(hint["times_the_loss"], 1) == 140.7


def test_what_is_not_tried_is_said_to_be(run):
    _, out, _ = run("bound", "long.json", "--loss", "1")
    assert "for no more than 10,000 units" in out
    assert json.loads(run("bound", "long.json", "--loss", "1", "--json")[1])["hints"] is None


def test_only_what_is_installed_can_be_trusted(run):
    for command in (("bound", "series.json", "--loss", "1"), ("calibrate", "series.json", "--leakage", "1")):
        code, out, said = run(*command, "--trusting", "no-such-thing")
        assert (code, out) == (1, "")
        assert "The theorems of 'no-such-thing' are trusted, and it is not installed here." in said
    code, _, said = run(
        "calibrate", "series.json", "--leakage", "1", "--importance", "1,2", "--trusting", "numpy"
    )
    assert code == 2
    assert "Leave --trusting out" in said
