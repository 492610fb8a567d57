"""Reports: every figure as it was released, no promise rounded in our favour, no name that breaks a page."""

import ast
import csv
import json
import math
import re
import time
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import entwined.report
from entwined.bounds import bound, calibrate
from entwined.dependence import Box, MarkovChain
from entwined.errors import BadInput, Refused
from entwined.estimate.answers import Adjustment, Release
from entwined.estimate.spans import Between
from entwined.loss import Loss
from entwined.promise.measure import Concentrated
from entwined.queries import Count, Histogram, Marginal, parse
from entwined.queries.spoken import condition
from entwined.report import plan_page, report_page, require_free, write_release
from entwined.report.cells import line_of
from entwined.report.charts import LINE, LINES, labelled
from entwined.report.claims import Claims, after, share
from entwined.report.findings import Cell, findings
from entwined.report.shown import to_html
from entwined.report.stronger import stronger_of
from entwined.report.words import digits_for, figure, number, readable
from entwined.request.verbs import plan
from entwined.request.verification import verify
from entwined.schema import Integer, Schema, read_schema
from support.reports import HOSTILE, HOUSEHOLDS, QUERIES, SURVEY, hostile, people, released

DELTA = Fraction(1, 10**6)


def page_of(made):
    return report_page(
        made.release, names=made.names, schema=made.schema, outlook=made.outlook, budget=made.budget
    )


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, and the text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.open, self.headings = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "title"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return released(tmp_path_factory.mktemp("release") / "of")


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    at = tmp_path_factory.mktemp("reports") / "new" / "out"
    files = write_release(at, **vars(made))
    assert {path.name for path in files} == {
        "values.csv", "values.parquet", "release.json", "certificate.json", "plan.json", "schema.toml", "report.html",
    }  # fmt: skip
    return at


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text()


# the files


def lines_of(folder):
    text = (folder / "values.csv").read_bytes().decode("utf-8")
    assert text.count("\r\n") == text.count("\n")  # as RFC 4180 has it
    return list(csv.DictReader(text.splitlines(keepends=True)))


def test_every_number_is_in_the_values_and_exact(made, folder):
    lines = lines_of(folder)
    expected = [cell for one in findings(made.release, made.names, SURVEY) for cell in one.cells()]
    assert len(lines) == len(expected) == sum(np.size(one.value) for one in made.release.answers)
    for line, cell in zip(lines, expected, strict=True):
        labels = (line[name] for name in ("answer_label", "answer_label_2", "answer_label_3"))
        assert tuple(filter(None, labels)) == cell.names
        for end in ("value", "low", "high"):
            number = getattr(cell, end)
            if number is None:
                assert not line[end]
            elif isinstance(number, datetime):
                assert datetime.fromisoformat(line[f"{end}_time"]) == number
                assert not line[end]
            else:
                assert Fraction(line[end]) == number
    first = lines[0]
    assert [first[name] for name in ("statistic", "question", "question_label", "answer", "answer_label")] == [
        "People by region", "region", "Region of residence", "1", "North",
    ]  # fmt: skip
    assert {line["unit"] for line in lines if line["statistic"] == "Income by region"} == {"income"}
    median = next(line for line in lines if line["statistic"] == "Median income")
    assert int(median["ranks_within"]) > 0


def test_parquet_and_csv_say_the_same(folder):
    lines = lines_of(folder)
    table = parquet.read_table(folder / "values.parquet")
    assert table.column_names == list(lines[0])
    rows = table.to_pylist()
    assert len(rows) == len(lines)
    for line, row in zip(lines, rows, strict=True):
        for name, text in line.items():
            found = row[name]
            if isinstance(found, datetime):
                assert found == datetime.fromisoformat(text)
            elif isinstance(found, float):
                assert found == float(text)
            elif isinstance(found, bool):
                assert text == str(found).lower()
            else:
                assert ("" if found is None else str(found)) == text


def strict_json(path):
    def refuse(name):
        raise AssertionError(name)

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_the_release_is_read_back_and_its_certificate_holds(made, folder):
    again = Release.from_document(strict_json(folder / "release.json"))
    assert again.ordered(QUERIES.values()) == made.release
    schema = read_schema(folder / "schema.toml")
    assert schema == SURVEY
    verdict = verify(strict_json(folder / "certificate.json"), schema)
    assert verdict.valid, verdict.why
    assert strict_json(folder / "plan.json") == made.outlook


