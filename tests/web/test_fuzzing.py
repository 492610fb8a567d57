"""The service meets what its OpenAPI allows and what it does not: it never fails, whatever is sent."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.served import people, served

TRIED = 50


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(people(tmp_path_factory.mktemp("fuzzed"), cap=1000)) as running:
        running.pass_of_all = running.token("ann", "1000")
        yield running


@pytest.fixture(scope="module")
def operations(service):
    """The operations of the service, by method and path."""
    document = json.loads(service.send("GET", "/api/openapi.json")[2])
    described = schemathesis.openapi.from_dict(document)
    found = [one.ok() for one in described.get_all_operations()]
    assert {one.path for one in found} == set(document["paths"])
    assert len(found) == 8
    return found


def fuzzed(service, operation, examples):
    """Send one operation what hypothesis makes of its description, to the table that is there as often as not."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(), here=st.booleans())
    def sent(case, here):
        if here and "table" in case.path_parameters:
            case.path_parameters["table"] = "people"
        headers = {"Authorization": f"Bearer {service.pass_of_all}"}
        reply = case.call(base_url=service.url, headers=headers, timeout=30)
        assert reply.status_code < 500, (case.method, case.path, case.body, reply.text)

    sent()


def test_nothing_that_is_described_makes_the_service_fail(service, operations):
    for one in operations:
        fuzzed(service, one, TRIED)


@pytest.mark.slow
def test_nothing_that_is_described_makes_the_service_fail_at_length(service, operations):
    for one in operations:
        fuzzed(service, one, 2000)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8
)  # fmt: skip
NAMED = st.sampled_from(
    [
        "kind",
        "query",
        "name",
        "where",
        "column",
        "of",
        "bins",
        "at",
        "keys",
        "share",
        "within",
        "count",
        "weights",
        "sql",
    ]
)
SAID = st.sampled_from(
    [
        "count",
        "mean",
        "histogram",
        "marginal",
        "group_by",
        "quantile",
        "age",
        "ill",
        "home",
        "age > 3",
        "ill = 'no'",
        "x",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(
    query=st.dictionaries(NAMED, SAID | JSON, min_size=1, max_size=4),
    amount=JSON | st.sampled_from([0.01, "0.01"]),
)
def test_no_query_makes_the_service_fail(service, query, amount):
    body = json.dumps({"queries": [query], "loss": amount}).encode("utf-8", "surrogatepass")
    for path in ("plan", "ask"):
        status, _, said = service.send("POST", f"/api/tables/people/{path}", body, service.pass_of_all)
        assert status < 500, (query, amount, said)
