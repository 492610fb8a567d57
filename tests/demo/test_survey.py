"""A demo that is thrown away can be laid out again at its place: its survey is public."""

import shutil

import entwined as ew
from entwined.demo import write_demo


def test_a_demo_thrown_away_is_released_again_from_its_place(tmp_path):
    first, second = (_released(tmp_path / "demo") for _ in range(2))
    assert first != second  # two ledgers, each with its own charge


def _released(folder):
    write_demo(folder)
    schema = ew.read_schema(folder / "schema.toml").approve()
    with ew.open(folder / "survey.csv", schema, ledger=folder / "ledger.sqlite", cap=1) as desk:
        desk.release(ew.Count(where="age > 20"), leakage=1)
        assert desk.budget.spent.worst > 0
        ledger = desk.ledger.id
    shutil.rmtree(folder)
    return ledger