def test_a_folder_is_written_whole_and_never_over_another(made, tmp_path):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for place in (taken, tmp_path / "file", tmp_path / "link", tmp_path / "file" / "below", Path("a\0b")):
        with pytest.raises(BadInput, match="Name a"):
            require_free(place)
        with pytest.raises(BadInput):
            write_release(place, **vars(made))
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    require_free(tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "link", "taken"]


def test_names_are_one_a_query(made, tmp_path):
    with pytest.raises(BadInput, match="names for 15 answers"):
        write_release(tmp_path / "out", **vars(made) | {"names": ["one"]})
    assert not list(tmp_path.iterdir())


def test_numbers_are_never_labelled_by_another_schema(made, tmp_path):
    other = replace(SURVEY, most_rows=9_999, approved_digest="").approve()
    with pytest.raises(BadInput, match="another schema"):
        write_release(tmp_path / "out", **vars(made) | {"schema": other})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("broken", ["NaN in the plan", "no page"])
def test_what_was_paid_for_is_written_even_without_a_report(tmp_path, monkeypatch, broken):
    made = released(tmp_path / "of", queries={"n": Count()})
    if broken == "no page":
        monkeypatch.delitem(made.outlook, "ways")
    else:
        made.outlook["rows"] = math.nan
    with pytest.raises(Refused, match="without a charge"):
        write_release(tmp_path / "out", **vars(made))
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert there >= {"values.csv", "values.parquet", "release.json", "certificate.json", "schema.toml"}
    assert "report.html" not in there
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of", "out"]


# what the report says


def only_signs(text):
    return re.sub(r"[\s_{}]", "", text)


def test_the_report_says_what_it_must_and_in_which_order(made, page):
    text = Reader(page).text
    parts = [
        "Election survey 1996",
        "In plain words",
        "If you are in this table",
        "The numbers",
        "People by region",
        "Why ordinary differential privacy is not enough here",
        "The guarantee",
        "What was checked",
        "If the dependence is stronger than declared",
        "What must be believed",
        "The budget",
        "entwined verify certificate.json",
    ]
    at = 0
    for part in parts:
        at = text.index(part, at)
    for model in made.release.certificate["models"]:
        proved = model["certificate"]
        for said in (
            proved["guarantee"],
            proved["theorem"]["says"],
            proved["theorem"]["proof"],
            proved["checked"],
        ):
            assert only_signs(said) in only_signs(text)
    for said in Claims(made.release.certificate).trusted:
        assert f"<li>{said}</li>".replace("'", "&#39;") in page
    assert ".believe li { font-weight: 700; }" in page
    assert (
        "Rows that share a value of 'household' count for at most 4 rows;" in text
    )  # which rows the figures are about
    assert made.release.certificate["released"] in text


def test_every_released_number_that_is_shown_is_the_released_one(made, page):
    text = Reader(page).text
    first = made.release.answers[0]
    for value, adjusted, low, high in zip(first.value, first.adjusted.value, *first.interval, strict=True):
        written = number(value, digits_for((high - low) / 2))
        assert f"{written} {low:,} to {high:,} {adjusted:,}" in text
    assert "It is what the charts draw, since it is right on average" in text


def test_a_number_moved_out_of_its_interval_is_explained(made):
    first = made.release.answers[0]
    low, high = first.interval
    told = "Where an adjusted number is outside the interval, use the value."
    for adjusted, explained in ((low, False), ((high[0] + 1, *low[1:]), True)):
        moved = replace(first, adjusted=Adjustment(adjusted, Between(low, high)))
        one = SimpleNamespace(
            **vars(made) | {"release": replace(made.release, answers=(moved,)), "names": ["n"]}
        )
        assert (told in Reader(page_of(one)).text) is explained


