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
