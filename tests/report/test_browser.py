"""The pages in a real browser: charts are drawn, nothing is fetched, nothing runs, nothing overflows."""

import shutil
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from entwined.report import plan_page, report_page
from support.reports import HOSTILE, hostile, released

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


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a report and a plan as files, of ordinary and of hostile names."""
    at = tmp_path_factory.mktemp("pages")
    written = {}
    for kind, made in {"survey": released(at / "survey"), "hostile": hostile(at)}.items():
        report = report_page(
            made.release, names=made.names, schema=made.schema, outlook=made.outlook, budget=made.budget
        )
        for name, page in {"report": report, "plan": plan_page(made.outlook)}.items():
            written[name, kind] = at / f"{kind} {name}.html"
            written[name, kind].write_text(page, encoding="utf-8")
    return written


@pytest.fixture
def opened(browser, pages):
    """Open a page and listen to whatever it asks for, says or runs; all of it must be nothing."""
    tabs = []

    def open_page(name, kind, width="laptop"):
        wide, high = WIDTHS[width]
        tab = browser.new_page(viewport={"width": wide, "height": high})
        heard = {"requests": [], "messages": []}
        tab.on("request", lambda request: heard["requests"].append(request.url))
        tab.on("console", lambda message: heard["messages"].append(message.text))
        tab.on("pageerror", lambda error: heard["messages"].append(str(error)))
        tab.on("dialog", lambda dialog: heard["messages"].append(dialog.message))
        tab.goto(pages[name, kind].as_uri())
        tab.wait_for_load_state("networkidle")
        tabs.append((tab, heard))
        return tab

    yield open_page
    for tab, heard in tabs:
        assert [urlsplit(url).scheme for url in heard["requests"] if not url.startswith("data:")] == ["file"]
        assert heard["messages"] == []
        tab.close()


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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["survey", "hostile"])
@pytest.mark.parametrize("name", ["report", "plan"])
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
    assert tab.evaluate("() => document.scripts.length") == 0


CONTRAST = """() => {
    const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = one => { for (; one; one = one.parentElement) {
        const colour = getComputedStyle(one).backgroundColor;
        if (!/, 0\\)$|transparent/.test(colour)) return colour; } return 'rgb(255, 255, 255)'; };
    return Math.min(...[...document.querySelectorAll('main *:not(svg *):not(svg), footer')].filter(one =>
        [...one.childNodes].some(child => child.nodeType === 3 && child.data.trim())).map(one => {
            const [low, high] = [light(getComputedStyle(one).color), light(ground(one))].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05); })); }"""


@pytest.mark.parametrize("name", ["report", "plan"])
def test_contrast_is_enough_for_everybody(opened, name):
    assert opened(name, "survey").evaluate(CONTRAST) >= 4.5


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
