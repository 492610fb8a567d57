"""More of the holder's pages in a real browser: a learned model drawn, synthetic data, a table in a database."""

import csv
import random

import psycopg
import pytest
from playwright.sync_api import expect

from support.browsing import faint_words, fits_a_phone, holders_house, needs_chromium
from support.postgres import new_schema

pytestmark = needs_chromium
HARM = "<b onclick=alert(1)>\"'"
SECRET = "hush-hush&?/"  # noqa: S105  (of nobody)


def people(rows, seed):
    """Rows in which the first two answers go together."""
    draw = random.Random(seed)
    for _ in range(rows):
        one = draw.choice(["yes", "no"])
        yield one, one if draw.random() < 0.9 else "no", str(draw.randrange(5))


def write_table(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("smokes", HARM, "age"), *rows])


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    write_table(folder / "survey.csv", people(400, 1))
    write_table(folder / "pilot.csv", people(300, 2))
    with holders_house(folder) as running:
        yield running


@pytest.fixture(scope="module")
def tab(house):
    return house.tab


def approved(tab, unit):
    """Approve the schema that is shown, protecting this."""
    tab.select_option("select[name=unit]", unit)
    tab.check("input[name=public]")
    tab.click("text=Approve the schema")
    expect(tab.locator("h1")).to_have_text("What depends on what")


@pytest.fixture(scope="module")
def learned(tab, house):
    """A project whose model was learned from the pilot."""
    tab.goto(house.url)
    tab.select_option("select[name=table]", "survey.csv")
    tab.locator("form", has=tab.locator("select[name=table]")).locator("input[name=name]").fill("answers")
    tab.click("text=Look at the table >> nth=0")
    approved(tab, "cells")
    tab.check("input[value=learned]")
    tab.select_option("select[name=public]", "pilot.csv")
    tab.click("text=Keep and go on")
    assert "Say so first" in tab.inner_text("[role=alert]")  # nothing is taken for public by accident
    tab.check("input[value=learned]")
    tab.select_option("select[name=public]", "pilot.csv")
    tab.check("input[name=is_public]")
    tab.click("text=Keep and go on")
    expect(tab.locator("figure.model svg")).to_be_visible()
    return house.house.folder / "answers"


def test_a_model_learned_from_a_public_file_is_drawn_with_its_strongest_ties(tab, house, learned):
    assert (learned / "learned-1.json").exists()
    first = tab.locator("details tbody tr").first.inner_text()
    assert "smokes" in first
    assert "onclick" in first
    assert "odds change up to" in first
    assert tab.get_attribute("figure.model svg", "aria-label").startswith("2 ties between 3 of 3")
    assert fits_a_phone(tab, f"{house.url}/p/answers/depends")
    assert faint_words(tab) == []
    tab.goto(f"{house.url}/p/answers/depends")
    tab.click("text=Keep and go on")  # as it is
    expect(tab.locator("h1")).to_have_text("What is asked")
    assert not (learned / "learned-2.json").exists()
    assert tab.heard == []


def test_synthetic_data_are_described_made_up_and_inspected_on_the_page(tab, house, learned):
    tab.goto(f"{house.url}/p/answers/synthetic")
    tab.fill("input[name=leakage] >> nth=0", "2")
    tab.select_option("select[name=mode]", "independent")
    tab.fill("input[name=rows] >> nth=0", "50")
    tab.click("text=See what it costs")
    button = tab.locator("#describe")
    expect(button).to_contain_text("spend 2, 1 is left")
    assert not (learned / "ledger.sqlite").exists()  # what it costs is told for nothing
    button.click()
    expect(tab.locator("h2")).to_have_text("Synthetic table 1")
    assert "The certificate is valid" in tab.inner_text("main")
    assert len((learned / "synthetic-1" / "synthetic.csv").read_text().splitlines()) == 51
    with tab.expect_download() as waiting:
        tab.get_by_label("More rows, for nothing").fill("7")
        tab.click("text=Make them up")
    assert len(waiting.value.path().read_text().splitlines()) == 8
    assert fits_a_phone(tab, f"{house.url}/p/answers/synthetic")
    assert faint_words(tab) == []
    tab.goto(f"{house.url}/p/answers/synthetic?leakage=2&mode=correlated")
    expect(tab.locator("#describe")).to_be_disabled()  # the cap is 3, and 2 are spent
    for link, words in (("How good it is, in public", "noise"), ("Beside the real rows", "holder")):
        tab.click(f"text={link}")
        assert words in tab.inner_text("body").lower()
        tab.go_back()
    tab.click("text=The budget")
    assert "answered" in tab.inner_text("main")
    assert tab.heard == []


def test_a_table_in_a_database_is_opened_and_its_password_is_nowhere(tab, house):
    address = new_schema()
    with psycopg.connect(address, autocommit=True) as link:
        link.execute("CREATE TABLE people (home integer, ill boolean)")
        link.execute("INSERT INTO people SELECT n / 3, n % 7 = 0 FROM generate_series(0, 299) AS n")
    tab.goto(house.url)
    tab.fill("input[name=address]", f"{address}&table=people")
    tab.fill("input[name=password]", SECRET)
    tab.locator("form", has=tab.locator("input[name=address]")).locator("input[name=name]").fill("base")
    tab.click("text=Look at the table >> nth=1")
    approved(tab, "rows")
    tab.click("text=Keep and go on")
    tab.select_option("select[name=column]", "ill")
    tab.click("text=Add the question")
    tab.click("text=See the plan")
    tab.click("#release")
    assert "The certificate is valid" in tab.inner_text("main")
    project = house.house.folder / "base"
    for path in (one for one in project.rglob("*") if one.is_file()):
        found = path.read_bytes()
        assert b"hush-hush" not in found, path
    tab.goto(f"{house.url}/p/base/schema")
    assert "hush" not in tab.content()
    assert "hush-hush" in house.house.addresses.full(
        house.house.addresses.remember(f"{address}&table=people")
    )
    assert tab.heard == []
