"""The holder's pages in a real browser: from a CSV to a report and a verified certificate, and no name runs."""

import csv
import json

import pytest
from playwright.sync_api import expect

from entwined.web.visits import STEPS
from support.browsing import faint_words, fits_a_phone, holders_house, needs_chromium
from support.warm import entwined

TABLE = "harm &<b>.csv"
HARM = "<img src=x onerror=alert(1)>\"'&{{7*7}}"
pytestmark = needs_chromium


def write_table(path, names, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A folder with a table whose names and values mean harm, and its service."""
    folder = tmp_path_factory.mktemp("house")
    rows = [
        (f"h{n // 3}", (HARM, "</script><script>alert(2)</script>")[n % 2], 20 + n % 9) for n in range(300)
    ]
    write_table(folder / TABLE, ("household", HARM, "age"), rows)
    with holders_house(folder) as running:
        yield running


@pytest.fixture(scope="module")
def tab(house):
    return house.tab


def walk(tab, house):
    """Go from a table to its plan, as a holder does."""
    tab.goto(house.url)
    tab.select_option("select[name=table]", TABLE)
    tab.fill("input[name=name]", "survey")
    tab.click("text=Look at the table")
    assert "Private until you approve it" in tab.inner_text("main")
    row = tab.locator("table.columns tbody tr").first
    row.locator("select").first.select_option("text")
    tab.click("text=Keep changes")
    tab.locator("table.columns tbody tr").first.locator("select").nth(1).select_option("exact")
    tab.click("text=Approve the schema")
    assert "Say so first" in tab.inner_text("[role=alert]")  # nothing is approved by accident
    tab.locator("table.columns tbody tr").first.locator("select").nth(1).select_option("exact")
    tab.check("input[name=public]")
    tab.click("text=Approve the schema")
    tab.check("input[value=groups]")
    tab.select_option("select[name=by]", "household")
    tab.fill("input[name=largest]", "3")
    tab.click("text=Keep and go on")
    tab.select_option("select[name=column]", HARM)
    tab.click("text=Add the question")
    tab.fill("textarea[name=sql]", "SELECT count(*) FROM t WHERE age > 24")
    tab.locator("form", has=tab.locator("textarea[name=sql]")).locator("input[name=name]").fill(
        "Over 24 " + HARM
    )
    tab.click("text=Add the SQL")
    expect(tab.locator(".asked li")).to_have_count(2)


def test_from_a_csv_to_a_report_and_a_verified_certificate_on_the_page_alone(tab, house, tmp_path):
    walk(tab, house)
    tab.click("text=See the plan")
    tab.wait_for_load_state()
    before = tab.inner_text("#planned table >> nth=0")
    tab.fill("#leak", "2")
    tab.wait_for_selector("#planned input[name=leakage][value='2']", state="attached")
    after = tab.inner_text("#planned table >> nth=0")
    assert before != after  # error bars move with the leakage
    assert not (house.house.folder / "survey" / "ledger.sqlite").exists()  # a plan costs nothing
    button = tab.inner_text("#release")
    assert "spend 2" in button
    assert "1 is left" in button
    tab.click("#release")
    assert "The certificate is valid" in tab.inner_text("main")
    with tab.expect_download() as waiting:
        tab.click("text=certificate.json")
    assert {"values.csv", "values.parquet", "values.xlsx", "release.json", "release.toml"} <= set(
        tab.inner_text(".files").split()
    )
    certificate = json.loads(waiting.value.path().read_text())
    assert certificate["models"][0]["declared"]["by"] == "household"
    tab.click("text=Look at the report")
    assert "statistics released with protection" in tab.inner_text("main").lower()
    tab.go_back()
    tab.click("text=The budget")
    assert "answered" in tab.inner_text("main")
    assert tab.heard == []


def test_the_request_file_gives_the_same_plan_on_the_command_line(tab, house):
    tab.goto(f"{house.url}/p/survey/plan")
    with tab.expect_download() as waiting:
        tab.click("text=The request file")
    project = house.house.folder / "survey"
    (project / "exported.toml").write_bytes(waiting.value.path().read_bytes())
    done = entwined("plan", "exported.toml", "--json", folder=project)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    shown = tab.inner_text("#planned table >> nth=0")
    for one in told["statistics"]:
        assert one["name"][:7] in shown
    assert told["budget"]["again"] == ("nothing is charged" in tab.inner_text("#release"))


def test_names_and_labels_that_mean_harm_are_shown_and_never_run(tab, house):
    """On a phone's screen too, where nothing is wider than it, and every field has its words."""
    for page in (
        "",
        *(f"p/survey/{step}" for step in (*STEPS, "log", "plan/whole", "released/1/report.html")),
    ):
        assert fits_a_phone(tab, f"{house.url}/{page}"), page
        assert tab.locator("img[src=x]").count() == 0
        assert faint_words(tab) == [], page
    tab.goto(f"{house.url}/p/survey/plan")
    assert "onerror" in tab.inner_text("#planned")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    assert tab.heard == []


def test_undo_brings_the_draft_back(tab, house):
    tab.goto(f"{house.url}/p/survey/questions")
    tab.click("text=Take out >> nth=0")
    expect(tab.locator(".asked li")).to_have_count(1)
    tab.click("text=Undo the last change")
    expect(tab.locator(".asked li")).to_have_count(2)
