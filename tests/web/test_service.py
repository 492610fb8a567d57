"""The analysts' service: one door, one cap, a slice each; the client reads like the local API."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import entwined as ew
from entwined.errors import BadCharge, BadInput, OverBudget, Refused
from support.served import people, served


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(people(tmp_path_factory.mktemp("service"), cap=40)) as running:
        yield running


@pytest.fixture
def door(service, request):
    return ew.connect(
        service.url, service.token(request.node.name[:50].replace("[", ".").replace("]", "."), "2")
    )


def test_code_moves_between_a_local_door_and_one_elsewhere(service, door):
    questions = {"ill": ew.Histogram("ill"), "old": ew.Count(where=ew.col("age") > 60)}
    planned = door.plan(questions, leakage="0.5")
    local = service.house.offers["people"].door
    assert planned.document == local.plan(questions, leakage="0.5").document
    release = door.release(questions, leakage="0.5")
    assert release.names == ("ill", "old")
    assert release["old"].value == release.answers[1].value
    assert ew.verify(release.certificate, door.schema).valid
    again = local.release(questions, leakage="0.5")
    assert again.values == release.values
    assert door.budget.own["spent"]["leakage"] == {"groups by home": pytest.approx(0.5)}


def test_sql_budget_history_dummy_rows_and_certificates(door):
    release = door.sql("SELECT count(*) FROM t WHERE age > 33", leakage="0.25", request="r-1")
    assert isinstance(release.values[0], int)
    (charged,) = door.history
    assert (charged["request"], charged["outcome"]) == ("r-1", "answered")
    assert door.certificate("r-1") == release.certificate
    rows = door.dummy(50)
    assert (rows.num_rows, rows.column_names) == (50, ["home", "age", "ill"])
    assert "left" in str(door.budget)


def test_the_slice_of_an_analyst_ends_before_the_cap_and_is_no_new_one_with_a_new_token(service):
    token = service.token("slim", "0.3")
    door = ew.connect(service.url, token)
    door.release(ew.Count(where="age > 40"), leakage="0.2")
    for one in (door, ew.connect(service.url, service.token("slim", None))):
        with pytest.raises(OverBudget, match="slim may spend"):
            one.release(ew.Count(where="age > 41"), leakage="0.2")
        assert one.release(
            ew.Count(where="age > 40"), leakage="0.2"
        ).values  # asked before: nothing is charged
    assert door.budget.own["left"] == pytest.approx(0.1)


def test_a_plan_is_free_and_says_what_would_be_refused(service):
    token = service.token("planner", "0.3")
    before = service.house.offers["people"].door.ledger.spent().entries
    wish = {"queries": [{"kind": "count", "where": "age > 70"}], "leakage": 0.2}
    status, planned = service.asked(wish, token, path="plan")
    assert (status, planned["would_be_refused"], planned["answered_before"]) == (200, False, False)
    assert planned["answers"][0]["half_width"] > 1
    status, planned = service.asked({**wish, "leakage": 0.4}, token, path="plan")
    assert (status, planned["would_be_refused"]) == (200, True)
    assert service.house.offers["people"].door.ledger.spent().entries == before


def test_tokens_are_hashed_scoped_expiring_and_revocable(service):
    house = service.house
    token = service.token("dan", "1", scopes=("plan",))
    assert token.split("_", 2)[2] not in house.passes.path.read_text()
    assert house.passes.path.stat().st_mode & 0o077 == 0
    assert service.asked({"queries": [{"kind": "count", "where": "age > 3"}], "loss": 0.1}, token)[0] == 403
    other = service.token("dan", "1", tables=("another",))
    assert service.asked({"sql": "SELECT 1", "loss": 0.1}, other)[0] == 404
    house.passes.revoke("dan")
    for wrong in (token, token[:-1] + "A", "entw_" + 16 * "0" + "_" + 43 * "A", "x", ""):
        assert service.send("GET", "/api/tables", token=wrong)[0] == 401
    assert service.send("GET", "/api/tables")[0] == 401
    ended = house.passes.add("eve", days=1e-9, most="1")
    assert service.send("GET", "/api/tables", token=ended)[0] == 401
    with pytest.raises(BadInput, match="Nothing says how much"):
        house.passes.add("frank", days=1)


def test_a_request_id_is_charged_once_and_replied_alike_in_parallel(service):
    """F 54, retry: the same request id, many times at once: one charge, the same bytes."""
    token = service.token("again", "2")
    wish = {"queries": [{"kind": "count", "where": "age > 25"}], "leakage": "0.125", "request": "once"}
    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda _: service.send("POST", "/api/tables/people/ask", wish, token)[::2], range(24))
        )
    assert set(replies) == {(200, replies[0][1])}
    history = json.loads(service.send("GET", "/api/tables/people/history", token=token)[2])
    assert len(history) == 1
    status, said = service.asked({**wish, "leakage": "0.25"}, token)
    assert (status, said["error"]["kind"]) == (422, BadCharge.__name__)


def test_the_same_question_in_other_words_by_others_is_not_charged_again(service):
    """F 55, replay and averaging: reordered conditions, other names, another analyst: the stored answer."""
    first = {"queries": [{"kind": "count", "where": "age > 50 and ill = 'yes'"}], "leakage": "0.5"}
    other = {
        "queries": [{"kind": "count", "where": "ill = 'yes' and not age <= 50", "name": "mine"}],
        "leakage": 0.5,
    }
    one, two = service.token("kim", "1"), service.token("lee", "1")
    _, a = service.asked(first, one)
    _, b = service.asked(other, two)
    assert [{**record, "name": ""} for record in a["answers"]] == [
        {**record, "name": ""} for record in b["answers"]
    ]
    assert [record["name"] for record in b["answers"]] == ["mine"]
    assert json.loads(service.send("GET", "/api/tables/people/history", token=two)[2]) == []


def test_two_analysts_together_stay_below_one_cap(tmp_path):
    """F 51 and 57, race and collusion: clients at once on one ledger: exactly the cap, never more."""
    with served(people(tmp_path, cap=1)) as service:
        tokens = [service.token(name, "1") for name in ("ann", "bob", "cy", "di")]

        def ask(number):
            wish = {"queries": [{"kind": "count", "where": f"age > {number}"}], "leakage": "0.1"}
            return service.asked(wish, tokens[number % 4])[0]

        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(ask, range(20, 60)))
        assert sorted(set(statuses)) == [200, 409]
        assert statuses.count(200) == 10
        with pytest.raises(Refused):
            ew.connect(service.url, tokens[0]).release(ew.Count(where="age > 77"), leakage="0.1")


def test_the_log_names_who_asked_and_no_secret(service):
    token = service.token("watched", "1")
    service.asked({"sql": "SELECT count(*) FROM t WHERE age > 90", "leakage": 0.1, "request": "seen"}, token)
    lines = [line for line in service.house.records.logged() if line.analyst == "watched"]
    assert [(line.place, line.act, line.request, line.status) for line in lines] == [
        ("people", "ask", "seen", 200)
    ]
    kept = b"".join(path.read_bytes() for path in service.house.folder.rglob("*") if path.is_file())
    assert token.split("_", 2)[2].encode() not in kept


def test_the_records_of_a_reply_are_labelled_and_in_the_order_asked(tmp_path):
    """Of 36 months asked in a shuffled order, each record has the count of the month that it names."""
    folder = people(tmp_path, rows=360, cap=1000)
    (folder / "people.toml").write_text(
        (folder / "people.toml").read_text().replace("largest = 2", "largest = 3")
    )
    months = [f"m{age:02d}" for age in range(20, 56)]
    asked = months[1::2][::-1] + months[::2]
    queries = [{"kind": "count", "where": f"age = {name[1:]}", "name": name} for name in asked]
    queries.append({"kind": "histogram", "column": "ill", "name": "by illness"})
    with served(folder) as service:
        body = {"queries": queries, "leakage": "900"}
        token = service.token("ann", "1000")
        status, reply = service.asked(body, token)
        assert status == 200
        _, described = service.send("GET", "/api/openapi.json")[::2]
        door = ew.connect(service.url, token)
        release = door.release(
            {name: ew.Count(where=ew.col("age") == int(name[1:])) for name in asked}
            | {"by illness": ew.Histogram("ill")},
            leakage="900",
        )
    assert [record["name"] for record in reply["answers"]] == [*asked, "by illness"]
    ages = [20 + n % 50 for n in range(360)]
    for name, record in zip(asked, reply["answers"], strict=False):
        (cell,) = record["cells"]
        assert cell["labels"] == []
        assert abs(cell["value"] - ages.count(int(name[1:]))) <= 1, name
        assert cell["low"] <= ages.count(int(name[1:])) <= cell["high"]
        assert str(int(name[1:])) in json.dumps(record["query"])
    by_illness = {cell["labels"][0]: cell for cell in reply["answers"][-1]["cells"]}
    assert set(by_illness) >= {"no", "yes"}
    assert abs(by_illness["yes"]["value"] - 52) <= 1
    adjusted = reply["answers"][-1]["adjusted"]["value"]
    assert [cell["adjusted"]["value"] for cell in reply["answers"][-1]["cells"]] == adjusted
    assert reply.keys().isdisjoint({"names", "asked", "release"})
    assert [release[name].value for name in asked] == [
        record["value"] for record in reply["answers"][: len(asked)]
    ]
    assert {"Reply", "AnswerRecord", "AnsweredCell"} <= json.loads(described)["components"]["schemas"].keys()
