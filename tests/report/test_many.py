"""Pages of many statistics: sections, labels, bars as long as their numbers, and words about single answers."""

import base64
import hashlib
import itertools
import math
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from entwined.estimate.quality import Quality
from entwined.estimate.spans import Between
from entwined.report import plan_page, report_page
from entwined.report.cells import ShareShown
from entwined.report.findings import findings
from entwined.report.multiples import FEW, topics
from entwined.report.scales import factors, sums, times
from entwined.report.sections import Labelled, sections
from entwined.report.words import digits_for, number
from support.reports import HOSTILE, hostile, marked, questionnaire, released, repeated

NONE_OF_USE = "Its interval is as wide as the table."


def page_of(made):
    return report_page(
        made.release, names=made.names, schema=made.schema, outlook=made.outlook, budget=made.budget
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return questionnaire(tmp_path_factory.mktemp("many") / "of")


@pytest.fixture(scope="module")
def page(made):
    return page_of(made)


def words_of(page):
    return " ".join(re.sub(r"<(style|script)>.*?</\1>|<wbr>|<[^>]+>", " ", page, flags=re.DOTALL).split())


# what it says


def test_the_first_lines_say_that_one_answer_is_protected(page, tmp_path):
    text = words_of(page)
    assert "what anybody can learn from them about any one answer of any one row" in text
    assert "even somebody who knows how answers depend on each other" in text
    assert "One answer is protected at a time: neither all answers of a row together, nor whether" in text
    rows = words_of(page_of(released(tmp_path / "of")))
    assert "about any one of those concerned, even somebody who knows how the rows" not in rows
    assert "about any one of those concerned, even somebody who knows how rows depend" in rows
    assert "One answer is protected" not in rows


def test_noise_for_single_answers_is_not_called_ordinary_privacy(made, page):
    for text in (words_of(page), words_of(plan_page(made.outlook))):
        assert not re.search("(plain|ordinary) differential privacy", text, re.IGNORECASE)
        assert "Noise for each answer alone" in text
    assert "adds up what each answer says about the others" in words_of(page)


def test_theorems_that_do_not_apply_are_folded(made):
    page = plan_page(made.outlook)
    (folded,) = re.findall(r'<details class="folded">.*?</details>', page, flags=re.DOTALL)
    assert words_of(folded) == "1 other theorem says nothing here: why Message passing: Not about groups."
    assert "Not about groups." not in page.replace(folded, "")


def test_questions_go_by_their_labels_in_sections(made, page):
    found = topics(findings(made.release, made.names, made.schema))
    assert [(one.title, len(one.cards)) for one in found] == [
        ("Trust in institutions", 12), ("Media", 12), ("Health and care", 12), ("Work", 12), ("eco…", 12),
    ]  # fmt: skip
    assert [card.place for one in found for card in one.cards] == list(range(60))
    assert (
        "<bdi>How much do you trust number 3 of those that you named before?</bdi> <code>med_03</code>"
        in page
    )
    assert "<bdi>histogram of eco_07</bdi></h4>" in page
    plan = plan_page(made.outlook)
    assert "named before?</bdi> <code>med_03</code>" in plan.replace("<wbr>", "")
    assert all(title in plan for title in ("Trust in institutions", "eco…"))


def test_sections_follow_topics_then_stems_then_nothing():
    asked = [
        Labelled("a1", "Trust: courts"),
        Labelled("b", "Trust: banks"),
        Labelled("q_1", "Once: and never again"),
    ]
    asked += [Labelled("x9", "Trust: police"), Labelled("q_2", ""), Labelled("q_3", "How often")]
    asked += [Labelled(f"hh{at}", f"In your household who {at}") for at in range(3)] + [Labelled("", "")]
    assert [(one.title, one.places) for one in sections(asked)] == [
        ("Trust", (0, 1, 3)), ("q…", (2, 4, 5)), ("In your household who …", (6, 7, 8)), ("Other questions", (9,)),
    ]  # fmt: skip
    assert [one.title for one in sections(asked[:2])] == ["All questions"]


def test_what_is_of_no_use_is_grey_and_says_why(made):
    some = marked(made, 4, NONE_OF_USE)
    for page in (page_of(some), plan_page(some.outlook)):
        assert page.count("asked useless") == page.count(NONE_OF_USE) == 1
        (only,) = re.findall(r'useless" id="q4".*?why">([^<]*)', page, flags=re.DOTALL)
        assert NONE_OF_USE in only
    assert NONE_OF_USE not in words_of(page_of(made))


# the numbers


def test_every_number_stands_in_a_table_with_headings_and_in_no_picture_alone(made, page):
    for place, answer in enumerate(made.release.answers):
        (card,) = re.findall(
            rf'<article class="card asked" id="q{place}">.*?</article>', page, flags=re.DOTALL
        )
        assert len(re.findall(r'<th scope="col"', card)) == 7
        lines = re.findall(
            r'<tr><th scope="row"><bdi>(.*?)</bdi></th><td class="b"><i style="[^"]*"></i></td>'
            r'<td class="n">(.*?)</td><td class="n i">(.*?)</td><td class="n">[\d,]+</td><td class="n" title="95 % interval: [\d.]+ to [\d.]+ %">(.*?)</td><td>[a-z ]+</td></tr>', card,
        )  # fmt: skip
        low, high = answer.interval
        assert [float(share) for *_, share in lines] == pytest.approx(
            [100 * max(float(one / sum(answer.value)), 0) for one in answer.value], abs=0.51
        )
        assert [(value, interval) for _, value, interval, _ in lines] == [
            (number(one, digits_for((most - least) / 2)), f"{least} to {most}")
            for one, least, most in zip(answer.value, low, high, strict=True)
        ]
        assert [name.replace("<wbr>", "") for name, *_ in lines][2] == "Neither agree nor disagree"


@pytest.mark.parametrize(
    ("share", "written"),
    [
        ((0.2345, 0.21009, 0.258901), ("23.4 %", "21.0 to 25.9 %")),
        ((0.29, 0.29, 0.29), ("29.0 %", "29.0 to 29.0 %")),
        ((0.231, 0.1, 0.401), ("23 %", "10 to 41 %")),
        ((math.nan, math.nan, math.nan), ("", "")),
    ],
)
def test_a_share_has_the_digits_that_its_interval_leaves_it_and_that_is_rounded_outwards(share, written):
    shown = ShareShown.of(*share)
    assert (shown.value, shown.interval) == written


def test_bars_and_whiskers_are_as_long_as_their_numbers(made, page):
    found = topics(findings(made.release, made.names, made.schema))
    for topic in found:
        (ends,) = {card.ends for card in topic.cards}  # one scale a section
        start, end = (float(text.replace("−", "-")) for text in ends)
        for card in topic.cards:
            low, high = card.finding.answer.interval
            for bar, value, least, most in zip(card.bars, card.finding.answer.value, low, high, strict=True):
                drawn = {name: float(part) for name, part in re.findall(r"--(\w):(-?[\d.]+)%", bar.style)}
                at = {"x": min(value, 0) - start, "v": abs(value), "a": least - start, "z": most - least}
                expected = {name: 100 * float(place) / (end - start) for name, place in at.items()}
                assert {"x": 0.0} | drawn == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_scales_hold_their_values_between_round_numbers():
    assert [text for _, text in sums([0, 37, 161], 0, 100, most=2).ticks] == ["0", "100", "200"]
    below = sums([-12.0, 30.0], 0, 100)
    assert (below.ticks[0][1], below.ticks[-1][1]) == ("−20", "40")
    assert 0 <= below.at(-12) < below.at(0) < below.at(30) <= 100
    alone = sums([5.0], 0, 100, zero=False)
    assert 0 < alone.at(5.0) < 100
    assert [text for _, text in factors([3, 900], 0, 100).ticks] == ["1", "10", "100", "1,000"]
    assert all(
        0 <= times([0.0, 40 * 86400.0], 0, 100).at(at) <= 100
        for at, _ in times([0.0, 40 * 86400.0], 0, 100).ticks
    )
    assert [text for _, text in times([0.0, 40 * 86400.0], 0, 100).ticks] == [
        "1970-01-01",
        "1970-01-15",
        "1970-01-29",
    ]


# the page is its own guard


class Elements(HTMLParser):
    """Elements with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_only_the_search_may_run_and_only_places_of_the_page_are_linked(made, page, tmp_path):
    harmful = repeated(hostile(tmp_path), FEW + 8)
    for one in (page, plan_page(made.outlook), page_of(harmful), plan_page(harmful.outlook)):
        elements = Elements(one).found
        places = {a["id"] for _, a in elements if "id" in a}
        assert len(places) == sum("id" in a for _, a in elements)
        for tag, attributes in elements:
            assert not any(
                name.startswith("on") or name in ("src", "action", "srcdoc") for name in attributes
            )
            if "href" in attributes and tag != "link":
                assert tag == "a"
                assert attributes["href"].removeprefix("#") in places
        (script,) = re.findall(r"<script>(.*?)</script>", one, flags=re.DOTALL)
        policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.endswith(f"; script-src 'sha256-{digest}'")
        assert policy.startswith("default-src 'none'; ")
        assert not re.search(
            r"fetch|XMLHttp|import|eval|innerHTML|insertAdjacent|location|cookie|http", script
        )
    assert HOSTILE[0].replace("<", "&lt;").replace(">", "&gt;") in page_of(harmful).replace("<wbr>", "")


def test_a_page_of_many_can_be_read_aloud(made, page):
    for one in (page, plan_page(made.outlook)):
        elements = Elements(one).found
        levels = [int(tag[1]) for tag, _ in elements if re.fullmatch("h[1-6]", tag)]
        assert levels.count(1) == 1
        assert all(below - above <= 1 for above, below in itertools.pairwise(levels))
        assert all("scope" in attributes for tag, attributes in elements if tag == "th")
        assert one.count("<label>") == 1
        assert one.count("<input") == 1


def test_noise_that_drowns_one_answer_does_not_flatten_the_others(made):
    first = made.release.answers[0]
    wide = tuple(100 * high for high in first.interval[1])
    unfit = Quality((math.inf,) * len(first.levels))
    drowned = replace(first, span=Between(first.interval[0], wide), quality=unfit)
    release = replace(made.release, answers=(drowned, *made.release.answers[1:]))
    (of_no_use, other, *_), *_ = (one.cards for one in topics(findings(release, made.names, made.schema)))
    before = topics(findings(made.release, made.names, made.schema))[0].cards[1]
    assert other.ends == before.ends
    assert int(of_no_use.ends[1].replace(",", "")) >= max(wide)


def test_four_hundred_questions_are_written_in_two_seconds_and_a_megabyte(made):
    many = repeated(made, 400)
    start = time.process_time()
    report, plan = page_of(many), plan_page(many.outlook)
    assert time.process_time() - start < 2
    assert len(report) < 2**20
    assert len(plan) < 400_000