def test_the_page_needs_nothing_and_runs_nothing(page):
    reader = Reader(page)
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {
        "script",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "img",
        "image",
        "foreignobject",
        "use",
    }
    for tag, attributes in reader.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {"src", "srcset", "xlink:href", "action"}
            assert name != "href" or (tag, value) == ("link", "data:,")
            assert "url(" not in (value or "")
    policy = next(a["content"] for t, a in reader.elements if t == "meta" and a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "@import" not in page
    assert "url(" not in page


def test_the_page_can_be_read_aloud(page):
    reader = Reader(page)
    assert reader.elements[0] == ("html", {"lang": "en"})
    assert reader.headings[0] == 1
    assert reader.headings.count(1) == 1
    assert all(below - above <= 1 for above, below in zip(reader.headings, reader.headings[1:], strict=False))
    figures = sum(tag == "figure" for tag, _ in reader.elements)
    images = [
        a for tag, a in reader.elements if a.get("role") == "img" and tag == "div" and a.get("class") != "bar"
    ]
    assert figures == sum(tag == "svg" for tag, _ in reader.elements) == len(images)
    assert (
        figures == sum(tag == "figcaption" for tag, _ in reader.elements) == 15
    )  # all but the median, and the leaks
    assert all(image["aria-label"] for image in images)


def test_what_stronger_dependence_leaks_is_shown_and_never_below_what_is_certified(made, page):
    (model,) = made.release.certificate["models"]
    text = Reader(page).text
    told = "The size of the largest group leaks at most compared makes of an even chance, at most as declared 2 88.1 %"
    assert f"{told} 10 % larger 2.5 92.5 % 25 % larger 2.5 92.5 % 50 % larger 3 95.3 %" in text
    assert Reader(plan_page(made.outlook)).text.count("The limit of 2 is kept as declared") == 1
    for point in model["curve"]["points"]:
        (shown,) = (one for one in stronger_of("n", model["curve"], 2.0).steps if one.by == point["share"])
        assert float(shown.leaks) >= point["leakage"]
    older = {key: value for key, value in model.items() if key != "curve"}
    certificate = {**made.release.certificate, "models": [older]}
    before = SimpleNamespace(**vars(made) | {"release": replace(made.release, certificate=certificate)})
    assert "stronger than declared" not in page_of(before)


@pytest.mark.parametrize(
    ("crossing", "says"),
    [
        ({}, "by 25 %: no bound."),
        ({"holds_up_to": None, "and_beyond": False}, "As declared it is over the limit of 1.5 already."),
        ({"holds_up_to": 0.004, "and_beyond": False}, "is kept as declared, with hardly any room for more."),
        ({"holds_up_to": 0.1799, "and_beyond": False}, "The limit of 1.5 is kept up to 17 % more."),
        ({"holds_up_to": 4.0, "and_beyond": True}, "is kept even at 400 % more, the most that was tried."),
    ],
)
def test_a_curve_is_told_in_a_line(crossing, says):
    points = [{"share": 0.1, "leakage": 1.2001}, {"share": 0.25, "why_not": "There is no such law."}]
    cap = {"cap": 1.5} if crossing else {}
    told = stronger_of("people", {"strength": "every correlation", "points": points} | cap | crossing, 1.0)
    assert told.sentence.startswith(
        "people: if every correlation were larger by 10 %, the same noise would leak at most 1.201; by 25 %: no bound."
    )
    assert told.sentence.endswith(says)
    assert [one.why_not for one in told.steps] == ["", "", "There is no such law."]


def test_a_model_without_a_curve_says_why(made):
    (model,) = made.outlook["models"]
    huge = made.outlook | {"models": [model | {"curve": {"strength": "s", "why_not": "Too many units."}}]}
    page = plan_page(huge)
    assert "Too many units." in Reader(page).text
    assert 'class="grown"' not in page
    assert plan_page(made.outlook).count('<td class="grown"><i style="width: 83.3%">') == 2  # 2.5 of 3


def test_the_page_follows_from_documents_alone(made, page):
    """TRUST 26, 39: nothing but what was released goes in, and nothing here can open a table."""
    again = Release.from_document(json.loads(made.release.content)).ordered(QUERIES.values())
    fresh = report_page(again, names=made.names, schema=made.schema, outlook=made.outlook, budget=made.budget)
    assert fresh == page
    for path in Path(entwined.report.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, "module", None) or ""
            assert not module.startswith(("entwined.tables", "entwined.request.releasing")), path


def test_a_release_without_models_promises_no_more_than_it_has(tmp_path):
    made = released(tmp_path / "of", queries={"n": Count(), "a": Histogram("sex")}, dependence=())
    text = Reader(page_of(made)).text
    assert "whether the row about you is in the table at all" in text
    assert "Why ordinary differential privacy" not in text
    assert "independent of yours" in text


def test_exploratory_models_are_named_in_the_first_line(made):
    models = [{"name": "guessed", "kind": "groups", "source": "exploratory"}]
    for page in (page_of(SimpleNamespace(**vars(made) | {"outlook": made.outlook | {"models": models}})),):
        assert Reader(page).text.startswith("For planning only. guessed was learned from the private table")
    plan_text = Reader(plan_page(made.outlook | {"models": models})).text
    assert plan_text.startswith("For planning only. guessed")


# numbers are never rounded in our favour


@given(st.floats(1e-3, 12), st.floats(1e-4, 0.999))
def test_belief_is_bounded_by_bayes(leakage, before):
    """The worst answer is exp(leakage) times as likely if the statement is true, and then it is reached."""
    likely, unlikely = 1.0, math.exp(-leakage)
    bayes = before * likely / (before * likely + (1 - before) * unlikely)
    assert after(before, leakage) == pytest.approx(bayes, rel=1e-9)
    assert after(before, leakage * 0.98) < bayes
    shown = share(after(before, leakage))
    assert shown == "over 99.9 %" or float(shown.removesuffix(" %")) / 100 >= bayes * (1 - 1e-9)


@given(st.floats(1e-4, 1e11))
def test_leakages_are_shown_rounded_up(leakage):
    shown = float(figure(leakage, up=True).replace(",", ""))
    assert leakage * (1 - 2e-9) <= shown <= max(leakage * 1.0011, leakage + 1)


@given(
    st.fractions(-(10**6), 10**6, max_denominator=10**6),
    st.fractions(0, 10**4, max_denominator=10**6),
    st.fractions(0, 10**4, max_denominator=10**6),
)
def test_shown_intervals_hold_the_released_ones(value, below, above):
    line = line_of(Cell((), (), value, value - below, value + above))
    low, high = (Fraction(end.replace(",", "").replace("−", "-")) for end in line["interval"])
    assert low <= value - below <= value + above <= high
    assert high - low <= (below + above) * Fraction(13, 10) + 2


def test_conditions_are_told_in_values():
    for text, told in (
        ("age > 20 and sex = 'f'", "age from 21 to 97 and sex Women"),
        ("region is null", "region missing"),
        ("voted = true or age = 30", "age from 18 to 29 or from 31 to 97 or missing and voted yes or age 30"),
        ("age is not null", "age not missing"),
    ):
        assert condition(parse(text, SURVEY).text, SURVEY) == told


# names that mean harm


def test_no_name_breaks_the_page(tmp_path):
    made = hostile(tmp_path)
    made.outlook["ways"][0] |= {"title": HOSTILE[0], "why": HOSTILE[1]}
    made.outlook["budget"]["ledger"] = HOSTILE[0]
    for page in (page_of(made), plan_page(made.outlook)):
        test_the_page_needs_nothing_and_runs_nothing(page)
        reader = Reader(page)
        assert "<script" not in page.lower()
        assert HOSTILE[0] in reader.text  # shown as it is
        assert HOSTILE[6] in reader.text  # and not filled in
        assert "\u202e" not in page
        assert "x" * 400 not in page
        assert reader.headings.count(1) == 1
    for html in (to_html(made.release),):
        assert "<script" not in html.lower()


@given(st.text(max_size=400))
def test_any_text_becomes_one_harmless_line(text):
    line = readable(text, 100)
    assert len(line) <= 100
    assert not set(line) & set("\n\r\t\0\u202e\u2028\x85")
    (lines,) = labelled([text])
    assert 1 <= len(lines) <= LINES
    assert all(len(one) <= LINE for one in lines)


# the plan, large tables, notebooks, speed


def test_the_plan_compares_every_way(made):
    text = Reader(plan_page(made.outlook)).text
    for part in (
        "Asked for: a leakage of at most 2.",
        "Group privacy (proposed)",
        "It is the least noise that keeps the promise.",
        "× 0.25",  # plain noise is a quarter of it
        "Message passing: Not about groups.",
        "Wanted: ± 30 in 95 % of cases.",
        "± 60",
        "99 %: ± 92",
        "rank within 70 rows, with 95 % confidence",
        "left: 2 of 4",
    ):
        assert part in text
    refused = made.outlook | {"budget": made.outlook["budget"] | {"refused": "Too much."}}
    assert Reader(plan_page(refused)).text.startswith("The ledger would refuse this release. Too much.")


def test_what_is_no_plan_is_refused(made):
    for wrong in ({}, {"format": "entwined release 1"}):
        with pytest.raises(BadInput, match="no plan"):
            plan_page(wrong)
    for part in ("ways", "statistics", "models", "asked"):
        with pytest.raises(BadInput, match="part of the plan"):
            plan_page({key: value for key, value in made.outlook.items() if key != part})


def test_the_real_outlook_and_request_are_shown(tmp_path, monkeypatch):
    from entwined.request.fulfil import fulfil
    from entwined.request.outlook import outlook
    from entwined.request.request_file import read_request
    from entwined.schema import write_schema

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    people().to_csv(tmp_path / "survey.csv", index=False)
    write_schema(SURVEY, tmp_path / "schema.toml")
    (tmp_path / "release.toml").write_text(
        """
        title = "A survey"
        table = "survey.csv"
        schema = "schema.toml"
        ledger = "ledger.sqlite"
        cap = 3.0
        leakage = 1.0
        [[dependence]]
        name = "series"
        columns = ["sex"]
        missing_says_nothing = ["sex"]
        model = { kind = "markov_chain", length = 10000, transition = [[0.8, 0.2], [0.2, 0.8]] }
        [[query]]
        name = "People by region"
        kind = "histogram"
        column = "region"
        [[query]]
        name = "Mean age"
        kind = "mean"
        column = "age"
        """
    )
    request = read_request(tmp_path / "release.toml")
    ahead = outlook(request)
    text = Reader(plan_page(ahead.document)).text
    assert "Message passing (proposed)" in text
    assert "Plain differential privacy" in text
    assert "log odds of a step and the next, now 2.77, were at most 1.39" in text
    done = fulfil(request, ahead.planned)
    files = write_release(
        tmp_path / "out",
        release=done.release,
        names=[question.name for question in request.questions],
        schema=request.schema,
        outlook=ahead.document,
        budget=done.funds.document,
    )
    assert len(files) == 7
    text = Reader((tmp_path / "out" / "report.html").read_text()).text
    assert "series of at most 10,000 steps" in text
    assert "(used here)" in text
    assert verify(strict_json(tmp_path / "out" / "certificate.json"), request.schema).valid


def test_a_large_table_is_cut_in_the_page_and_whole_in_the_values(tmp_path):
    schema = Schema(
        (Integer("a", 0, 99, missing="drop"), Integer("b", 0, 79, missing="drop")), most_rows=10**6
    ).approve()
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    made = released(tmp_path / "of", schema, {"both": Marginal(("a", "b"))}, frame, ())
    write_release(tmp_path / "out", **vars(made))
    assert len(lines_of(tmp_path / "out")) == 8_000
    page = (tmp_path / "out" / "report.html").read_text()
    assert "7,960 more numbers in" in Reader(page).text
    assert "<svg" not in page
    assert len(page) < 60_000


def test_notebooks_show_small_tables(made):
    text = Reader(to_html(made.release)).text
    assert "15 statistics, leakage at most 2" in text
    single = made.release.answers[4]
    assert number(single.value, digits_for((single.interval[1] - single.interval[0]) / 2)) in text
    planned = plan(SURVEY, list(QUERIES.values()), leakage=1, dependence=[HOUSEHOLDS])
    assert "Planned, not yet charged: leakage at most 1" in Reader(to_html(planned)).text
    chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    assert (
        "message passing 0.8927 the smallest"
        in Reader(to_html(bound(chain, Loss.uniform(0.1, units=100)))).text
    )
    assert "largest loss of a unit 0.112258" in Reader(to_html(calibrate(chain, 1.0))).text
    with pytest.raises(TypeError, match="int has no table"):
        to_html(3)


def test_ten_histograms_are_reported_in_a_second(tmp_path):
    queries = {f"Ages in {bins}": Histogram("age", bins) for bins in range(6, 16)}
    made = released(tmp_path / "of", queries=queries)
    start = time.process_time()
    page_of(made)
    assert time.process_time() - start < 1


def test_gaussian_noise_is_promised_but_for_its_chance(tmp_path):
    made = released(tmp_path, queries={"People by region": Histogram("region")}, measure=Concentrated(DELTA))
    page = report_page(made.release, **{key: value for key, value in vars(made).items() if key != "release"})
    assert "but for a chance of 1e-06 that no such bound holds" in page
    assert "Dong, Roth and Su" in page
    assert "Leakage of this release, at most</dt><dd>2<" in page


def test_a_notebook_shows_releases_and_plans(tmp_path):
    made = released(tmp_path, queries={"People by region": Histogram("region")})
    assert "<table" in made.release._repr_html_()
    assert "<table" in plan(SURVEY, Histogram("region"), loss=1)._repr_html_()
