"""A plan of a panel of persons names both secrets, each with its figure."""

from entwined.request.outlook import outlook
from entwined.request.request_file import read_request
from entwined.schema import Categorical, Integer, Person, Schema, Text, write_schema

REQUEST = """
table = "rows.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 3
leakage = 1

[[dependence]]
model = {kind = "markov_chain", length = 3, transition = [[0.9, 0.1], [0.3, 0.7]], initial = [0.75, 0.25]}
by = "who"
order = "month"
panel = true
missing_says_nothing = ["state"]

[[query]]
kind = "count"
where = "state = 'ill'"
"""


def test_a_plan_names_both_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    columns = Text("who", compare="exact"), Integer("month", 1, 3), Categorical("state", ("well", "ill"))
    write_schema(Schema(columns, unit=Person("who", 3), most_rows=100).approve(), tmp_path / "schema.toml")
    (tmp_path / "rows.csv").write_text("who,month,state\nw,1,ill\n")
    (tmp_path / "release.toml").write_text(REQUEST)
    found = outlook(read_request(tmp_path / "release.toml")).document
    assert [one["name"] for one in found["models"]] == ["markov_chain by who", "whole person"]
    (proposed,) = (way for way in found["ways"] if way["way"] == found["proposed"])
    assert proposed["leakage"]["markov_chain by who"] < proposed["leakage"]["whole person"] <= 1
    assert "series_in_all" not in found["budget"]
