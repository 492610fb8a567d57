"""Persons with several rows who belong to groups: an exact adversary never gains more than the certificate says."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Box, EndlessChain, Graph, Groups, MarkovChain
from entwined.errors import Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Person, Schema, Text
from entwined.tables import open_table
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable

COLUMNS = (
    Text("who", compare="exact"),
    Text("home", compare="exact"),
    Categorical("state", ("well", "ill")),
    Integer("day", 0, 3),
)
HELD = (("well", "well", "well"), ("well", "ill", "ill"), ("ill", "ill", "ill"))


def schema_of(neighbours="replace"):
    return Schema(COLUMNS, unit=Person("who", 2), neighbours=neighbours, most_rows=100).approve()


def rows_of(held):
    """Persons of one home and what each of them holds, three rows of which two count; some name another home too."""
    return [
        {"who": f"p{at}", "home": "h2" if day == 1 and at % 2 else "h1", "state": HELD[one][day], "day": day}
        for at, one in enumerate(held)
        if one is not None
        for day in range(3)
    ]


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("members", [2, 3])
def test_homes_even_larger_ones_than_declared(members, neighbours):
    schema = schema_of(neighbours)
    declared = Declared(Groups(2), by="home")
    query = Count(where=parse("state = 'ill'", schema))
    planned = plan(schema, query, leakage=1, dependence=[declared])
    tables = [MemoryTable(schema, rows_of(held)) for held in itertools.product(range(3), repeat=members)]
    logs = log_likelihoods(planned, [table.keeping("home", 2) for table in tables])
    rng = np.random.default_rng(members)
    alike = np.zeros([3] * members)
    for value in range(3):
        alike[(value,) * members] = 1 / 3
    laws = [alike, *(rng.dirichlet(np.full(3**members, 0.3)).reshape(alike.shape) for _ in range(20))]
    gains = [gain(law, logs) for law in laws]
    assert max(gains) <= certified(planned) <= 1 + 1e-9
    assert max(gains) == pytest.approx(1, rel=1e-6)  # reached, so no less noise would do
    if members > 2:  # without picking persons the promise would be broken
        assert gain(alike, log_likelihoods(planned, tables)) > 1.4


def test_persons_who_may_be_absent():
    """Who is not there lets another one in, and that is what adding or removing a person costs."""
    schema = schema_of("add_remove")
    planned = plan(schema, Histogram("state"), leakage=1, dependence=[Declared(Groups(1), by="home")])
    there = (*range(3), None)
    tables = [MemoryTable(schema, rows_of(held)) for held in itertools.product(there, repeat=2)]
    logs = log_likelihoods(planned, [table.keeping("home", 1) for table in tables])
    rng = np.random.default_rng(5)
    laws = [np.eye(4) / 4, *(rng.dirichlet(np.full(16, 0.3)).reshape(4, 4) for _ in range(20))]
    gains = [gain(law, logs) for law in laws]
    assert max(gains) <= certified(planned) <= 1 + 1e-9
    assert gain(np.full((4, 4), 1 / 16), logs) <= float(planned.price.nominal) * (1 + 1e-9)


def test_persons_in_groups_pass_the_door(tmp_path):
    schema = schema_of("add_remove")
    models = [Declared(Groups(2), by="home")]
    query = Count(where=parse("state = 'ill'", schema))
    frame = pa.Table.from_pylist(rows_of((2, 2, 2, 2)))
    with (
        open_table(frame, schema) as table,
        Ledger.create(
            tmp_path / "l.db", Fraction(10**6), Promise.of(schema, models), anchor=tmp_path / "a"
        ) as ledger,
    ):
        found = release(table, query, loss=1000, dependence=models, ledger=ledger)
    assert found.of(query).value == 4  # two of four persons, two of three rows each
    assert verify(found.certificate, schema).valid
    assert any("share the least of them" in said for said in found.certificate["trusted"])


def test_nodes_may_be_persons_and_a_panel_by_another_column_may_not():
    schema = schema_of()
    graph = Graph(3, np.array([[0, 1], [1, 2]]), np.float64(0.4))
    assert Promise.of(schema, [Declared(graph, by="home")]).kept.most == 1
    stays = Box.exact([[0.9, 0.1], [0.1, 0.9]])
    about = {"by": "home", "order": "day", "columns": ("state",), "missing_says_nothing": ("state",)}
    with pytest.raises(Refused, match=r"Name the panel by 'who'"):
        Promise.of(schema, [Declared(MarkovChain(4, stays), panel=True, **about)])
    with pytest.raises(Refused, match=r"adds up for ever"):
        Promise.of(schema, [Declared(EndlessChain(stays), **about)])


# persons as the steps of a series

STAYS = np.array([[0.9, 0.1], [0.2, 0.8]])
START = np.array([0.6, 0.4])


def in_turn(**about):
    chain = MarkovChain(3, Box.exact(STAYS), START)
    about = {"columns": ("state",), "missing_says_nothing": ("state",)} | about
    return Declared(chain, by="home", order="day", **about)


def queue(states):
    """Persons of one home in the order of days: three rows each, of which two count, later ones on later days."""
    return [
        {"who": f"p{9 - at}", "home": "h1", "state": ("well", "ill")[state], "day": min(at + row, 3)}
        for at, state in enumerate(states)
        if state is not None
        for row in range(3)
    ]


def law_of(length):
    law = np.zeros([2] * length)
    for states in itertools.product(range(2), repeat=length):
        moves = [STAYS[one, two] for one, two in itertools.pairwise(states)]
        law[states] = START[states[0]] * np.prod(moves)
    return law


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("members", [2, 3, 4])
def test_a_series_of_persons(members, knowledge):
    """Four persons of whom three count: who is cut leaks no more than the last, and two rows cost twice a row."""
    schema = schema_of()
    query = Count(where=parse("state = 'ill'", schema))
    planned = plan(schema, query, leakage=1, dependence=[in_turn()], knowledge=knowledge)
    tables = [MemoryTable(schema, queue(held)) for held in itertools.product(range(2), repeat=members)]
    logs = log_likelihoods(planned, [table.keeping("home", 3, "day") for table in tables])
    found = gain(law_of(members), logs, knowledge)
    assert found <= certified(planned) <= 1 + 1e-9
    if members == 3:
        assert found > 0.8
    if members > 3:  # without picking persons more would leak
        assert gain(law_of(members), log_likelihoods(planned, tables), knowledge) > found


def test_a_person_of_a_series_may_be_absent():
    """Who is not there is a value too, and lets a later step in; presence says nothing about values."""
    schema = schema_of("add_remove")
    planned = plan(schema, Histogram("state"), leakage=1, dependence=[in_turn()])
    there = (0, 1, None)
    held = list(itertools.product(there, repeat=4))
    tables = [MemoryTable(schema, queue(one)).keeping("home", 3, "day") for one in held]
    logs = log_likelihoods(planned, tables)
    rng = np.random.default_rng(9)
    law = law_of(4)
    for _ in range(5):
        present = rng.uniform(0.2, 0.9, 4)
        joint = np.zeros([3] * 4)
        for values in itertools.product(range(2), repeat=4):
            for mask in itertools.product((0, 1), repeat=4):
                chance = np.prod(np.where(mask, present, 1 - present))
                joint[tuple(value if here else 2 for value, here in zip(values, mask, strict=True))] += (
                    law[values] * chance
                )
        assert gain(joint, logs) <= certified(planned) <= 1 + 1e-9


def test_a_series_of_persons_passes_the_door(tmp_path):
    schema = schema_of("add_remove")
    query = Count(where=parse("state = 'ill'", schema))
    frame = pa.Table.from_pylist(queue((1, 1, 1, 1)))
    models = [in_turn()]
    with (
        open_table(frame, schema) as table,
        Ledger.create(
            tmp_path / "l.db", Fraction(10**6), Promise.of(schema, models), anchor=tmp_path / "a"
        ) as ledger,
    ):
        found = release(table, query, loss=1000, dependence=models, ledger=ledger)
    assert found.of(query).value == 6  # three of four persons, two of three rows each
    assert verify(found.certificate, schema).valid
    assert any("is the step of the least of them" in said for said in found.certificate["trusted"])
    assert any("All rows of a person agree in 'state'" in said for said in found.certificate["trusted"])
