"""A door as people use it from Python: what they get wrong is said in words, before anything is charged."""

import pandas as pd
import pytest

import entwined as ew
from entwined.errors import BadCertificate, BadQuery, Unreadable
from entwined.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    (Integer("home", 0, 99), Integer("age", 0, 99), Categorical("sex", ("m", "f"))),
    most_rows=1000,
    neighbours="add_remove",
).approve()
PEOPLE = pd.DataFrame({"home": [at % 60 for at in range(300)], "age": 30, "sex": "f"})


@pytest.fixture
def door(tmp_path):
    homes = ew.Declared(ew.Groups(2), by="home")
    with ew.open(
        PEOPLE, SCHEMA, dependence=homes, ledger=tmp_path / "l.db", cap=5, anchor=tmp_path / "anchor"
    ) as opened:
        yield opened


@pytest.mark.parametrize("asked", ["count", {"n": "count(*)"}, [None]])
def test_what_is_no_query_is_refused_in_words(door, asked):
    with pytest.raises(BadQuery, match="is no query"):
        door.release(asked, leakage=1)
    assert door.budget.spent.worst == 0


def test_a_closed_door_charges_nothing(door):
    door.close()
    with pytest.raises(Unreadable, match=r"closed\. Nothing was charged"):
        door.release(ew.Count(where="age > 20"), leakage=1)
    assert door.budget.spent.worst == 0


def test_names_conditions_frames_and_comparisons(door):
    old, women = ew.Count(where=ew.col("age") > 20), ew.Count(where="sex = 'f'")
    found = door.release({"old": old, "women": women}, leakage=4)
    assert found.names == ("old", "women")
    assert abs(found["old"].value - 120) < 60  # two of each of 60 homes are kept
    frame = found.to_pandas()
    assert list(frame["statistic"]) == ["old", "women"]
    assert list(frame["value"]) == [found["old"].value, found["women"].value]
    assert found.to_polars().shape == frame.shape
    apart = door.compare(found).difference(old, women)
    assert apart.low <= 0 <= apart.high
    assert door.compared(found, "old", "women").found == apart
    with pytest.raises(BadQuery, match="nothing is called 'men'"):
        door.compared(found, "old", "men")
    assert str(found["women"].value) in repr(found)
    again = door.sql("SELECT count(*) AS women FROM t WHERE sex = 'f'", leakage="0.5")
    assert again.names == ("women",)
    assert float(door.budget.spent.worst) == pytest.approx(4.5, rel=1e-6)


def test_a_release_is_verified_with_its_schema_and_a_bound_as_it_is(door):
    found = door.release(ew.Count(where="age > 20"), leakage=1)
    assert ew.verify(found.certificate, SCHEMA).valid
    with pytest.raises(BadCertificate, match="Give the schema"):
        ew.verify(found.certificate)
    assert ew.verify(ew.certify(ew.bound(ew.Groups(2), ew.Loss.uniform("0.1", 2)))).valid
