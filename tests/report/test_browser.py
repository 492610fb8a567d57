"""The pages in a real browser: charts are drawn, nothing is fetched, nothing runs, nothing overflows."""

import itertools
import shutil
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from entwined.audit.comparison import attack_document, compare
from entwined.audit.family import family_stage
from entwined.report import attack_page, charts, plan_page, report_page
from entwined.report.inspection_page import inspection_page
from entwined.report.public_word_page import public_word_page
from entwined.synthetic.inspection import inspected
from support.browsing import faint_words
from support.reports import HOSTILE, hostile, marked, questionnaire, released, repeated
from support.two_tables import a_word, two_tables

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = {"phone": (375, 800), "laptop": (1280, 900)}

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium in the path: on Debian, apt-get install chromium"
)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def report_of(made):
    return report_page(
        made.release, names=made.names, schema=made.schema, outlook=made.outlook, budget=made.budget
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a report and a plan as files, of ordinary and of hostile names."""
    at = tmp_path_factory.mktemp("pages")
    written = {}
    many = marked(questionnaire(at / "many"), 4, "Its interval is as wide as the table.")
    kinds = {"survey": released(at / "survey"), "hostile": hostile(at), "many": many}
    for kind, made in kinds.items():
        for name, page in {"report": report_of(made), "plan": plan_page(made.outlook)}.items():
            written[name, kind] = at / f"{kind} {name}.html"
            written[name, kind].write_text(page, encoding="utf-8")
    for kind, document in {"family": attacked(), "hostile": with_harm(attacked(), HOSTILE)}.items():
        written["attack", kind] = at / f"{kind} attack.html"
        written["attack", kind].write_text(attack_page(document), encoding="utf-8")
    both = two_tables(HOSTILE[:4], HOSTILE)
    made_up = {
        "inspection": inspection_page(inspected(both, "age")),
        "word": public_word_page(a_word(HOSTILE)),
    }
    for name, page in made_up.items():
        written[name, "hostile"] = at / f"{name}.html"
        written[name, "hostile"].write_text(page, encoding="utf-8")
    return written


@pytest.fixture(scope="module")
def shown(browser):
    """The one tab of all pages, for a new one takes long, and whatever is heard from it."""
    tab, heard = browser.new_page(), []
    tab.on("request", lambda request: heard.append(request.url))
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.on("dialog", lambda dialog: heard.append(dialog.message))
    yield tab, heard
    tab.close()


@pytest.fixture
def opened(shown, pages):
    """Open a page and listen to whatever it asks for, says or runs; all of it must be nothing."""
    tab, heard = shown

    def open_page(name, kind, width="laptop"):
        all_quiet()
        tab.goto("about:blank")
        tab.emulate_media(media="screen")
        wide, high = WIDTHS[width]
        tab.set_viewport_size({"width": wide, "height": high})
        heard.clear()
        tab.goto(pages[name, kind].as_uri())
        tab.wait_for_load_state("networkidle")
        assert [urlsplit(url).scheme for url in heard[:1]] == ["file"]  # the page itself
        return tab

    def all_quiet():
        assert [text for text in heard[1:] if not text.startswith("data:")] == []

    heard.clear()
    yield open_page
    all_quiet()


def attacked():
    """Attack the generated family; what is known of others is nothing, or everything."""
    found = compare(family_stage(1), shares=(0, 1), releases=30, generator=np.random.default_rng(3))
    return attack_document([found])


def with_harm(document, names):
    """Put names that mean harm wherever a name can stand."""
    (model,) = document["models"]
    model |= {"model": names[0], "target_name": names[1], "values": names[:3], "left_out": names[3:6]}
    for one, name in zip(model["relatives"], itertools.cycle(names), strict=False):
        one |= {"name": name, "relation": name[::-1]}
    return document


MARKS = """() => [...document.querySelectorAll('figure svg')].map(drawn =>
    [...drawn.querySelectorAll('.bars rect, .dots circle, .tiles rect, .line path, .band path, .whiskers path')]
        .map(mark => mark.getBoundingClientRect())
        .filter(box => box.width > 0.5 || box.height > 0.5).length)"""


@pytest.mark.parametrize("kind", ["survey", "hostile"])
def test_charts_are_drawn(opened, kind):
    tab = opened("report", kind)
    marks = tab.evaluate(MARKS)
    assert len(marks) >= 5
    assert all(count >= 2 for count in marks), marks
    bars = tab.locator("figure svg").first.locator("g.bars rect")
    assert (
        bars.count() == {"survey": 6, "hostile": len(HOSTILE) + 1}[kind]
    )  # one a value, and one for missing
    sizes = tab.evaluate(
        "() => [...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect().width)"
    )
    assert all(size > 250 for size in sizes)


def test_a_synthetic_table_is_drawn_beside_the_real_one(opened):
    marks = opened("inspection", "hostile").evaluate(MARKS)
    assert len(marks) == 8  # the worst tables, two maps, five columns
    assert all(count >= 2 for count in marks), marks
    tab = opened("word", "hostile")
    assert len(tab.evaluate(MARKS)) == 2
    assert tab.evaluate("() => document.compatMode") == "CSS1Compat"


def test_an_attack_draws_what_is_believed_and_what_is_added(opened):
    tab = opened("attack", "family")
    marks = tab.evaluate(MARKS)
    assert len(marks) == 3
    assert all(count >= 3 for count in marks), marks
    assert tab.locator("p.alarm").count() == 1
    assert tab.locator("h1").inner_text() == "What a release says about Ada"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *itertools.product(["report", "plan"], ["survey", "hostile", "many"]),
        ("attack", "family"),
        ("attack", "hostile"),
        ("inspection", "hostile"),
        ("word", "hostile"),
    ],
)
def test_nothing_overflows_and_all_can_be_read(opened, name, kind, width):
    tab = opened(name, kind, width)
    assert tab.evaluate("() => document.documentElement.scrollWidth") == WIDTHS[width][0]
    outside = tab.evaluate(
        """() => [...document.querySelectorAll('main *:not(svg *)')].filter(one =>
            !one.closest('.scroll') && one.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    assert outside == 0
    smallest = tab.evaluate(
        """() => Math.min(...[...document.querySelectorAll('main p, main td, main th, main li, figcaption')]
            .map(one => parseFloat(getComputedStyle(one).fontSize)))"""
    )
    assert smallest >= 13
    letters = tab.evaluate(
        """() => Math.min(...[...document.querySelectorAll('figure svg text')].map(one => {
            const drawn = one.ownerSVGElement;
            const scale = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
            return parseFloat(getComputedStyle(one).fontSize) * scale; }))"""
    )
    assert letters >= 9.5
    assert tab.evaluate("() => document.scripts.length") == (kind == "many")


@pytest.mark.parametrize("kind", ["survey", "many"])
@pytest.mark.parametrize("name", ["report", "plan"])
def test_contrast_is_enough_for_everybody(opened, name, kind):
    assert faint_words(opened(name, kind)) == []


@pytest.mark.parametrize("name", ["report", "plan"])
def test_pages_print(opened, name):
    tab = opened(name, "survey")
    printed = tab.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert 3 <= printed.count(b"/Type /Page\n") <= 20
    tab.emulate_media(media="print")
    assert tab.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = tab.evaluate(
        "() => [...document.querySelectorAll('.scroll')].filter(one => getComputedStyle(one).overflowY !== 'visible').length"
    )
    assert hidden == 0


def test_a_script_that_got_in_would_not_run(browser, tmp_path, pages):
    """The page's own policy stops what escaping would have missed."""
    page = pages["report", "survey"].read_text()
    planted = page.replace(
        "<h2>", "<script>document.title = 'ran'</script><img src='http://127.0.0.1:9/x'><h2>", 1
    )
    (tmp_path / "planted.html").write_text(planted)
    tab = browser.new_page()
    tab.goto((tmp_path / "planted.html").as_uri())
    assert tab.title() == "Election survey 1996"
    assert tab.evaluate("() => document.images[0].complete && document.images[0].naturalWidth") == 0
    tab.close()


# many questions


@pytest.mark.parametrize("name", ["report", "plan"])
def test_questions_are_found_by_words_and_codes(opened, name):
    tab = opened(name, "many", "phone")
    box, told, asked = tab.get_by_role("searchbox"), tab.locator(".find output"), tab.locator(".asked")
    for words, found in (
        ("trust institutions NUMBER 3", 1),
        ("med_0", 10),
        ("hëalth", 12),
        ("no such words", 0),
    ):
        box.fill(words)
        assert told.inner_text() == f"{found} of 60"
        assert asked.filter(visible=True).count() == found
        assert tab.locator(".topic").filter(visible=True).count() == bool(found)
    box.fill("med_07")
    assert asked.filter(visible=True).locator("code").inner_text() == "med_07"
    assert asked.filter(visible=True).bounding_box()["y"] < WIDTHS["phone"][1]
    box.fill("")
    assert told.inner_text() == ""
    assert asked.filter(visible=True).count() == 60


def test_contents_lead_to_every_section_and_question(opened):
    tab = opened("report", "many")
    tab.locator("nav summary").nth(2).click()
    tab.locator("nav details[open] a").nth(5).click()
    assert tab.url.endswith("#q29")
    box = tab.locator("#q29").bounding_box()
    assert tab.locator(".find").bounding_box()["height"] <= box["y"] < 200  # not under the search
    assert tab.locator("nav details a").count() == 60


@pytest.mark.parametrize(("width", "beside"), [("phone", 1), ("laptop", 3)])
def test_cards_stand_side_by_side_and_their_intervals_are_seen(opened, width, beside):
    tab = opened("report", "many", width)
    cards = "() => [...document.querySelectorAll('.card')].map(one => one.getBoundingClientRect().left)"
    assert len(set(tab.evaluate(cards))) == beside
    seen = tab.evaluate(
        """() => [...document.querySelectorAll('td.i')].map(one => one.getBoundingClientRect())
            .map(box => box.left > 0 && box.right <= innerWidth && box.width > 40)"""
    )
    assert len(seen) == 360
    assert all(seen)


def test_intervals_of_ordinary_tables_are_seen_on_a_phone(opened):
    """A table of three sides is wider than a phone: its last column stays where it can be seen."""
    for kind in ("survey", "hostile"):
        seen = opened("report", kind, "phone").evaluate(
            """() => [...document.querySelectorAll('td.i')].map(one => one.getBoundingClientRect())
                .map(box => box.left > 0 && box.right <= innerWidth && box.width > 20)"""
        )
        assert len(seen) > 100
        assert all(seen)


MEETING = """() => [...document.querySelectorAll('svg')].flatMap(drawn => {
    const boxes = [...drawn.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
    return boxes.flatMap(([text, a], at) => boxes.slice(at + 1).filter(([, b]) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2.5).map(([other]) => [text, other])); })"""


def test_labels_never_meet(opened, browser):
    for name, kind in (("report", "survey"), ("report", "hostile"), ("plan", "survey"), ("plan", "hostile")):
        assert opened(name, kind).evaluate(MEETING) == []
    long = [
        "Married or in a registered civil partnership",
        "Mostly WWW and MMM, but not always so",
        "長い名前の答え" * 3,
    ]
    tab = browser.new_page()
    for size in (2, 8, 14, 25):
        names = (long * 9)[:size]
        rows = [
            {
                "label": label,
                "value": 1.5e5 * at,
                "low": at,
                "high": 2.1e5 * at,
                "said": "15,000",
                "kept": "no",
            }
            for at, label in enumerate(charts.labelled(names), 1)
        ]
        values = [float(at) for at in range(size * size)]
        drawn = [
            charts.heat(names, names, values, "rows"),
            charts.bars(rows, "rows"),
            charts.spread(rows, "±"),
        ]
        drawn.append(charts.compared(rows, "leakage: the ε that an adversary really gets", 3.0))
        tab.set_content("".join(f'<div style="width: 430px">{one}</div>' for one in drawn))
        assert tab.evaluate(MEETING) == []
    tab.close()


def printed(tab):
    return tab.pdf(format="A4").count(b"/Type /Page\n")


def test_sixty_questions_print_on_few_pages(opened):
    assert 6 <= printed(opened("report", "many")) <= 18
    assert printed(opened("plan", "many")) <= 10


@pytest.mark.slow
def test_four_hundred_questions_print_on_fewer_than_sixty_pages(browser, tmp_path):
    many = repeated(questionnaire(tmp_path / "of", answers=8), 400)
    tab = browser.new_page()
    for page, most in ((report_of(many), 60), (plan_page(many.outlook), 30)):
        (tmp_path / "long.html").write_text(page, encoding="utf-8")
        tab.goto((tmp_path / "long.html").as_uri())
        assert 10 <= printed(tab) < most
    tab.close()


def test_no_other_script_runs_beside_the_search(browser, tmp_path, pages):
    page = pages["report", "many"].read_text()
    planted = page.replace("<h2", "<script>document.title = 'ran'</script><h2", 1)
    (tmp_path / "planted.html").write_text(planted.replace("<h1>", "<h1 onclick=\"document.title = 'ran'\">"))
    tab = browser.new_page()
    tab.goto((tmp_path / "planted.html").as_uri())
    tab.locator("h1").click()
    assert tab.title() == "Election survey 1996"
    assert tab.locator(".find").is_visible()
    tab.close()
