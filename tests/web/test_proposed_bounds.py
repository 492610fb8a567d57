"""Bounds on the rows of a group come from the groups of the table, on the page and from the command line."""

import csv
import re
from pathlib import Path
from types import SimpleNamespace

from entwined.cli import init
from entwined.cli.left_out import left_out
from entwined.request.request_file import read_request
from entwined.schema import Integer, Person, Schema, Text, approve, read_schema, write_schema
from entwined.tables import describe
from entwined.tables.group_sizes import GroupSizes, read_sizes, sizes_beside
from entwined.web.holder import CHANGES
from entwined.web.projects import Project


def half_hours(path, days=30):
    """A table of a row each half hour: 48 rows a day."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("day", "user_id", "load"), *((f"d{n // 48}", f"u{n % 48}", n % 977) for n in range(48 * days))]
        )


def test_the_page_proposes_no_bound_that_drops_most_of_the_rows(tmp_path):
    """Groups by day without a bound: 50, which leaves nothing out, where 4 would drop 92 %."""
    half_hours(tmp_path / "load.csv")
    project = Project.begin(tmp_path, "load", "load.csv")
    form = {f"keep-{place}": "on" for place in range(3)} | {"most_rows": "5000", "neighbours": "replace"}
    form |= {
        "kind-0": "text",
        "compare-0": "exact",
        "kind-1": "text",
        "compare-1": "exact",
        "kind-2": "integer",
    }
    form |= {"low-2": "0", "high-2": "1000", "outside-2": "clamp"}
    visit = SimpleNamespace(form=form | {"unit": "person", "person": "user_id", "beyond": "scale"})
    CHANGES["schema"](visit, project)
    assert project.schema.unit == Person("user_id", 50, "scale")
    visit = SimpleNamespace(form={"kind": "groups", "by": "day", "largest": ""}, house=None)
    visit.house = SimpleNamespace(folder=tmp_path)
    assert CHANGES["depends"](visit, project) == "depends"  # to be seen before one goes on
    (made,) = project.draft["dependence"]
    assert made["model"]["largest"] == 50
    assert "50: 0 %" in project.sizes_in_words("day")
    assert GroupSizes({48: 30}).left_out(4) > 0.91


def test_what_the_table_holds_stands_in_files_of_the_holder_alone(tmp_path, monkeypatch):
    half_hours(tmp_path / "load.csv", 12)
    monkeypatch.chdir(tmp_path)
    found = describe("load.csv")
    found.write("schema.toml")
    assert read_sizes("schema.toml")["user_id"].groups == {12: 48}
    assert "most = 20" in found.notes
    assert "48 groups" not in found.text
    assert sizes_beside(Path("schema.toml")).stat().st_mode & 0o077 == 0


def test_init_and_plan_say_what_a_bound_leaves_out(tmp_path, monkeypatch):
    """Half of the households have one row and half have seven: a bound of 2 leaves out 62.5 %."""
    monkeypatch.chdir(tmp_path)
    rows = [f"h{home},{age}" for home in range(40) for age in range(1 if home % 2 else 7)]
    Path("t.csv").write_text("\n".join(["household,age", *rows]))
    schema = Schema((Text("household", compare="exact"), Integer("age", 0, 99)), most_rows=1000)
    write_schema(schema, "schema.toml")
    init.measure_groups("t.csv", Path("schema.toml"), schema, "household")
    text = init.request_text("t.csv", Path("schema.toml"), Path("release.toml"), schema, "household")
    assert "largest = 10 " in text
    Path("release.toml").write_text(re.sub("largest = 10", "largest = 2", text))
    approve("schema.toml")
    assert read_schema("schema.toml").approved
    request = read_request(Path("release.toml"))
    (sentence,) = left_out(Path("release.toml"), request)
    assert "62.5 % of the rows" in sentence
    assert "bound of 2 rows of a group" in sentence
