"""`entwined learn ties`: a model of people from files as SNAP publishes them."""

import json
from pathlib import Path

import pytest

from entwined.dependence import Graph, Ties, read_model

EDGES = "# FromNodeId\tToNodeId\n" + "".join(
    f"{a}\t{b}\n{b}\t{a}\n" for a, b in [(1, 2), (2, 3), (7, 9), (2, 5)]
)
VISITS = "".join(
    f"{who}\t2010-10-19T23:55:27Z\t{north}\t{east}\t{place}\n"
    for who, north, east, place, often in [
        (1, 40.71, -74.0, 11, 3),
        (1, 40.75, -74.0, 12, 1),
        (3, 40.70, -74.1, 13, 4),
        (7, 34.05, -118.2, 14, 9),
    ]
    for _ in range(often)
)


@pytest.fixture(autouse=True)
def published(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("friends.txt").write_text(EDGES)
    Path("visits.txt").write_text(VISITS)


def test_a_graph_of_all_people_is_made_and_bounds(run):
    code, out, _ = run("learn", "ties", "friends.txt", "--log-odds", "0.4", "-o", "friends.json")
    assert code == 0
    assert out.startswith("6 people with 4 ties, nobody with more than 3, are in friends.json")
    model = read_model("friends.json")
    assert isinstance(model, Graph)
    assert sorted(model.named(end) for end in model.ends.reshape(-1).tolist()) == [
        f"node {at}" for at in "12223579"
    ]
    assert run("bound", "friends.json", "--loss", "0.1")[0] == 0


def test_a_graph_with_a_cap_on_ties_is_made_and_leaks_less(run):
    leaked = []
    for cap in ((), ("--most-ties", "1")):
        made = run("learn", "ties", "friends.txt", "--log-odds", "4", *cap, "-o", f"capped{len(leaked)}.json")
        assert made[0] == 0, made
        leaked.append(
            json.loads(run("bound", f"capped{len(leaked)}.json", "--loss", "0.5", "--json")[1])["leakage"]
        )
    assert read_model("capped1.json").most_ties == 1
    assert leaked[1] < leaked[0]


def test_nobody_in_between_is_left_out_of_the_ties_of_regulars(run):
    asked = (
        "--checkins",
        "visits.txt",
        "--near",
        "40.7128,-74.0060",
        "--least",
        "4",
        "--table",
        "people.csv",
    )
    code, out, _ = run(
        "learn",
        "ties",
        "friends.txt",
        *asked,
        "--coefficient",
        "0.3",
        "--most-ties",
        "2",
        "-o",
        "near.json",
        "--json",
    )
    told = json.loads(out)
    assert code == 0
    assert (told["people"], told["ties"], told["regulars"], told["most_ties_of_anyone"]) == (4, 3, 2, 3)
    model = read_model("near.json")
    assert isinstance(model, Ties)
    assert model.most_ties == 2
    assert Path("near.ties.csv").read_text().splitlines() == ["source,target", "1,2", "2,3", "2,5"]
    assert Path("people.csv").read_text().splitlines() == [
        "who,latitude,longitude",
        "1,40.710000,-74.000000",
        "3,40.700000,-74.100000",
    ]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ((), "for you to say"),
        (("--log-odds", "1", "--coefficient", "1"), "for you to say"),
        (("--log-odds", "1", "--table", "people.csv"), "Give --checkins"),
        (("--log-odds", "1", "--checkins", "visits.txt", "--near", "here"), "LATITUDE,LONGITUDE"),
        (("--log-odds", "1", "--checkins", "visits.txt", "--least", "99"), "Nobody has 99 visits"),
    ],
)
def test_what_makes_no_model_is_refused_and_nothing_is_written(run, asked, why):
    code, _, told = run("learn", "ties", "friends.txt", *asked, "-o", "model.json")
    assert code != 0
    assert why in " ".join(told.split())
    assert not Path("model.json").exists()
