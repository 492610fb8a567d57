"""A real browser for the holder's pages: a tab that hears whatever is asked of elsewhere, said or gone wrong."""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from entwined.web.sessions import Sessions
from support.served import served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium in the path: on Debian, apt-get install chromium"
)


@contextmanager
def browsing():
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def holders_house(folder):
    """Serve a folder with its page and nothing on offer, and open a tab of the holder."""
    sessions = Sessions()
    with served(folder, offers=(), sessions=sessions) as running:
        running.sessions = sessions
        with browsing() as browser, holders_tab(browser, running) as tab:
            running.tab = tab
            yield running


@contextmanager
def holders_tab(browser, house):
    """A tab of the holder, let in by the start address."""
    context = browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.heard = []
    made.on(
        "request",
        lambda sent: sent.url.startswith((house.url, "data:", "blob:")) or made.heard.append(sent.url),
    )
    made.on("console", lambda message: "status of 422" in message.text or made.heard.append(message.text))
    made.on("pageerror", lambda error: made.heard.append(str(error)))
    made.on("dialog", lambda dialog: (made.heard.append(dialog.message), dialog.dismiss()))
    made.goto(f"{house.url}/start?token={house.sessions.start}")
    made.set_default_timeout(20_000)
    yield made
    context.close()


FAINT = """() => {
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const wrong = [];
  for (const one of document.querySelectorAll("body *")) {
    const words = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!words || !one.checkVisibility() || one.closest("[disabled], svg, option")) continue;
    const style = getComputedStyle(one);
    const pair = [light(numbers(style.color)), light(behind(one))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < (large ? 3 : 4.5)) wrong.push(one.outerHTML.slice(0, 100));
  }
  return wrong;
}"""


def faint_words(tab):
    """What on the page has less contrast than WCAG AA asks for: 4.5, or 3 where letters are large."""
    return tab.evaluate(FAINT)


def fits_a_phone(tab, url):
    """Whether a page is no wider than a phone, and every field has its words."""
    tab.set_viewport_size({"width": 375, "height": 800})
    tab.goto(url)
    narrow = tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    unnamed = tab.eval_on_selector_all(
        "input:not([type=hidden]), select, textarea",
        "all => all.filter(one => !one.labels.length && !one.ariaLabel).map(one => one.name)",
    )
    tab.set_viewport_size({"width": 1280, "height": 900})
    return narrow and unnamed == []
