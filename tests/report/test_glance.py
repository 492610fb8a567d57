"""What is seen of a value: small whatever its size, the same in text, HTML and frames, and nothing from the network."""

import html as markup
import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entwined as ew
from entwined.bounds import ConcentratedLoss, curve
from entwined.dependence import Box, Edge, Gaussian, Graph, RandomField, Variable
from entwined.errors import BadInput, BadQuery
from entwined.learning import public_codes
from entwined.loss import Leakage
from entwined.report.glance import LONGEST_HTML, LONGEST_TEXT, to_frame
from entwined.schema import Boolean, Categorical, Integer
from entwined.survey.survey import Survey, plan_survey

UNITS = 1_000_000
MANY = 400
ANSWERS = tuple(f"a{n}" for n in range(6))


@pytest.fixture(scope="module")
def people():
    return pa.table(
        {
            "home": [n // 3 for n in range(300)],
            "place": ["a", "a", "b"] * 100,
            "ill": [n % 5 == 0 for n in range(300)],
        }
    )


@pytest.fixture(scope="module")
def door(people, tmp_path_factory):
    columns = (
        Integer("home", 0, 999),
        Categorical("place", ("a", "b"), labels=("Aachen", "Bonn")),
        Boolean("ill"),
    )
    schema = ew.Schema(columns, most_rows=1_000).approve()
    families = ew.Declared(ew.Groups(largest=3), by="home")
    with ew.open(
        people, schema, dependence=families, ledger=tmp_path_factory.mktemp("glance") / "l.sqlite", cap=6
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def out(door):
    asked = {
        "by place": ew.Histogram("place"),
        "both": ew.Marginal(("place", "ill")),
        "ill": ew.Count(where="ill"),
    }
    return door.release(asked, leakage=3)


@pytest.fixture(scope="module")
def survey():
    return ew.Schema(
        tuple(Categorical(f"q{n}", ANSWERS, label=f"Question {n} " * 20) for n in range(MANY))
    ).approve()


@pytest.fixture(scope="module")
def wide(door, out):
    """A plan of many histograms, and a release with so many answers."""
    planned = door.plan([ew.Histogram("place", where=ew.col("home") == n) for n in range(MANY)], loss=1)
    names = tuple(f"{'a long name ' * 9}{n}" for n in range(MANY))
    return planned, replace(out, answers=out.answers[:1] * MANY, names=names)


@pytest.fixture(scope="module")
def large():
    """Values of a million units or hundreds of columns."""
    rng = np.random.default_rng(3)
    chain = ew.MarkovChain(UNITS, Box.exact([[0.9, 0.1], [0.2, 0.8]]))
    proved = ew.bound(chain, ew.Loss.uniform("0.1", units=UNITS))
    ends = np.stack([np.arange(UNITS - 1), np.arange(1, UNITS)], axis=1)
    net = ew.BayesNet.of(
        [Variable("root " * 20, ("n", "y"), (), [[0.7, 0.3]])]
        + [Variable(f"v{n}", ("n", "y"), ("root " * 20,), [[0.9, 0.1], [0.4, 0.6]]) for n in range(MANY)]
    )
    rhos = [Fraction(1, 1000 + n) for n in range(2_000)]
    return {
        "bound": proved,
        "leakage": Leakage(rng.uniform(0.01, 0.1, UNITS)),
        "loss": ew.Loss(rng.uniform(0.01, 0.1, UNITS)),
        "chain": chain,
        "calibration": ew.calibrate(chain, 1),
        "graph": Graph(UNITS, ends, np.array(0.3)),
        "net": net,
        "bound of a net": ew.bound(net, ew.Loss.uniform("0.1", units=MANY + 1)),
        "concentrated": ConcentratedLoss.of(rhos, "1e-6"),
    }


def words(html):
    return " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", html)).split())


def fits(value):
    text, html = repr(value), value._repr_html_()
    assert len(text) <= LONGEST_TEXT < 2_000, type(value)
    assert len(html) <= LONGEST_HTML < 30_000, type(value)
    assert "<table" in html
    assert "<script" not in html
    links = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', html)
    assert all(link.startswith("#") for pair in links for link in pair if link)
    return html


def test_values_of_a_million_units_are_small(large):
    for value in large.values():
        fits(value)
    assert "1,000,000 units" in repr(large["bound"])
    assert "no more than 10,000 units" in repr(large["bound"])
    assert "<svg" in large["leakage"]._repr_html_()


def test_releases_plans_and_schemas_of_400_histograms_are_small(wide, survey):
    plan, release = wide
    for value in (plan, release, survey):
        fits(value)
    assert len(release.table()) == MANY * 3
    assert len(survey.table()) == MANY
    assert "and 380 lines more" in release._repr_html_()


