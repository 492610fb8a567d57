"""An exact adversary on small tables: never gains more than the certificate says, and more from plain noise.

The adversary knows the joint law of the secrets, every query, and the exact law of the noise. All tables are
enumerated, answered by a real engine through the aggregates that the door asks for, and the likelihood of
every released vector is computed exactly. Beyond the largest and the smallest exact answer the ratio of two
likelihoods no longer changes, so a few outputs are all outputs.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import calibrate
from entwined.dependence import BayesNet, Box, Groups, Independent, MarkovChain, RandomField, Variable
from entwined.dependence.random_field import Edge
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Total, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Schema, Text
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable

CLOSE = 1e-9


def drawn_law(rng, shape):
    return rng.dirichlet(np.full(math.prod(shape), 0.3)).reshape(shape)


# rows in a chain

ILL = ("well", "ill")


def chain(length, stay=0.9):
    return MarkovChain(length, Box.exact([[stay, 1 - stay], [1 - stay, stay]]), np.array([0.5, 0.5]))


def chain_law(length, stay=0.9):
    law = np.zeros([2] * length)
    for states in itertools.product(range(2), repeat=length):
        moves = [stay if a == b else 1 - stay for a, b in itertools.pairwise(states)]
        law[states] = 0.5 * math.prod(moves)
    return law


def in_states(length, stay=0.9):
    """The chain over rows of which no state is ever missing."""
    return Declared(chain(length, stay), missing_says_nothing=("state",))


def days(length):
    schema = Schema((Categorical("state", ILL),), rows=length, most_rows=length).approve()
    query = Count(where=parse("state = 'ill'", schema))
    tables = [
        MemoryTable(schema, [{"state": ILL[state]} for state in states])
        for states in itertools.product(range(2), repeat=length)
    ]
    return schema, query, tables


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_a_chain_of_rows(knowledge):
    schema, query, tables = days(6)
    law, model = chain_law(6), chain(6)
    planned = plan(schema, query, leakage=1, dependence=[in_states(6)], knowledge=knowledge)
    scale = float(planned.statistics[0].law.scale)
    assert scale == pytest.approx(1 / calibrate(model, 1, knowledge).multiple, rel=1e-8)
    found = gain(law, log_likelihoods(planned, tables), knowledge)
    assert found <= certified(planned) <= 1
    assert found > 0.9  # the noise is not more than it has to be
    plain = plan(schema, query, loss=1)
    assert gain(law, log_likelihoods(plain, tables), knowledge) > 3.8
    if knowledge == "model":
        assert gain(law, log_likelihoods(plain, tables), knowledge) == pytest.approx(3.851, abs=5e-4)


def test_a_chain_of_sixteen_rows():
    schema, query, tables = days(16)
    law, ones = chain_law(16), np.array([sum(states) for states in itertools.product(range(2), repeat=16)])
    planned = plan(schema, query, leakage=1, dependence=[in_states(16)], knowledge="model")
    assert tables[5].answer([planned.statistics[0].statistic.aggregate]) == [[ones[5]]]
    gains = []
    for scale in (float(planned.statistics[0].law.scale), 1.0):
        logs = -np.abs(np.arange(-1, 18)[:, None] - ones) / scale
        gains.append(gain(law, logs, "model", secrets=[0, 7, 8]))
    assert gains[0] <= certified(planned) <= 1
    assert gains[1] == pytest.approx(4.495, abs=5e-4)


def test_a_chain_end_to_end(tmp_path):
    schema, query, tables = days(6)
    models = [in_states(6)]
    accountant = Promise.of(schema, models)
    with Ledger.create(tmp_path / "l.db", Fraction(1), accountant, anchor=tmp_path / "a") as ledger:
        given = release(tables[17], query, leakage=1, dependence=models, ledger=ledger)
        assert ledger.spent().price.leakage["markov_chain"] <= 1
    planned = plan(schema, query, leakage=1, dependence=models)
    assert given.answers[0].noise == (planned.statistics[0].law,)
    assert verify(given.certificate, schema).valid
    inner = given.certificate["models"][0]["certificate"]
    assert gain(chain_law(6), log_likelihoods(planned, tables)) <= inner["leakage"] <= 1


def test_series_are_cut_by_their_order(tmp_path):
    """A series of five days under a model of three: the first three are used, whatever they say."""
    schema = Schema(
        (Text("who", compare="exact"), Integer("day", 1, 9), Categorical("state", ILL)), most_rows=100
    ).approve()
    declared = Declared(chain(3), by="who", order="day", missing_says_nothing=("state",))
    query = Count(where=parse("state = 'ill'", schema))
    planned = plan(schema, query, leakage=1, dependence=[declared])
    assert planned.promise.kept is declared
    tables = [
        MemoryTable(
            schema,
            [{"who": "w", "day": 5 - at, "state": ILL[state]} for at, state in enumerate(states)],
        ).keeping("who", 3, "day")
        for states in itertools.product(range(2), repeat=5)
    ]
    found = gain(chain_law(5), log_likelihoods(planned, tables))
    assert found <= certified(planned) <= 1
    uncut = [MemoryTable(table.schema, table.rows) for table in tables]
    assert gain(chain_law(5), log_likelihoods(planned, uncut)) > 1
    with Ledger.create(tmp_path / "l.db", Fraction(1), planned.promise, anchor=tmp_path / "a") as ledger:
        table = uncut[-1]
        release(table, query, leakage=1, dependence=planned.promise.declared, ledger=ledger)


# rows in households


def homes(members, neighbours="replace"):
    columns = (Text("home", compare="exact"), Categorical("state", ILL))
    schema = Schema(columns, neighbours=neighbours, most_rows=1000).approve()
    rows = [
        [{"home": "h", "state": ILL[state]} for state in states] + [{"home": "g", "state": "ill"}]
        for states in itertools.product(range(2), repeat=members)
    ]
    return schema, Count(where=parse("state = 'ill'", schema)), rows


def all_equal(members):
    law = np.zeros([2] * members)
    law[(0,) * members] = law[(1,) * members] = 0.5
    return law


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("members", [3, 5])
def test_households_even_larger_ones_than_declared(members, neighbours):
    schema, query, rows = homes(members, neighbours)
    declared = Declared(Groups(3), by="home")
    planned = plan(schema, query, leakage=1, dependence=[declared])
    assert float(planned.statistics[0].law.scale) == pytest.approx(
        1 / calibrate(Groups(3), 1).multiple, rel=1e-8
    )
    kept = [MemoryTable(schema, one).keeping("home", 3) for one in rows]
    logs = log_likelihoods(planned, kept)
    rng = np.random.default_rng(members)
    laws = [all_equal(members), *(drawn_law(rng, [2] * members) for _ in range(20))]
    gains = [gain(law, logs) for law in laws]
    assert max(gains) <= certified(planned) <= 1 + CLOSE
    assert max(gains) == pytest.approx(1, rel=1e-6)  # reached, so no less noise would do
    plain = plan(schema, query, loss=1)
    whole = [MemoryTable(schema, one) for one in rows]
    assert gain(laws[0], log_likelihoods(plain, whole)) == pytest.approx(members)
    if members > 3:  # without picking rows the promise would be broken
        assert gain(laws[0], log_likelihoods(planned, whole)) > 1.6


def test_households_whose_members_may_be_absent():
    """Add or remove: a member who is not there is a value too, and who is there may depend on the others."""
    schema, query, _ = homes(1, "add_remove")
    declared = Declared(Groups(2), by="home")
    planned = plan(schema, [query, Count()], leakage=1, dependence=[declared])
    there = (*ILL, None)
    rows = [
        [{"home": "h", "state": there[state]} for state in states if there[state]]
        for states in itertools.product(range(3), repeat=3)
    ]
    kept = [MemoryTable(schema, one).keeping("home", 2) for one in rows]
    logs = log_likelihoods(planned, kept)
    rng = np.random.default_rng(8)
    together = np.zeros((3, 3, 3))
    together[0, 0, 0] = together[1, 1, 1] = together[2, 2, 2] = 1 / 3
    gains = [gain(law, logs) for law in (together, *(drawn_law(rng, (3, 3, 3)) for _ in range(30)))]
    assert max(gains) <= certified(planned) <= 1
    assert gains[0] > 0.99
    independent = gain(np.full((3, 3, 3), 1 / 27), logs)
    assert independent <= float(planned.price.nominal) * (1 + CLOSE)
    histogram = plan(schema, Histogram("state"), loss=1, dependence=[declared])
    assert histogram.loss == Fraction(1, 2)
    here, gone = (
        [{"home": "h", "state": state} for state in ("ill", "well", "well")[:left]] for left in (3, 2)
    )
    logs = log_likelihoods(
        histogram, [MemoryTable(schema, rows).keeping("home", 1) for rows in (here, here[1:], gone)]
    )
    assert np.ptp(logs[:, :2], axis=1).max() == pytest.approx(1)  # the one who left let another in


def test_households_end_to_end(tmp_path):
    schema, query, rows = homes(3)
    models = [Declared(Groups(3), by="home")]
    accountant = Promise.of(schema, models)
    with Ledger.create(tmp_path / "l.db", Fraction(1), accountant, anchor=tmp_path / "a") as ledger:
        given = release(MemoryTable(schema, rows[5]), query, leakage=1, dependence=models, ledger=ledger)
    assert verify(given.certificate, schema).valid
    assert given.certificate["models"][0]["declared"]["by"] == "home"
    assert any("public who shares" in said for said in given.certificate["trusted"])


def test_several_statistics_on_dependent_rows():
    """A batch over rows that depend on each other: the whole vector is weighed, not one number of it."""
    schema = Schema((Integer("age", 0, 2), Categorical("state", ILL)), rows=2, most_rows=2).approve()
    queries = [Histogram("state"), Total("age"), Count(where=parse("age = 2 and state = 'ill'", schema))]
    values = list(itertools.product(range(3), ILL))
    tables = [
        MemoryTable(schema, [{"age": age, "state": state} for age, state in pair])
        for pair in itertools.product(values, repeat=2)
    ]
    planned = plan(schema, queries, leakage=1, dependence=[Groups(2)])
    logs = log_likelihoods(planned, tables)
    rng = np.random.default_rng(3)
    same = np.eye(6) / 6
    gains = [gain(law, logs) for law in (same, *(drawn_law(rng, (6, 6)) for _ in range(30)))]
    assert max(gains) <= certified(planned) <= 1
    assert gains[0] > 0.99


# cells of one row


def pair_net(stay):
    flip = 1 - stay
    return BayesNet.of(
        [
            Variable("a", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("b", ("0", "1"), ("a",), [[stay, flip], [flip, stay]]),
        ]
    )


BITS = Schema(
    (Categorical("a", ("0", "1")), Categorical("b", ("0", "1"))), unit=Cells(), rows=3, most_rows=3
).approve()
KNOWN = [{"a": "0", "b": "1"}, {"a": "1", "b": "1"}]
BIT_TABLES = [
    MemoryTable(BITS, [*KNOWN, {"a": str(a), "b": str(b)}]) for a, b in itertools.product(range(2), repeat=2)
]


def ones(text):
    return Count(where=parse(text, BITS))


@pytest.mark.parametrize(
    ("stay", "leak"), [(0.5, 1.0), (0.7, 1.374), (0.9, 1.776), (0.99, 1.977), (1.0, 2.0)]
)
def test_disjoint_columns_that_depend_on_each_other(stay, leak):
    """One query on each of two columns, loss 1 each: the maximum of the two is not what they leak."""
    net = pair_net(stay)
    declared = Declared(net, missing_says_nothing=("a", "b"))
    planned = plan(BITS, [ones("a = '1'"), ones("b = '1'")], loss=1, dependence=[declared])
    assert planned.loss == 1
    assert planned.price.nominal == 1
    law = np.array([[stay, 1 - stay], [1 - stay, stay]]) / 2
    found = gain(law, log_likelihoods(planned, BIT_TABLES))
    assert found == pytest.approx(leak, abs=5e-4)
    assert found <= certified(planned) * (1 + CLOSE)
    assert certified(planned) <= 2 * (1 + CLOSE)


def test_cells_of_random_nets():
    rng = np.random.default_rng(12)
    schema = Schema(
        tuple(Categorical(name, ("0", "1")) for name in "abc"), unit=Cells(), rows=1, most_rows=1
    ).approve()
    queries = [
        Histogram("a"),
        Count(where=parse("a = '1' and b = '1'", schema)),
        Count(where=parse("b = '0' or c = '1'", schema)),
    ]
    tables = [
        MemoryTable(schema, [dict(zip("abc", map(str, cells), strict=True))])
        for cells in itertools.product(range(2), repeat=3)
    ]
    ratios = []
    for _ in range(8):
        law = drawn_law(rng, (2, 2, 2)) * 0.9 + 0.0125
        a, ab = law.sum(axis=(1, 2)), law.sum(axis=2)
        net = BayesNet.of(
            [
                Variable("a", ("0", "1"), (), [a.tolist()]),
                Variable("b", ("0", "1"), ("a",), (ab / a[:, None]).tolist()),
                Variable("c", ("0", "1"), ("a", "b"), (law / ab[:, :, None]).reshape(4, 2).tolist()),
            ]
        )
        declared = Declared(net, missing_says_nothing=("a", "b", "c"))
        planned = plan(schema, queries, leakage=1, dependence=[declared])
        found = gain(law, log_likelihoods(planned, tables))
        assert found <= certified(planned) <= 1
        ratios.append(found)
    assert max(ratios) > 0.5  # not vacuous


def test_a_random_field_over_columns_and_a_column_that_is_not_read():
    field = RandomField.of(
        {"a": 2, "b": 2, "z": 2}, [Edge(("a", "b"), [[3, 1], [1, 3]]), Edge(("b", "z"), [[9, 1], [1, 9]])]
    )
    declared = Declared(field, missing_says_nothing=("a", "b"))
    planned = plan(BITS, [ones("a = '1'")], leakage=1, dependence=[declared])
    law = np.einsum("ab,bz->abz", [[3, 1], [1, 3]], [[9, 1], [1, 9]]).astype(float)
    law /= law.sum()
    logs = np.repeat(log_likelihoods(planned, BIT_TABLES), 2, axis=1)  # z moves nothing
    assert gain(law, logs) <= certified(planned) <= 1


def test_a_chain_over_named_columns():
    waves = Declared(chain(2), columns=("a", "b"), missing_says_nothing=("a", "b"))
    planned = plan(BITS, [ones("a = '1'"), ones("b = '1'")], leakage=1, dependence=[waves])
    found = gain(chain_law(2), log_likelihoods(planned, BIT_TABLES))
    assert 0.9 < found <= certified(planned) <= 1


# releases that compose badly


def test_leakages_do_not_add_but_losses_do(tmp_path):
    """Alone, a ⊕ b and b each tell nothing about a; together they do. The ledger charges for both."""
    models = [Independent(2)]
    batches = [ones("(a = '0' and b = '1') or (a = '1' and b = '0')"), ones("b = '1'")]
    law = np.full((2, 2), 0.25)
    accountant = Promise.of(BITS, models, "model")
    with Ledger.create(tmp_path / "l.db", Fraction(10), accountant, anchor=tmp_path / "a") as ledger:
        for query in batches:
            release(BIT_TABLES[2], query, loss=1, dependence=models, knowledge="model", ledger=ledger)
        spent = ledger.spent().price
        columns = accountant.base(ledger.spent().parts).columns
    logs = [log_likelihoods(plan(BITS, query, loss=1, dependence=models), BIT_TABLES) for query in batches]
    alone = [gain(law, one, "model", secrets=[0]) for one in logs]
    assert alone == [pytest.approx(0), pytest.approx(0)]
    both = (logs[0][:, None, :] + logs[1][None, :, :]).reshape(-1, 4)
    together = gain(law, both, "model", secrets=[0])
    assert together > sum(alone) + 0.3  # adding the leakages would have promised nothing is learned
    assert columns == {"a": 1, "b": 2}
    assert together <= columns["a"]
    assert gain(law, both) <= max(spent.leakage.values()) == 2


def test_several_releases_under_dependence_are_priced_together(tmp_path):
    """Two batches on a chain: the exact joint gain is within the ledger's total, not within a part of it."""
    schema, query, tables = days(4)
    models = [in_states(4)]
    queries = [query, Histogram("state")]
    accountant = Promise.of(schema, models)
    logs = []
    with Ledger.create(tmp_path / "l.db", Fraction(3), accountant, anchor=tmp_path / "a") as ledger:
        for one in queries:
            release(tables[3], one, leakage="0.7", dependence=models, ledger=ledger)
            logs.append(log_likelihoods(plan(schema, one, leakage="0.7", dependence=models), tables))
        total = ledger.spent().price.leakage["markov_chain"]
    both = (logs[0][:, None, :] + logs[1][None, :, :]).reshape(-1, 16)
    found = gain(chain_law(4), both)
    assert max(gain(chain_law(4), one) for one in logs) < found <= total


def test_the_adversary_itself_against_a_closed_form():
    """Perfectly correlated bits: k times the loss; independent ones: the loss."""
    schema, query, tables = days(3)
    planned = plan(schema, query, loss=Fraction(1, 2))
    logs = log_likelihoods(planned, tables)
    assert gain(all_equal(3), logs) == pytest.approx(1.5)
    assert gain(np.full((2, 2, 2), 1 / 8), logs) == pytest.approx(0.5)