def test_every_value_of_daily_use_is_seen(door, out, people):
    chain = ew.MarkovChain(3, Box.exact([[0.9, 0.1], [0.2, 0.8]]))
    field = RandomField.of({"a": 2, "b": 2}, [Edge(("a", "b"), [[2, 1], [1, 2]])])
    seen = [
        *(
            door,
            door.promise,
            door.promise.schema,
            door.budget,
            door.history,
            out,
            out["ill"],
            out.certificate,
        ),
        door.plan(ew.Count(where="ill"), leakage=1),
        door.admit(door.plan(ew.Count(where="ill"), leakage=1)),
        ew.describe(people),
        *(chain, field, Gaussian.of([[1.0, 0.2], [0.2, 1.0]]), ew.Groups(3)),
        curve(chain, ew.Loss.uniform(1, units=3), cap=4),
        Leakage(np.array([0.1, 0.2])),
        ConcentratedLoss.uniform("0.01", units=3, delta="1e-6"),
    ]
    for value in seen:
        fits(value)


def test_a_bound_shows_its_theorems_its_chart_and_what_would_lower_it():
    chain = ew.MarkovChain(526, Box.exact([[0.5, 0.5], [1, 0]]))
    proved = ew.bound(chain, ew.Loss.uniform(1, units=526), "model")
    html = fits(proved)
    text = words(html)
    assert "message passing 526 the smallest" in text
    assert "would be 3.811 instead of 526" in text
    assert "would be 3.811 instead of 526" in repr(proved)
    assert "with start, model" in text  # a dot of the chart
    assert "other theorems about such models say nothing" in text
    frame = proved.table()
    assert frame["leakage"].iloc[0] == pytest.approx(526)
    assert frame["note"].str.contains("no initial law").any()
    loss = ew.calibrate(chain, 1, "model")
    assert "140.7 times the loss would leak no more" in words(fits(loss))


def test_numbers_are_found_by_their_labels(out):
    answer = out["by place"]
    assert answer["Aachen"] == answer["a"] == answer.value[0]
    assert answer["missing"] == answer.value[2]
    assert out["both"]["Bonn", "yes"] == out["both"].value[4]
    cell = answer.cell("Bonn")
    assert (cell.value, cell.low, cell.high) == (
        answer.value[1],
        answer.interval[0][1],
        answer.interval[1][1],
    )
    with pytest.raises(
        BadQuery, match=r"No number is labelled 'Cologne'. There are: Aachen, Bonn, missing\."
    ):
        answer["Cologne"]
    with pytest.raises(BadInput, match="Take it from its release"):
        out.answers[0]["Aachen"]
    assert list(answer.table()["answer_label"]) == ["Aachen", "Bonn", "missing"]
    text = words(out._repr_html_())
    assert re.search(r"by place · Aachen [−\d,]+ [−\d,]+ to [−\d,]+", text)


def test_frames_are_those_of_the_library_that_is_there(out, monkeypatch):
    assert isinstance(out.table(), pd.DataFrame)
    assert out.table().equals(out.to_pandas())
    assert pa.table(out).num_rows == pl.DataFrame(out).height == len(out.table())
    monkeypatch.setattr("entwined.report.glance.FRAMES", ("polars",))
    assert isinstance(out.table(), pl.DataFrame)
    monkeypatch.setattr("entwined.report.glance.FRAMES", ("no such library",))
    assert isinstance(to_frame(out), pa.Table)


def test_charts_are_svg_or_there_is_none(out, tmp_path):
    picture = out.plot()
    assert picture.svg == picture._repr_svg_()
    assert picture.svg.startswith("<svg")
    assert len(repr(picture)) < 100
    picture.write(tmp_path / "out.svg")
    assert (tmp_path / "out.svg").read_text() == picture.svg
    with pytest.raises(BadInput, match="has no chart"):
        out.schema.plot()


def test_surveys_and_what_was_learned_show_themselves():
    schema = ew.Schema((Categorical("a", ("x", "y")), Categorical("b", ("x", "y")))).approve()
    rows = pa.table({"a": ["x", "y"] * 50, "b": ["x", "y", "y", "x"] * 25})
    survey = Survey(public_codes(rows, schema), "pilot")
    for value in (survey, survey.learned, plan_survey(survey, 1.0, "any", rows=100)):
        fits(value)
    assert list(plan_survey(survey, 1.0, "any", rows=100).table()["histogram"]) == ["a", "b"]
    assert repr(survey.learned).startswith("learned from pilot (100 rows")


def test_hostile_names_are_shown_as_they_are():
    bad = "<script>alert(1)</script>\u202e"
    field = RandomField.of({bad: 2, "b": 2}, [Edge((bad, "b"), [[2, 1], [1, 2]])])
    html = fits(field)
    assert "alert(1)" in words(html)
    assert "\u202e" not in html + repr(field)


def test_a_certificate_is_still_plain_json(out):
    assert json.loads(json.dumps(out.certificate)) == out.certificate
    assert ew.verify(out.certificate, out.schema).valid
