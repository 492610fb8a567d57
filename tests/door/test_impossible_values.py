"""Models that call a column constant or a value impossible, opened with rows that are otherwise."""

import itertools

import numpy as np
import pytest

import entwined as ew
from entwined.dependence import BayesNet, Box, MarkovChain, Variable
from entwined.errors import EntwinedError, OverBudget
from entwined.request.outlook import outlook
from entwined.request.request_file import read_request
from entwined.schema import Categorical, Cells, Integer, Schema, Text, write_schema
from support.oracle import worst_leakages

NAMES = tuple("abcdef")
BITS = ("0", "1")
ROWS = 40


REQUEST = """
table = "rows.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
leakage = 1

[[dependence]]
missing_says_nothing = ["a", "b"]

[dependence.model]
kind = "bayes_net"

[[dependence.model.variables]]
name = "a"
parents = []
values = ["0", "1"]
table = [[1.0, 0.0]]

[[dependence.model.variables]]
name = "b"
values = ["0", "1"]
parents = ["a"]
table = [[0.5, 0.5], [0.2, 0.8]]

[[query]]
kind = "histogram"
column = "b"
"""


def cells_of(names):
    return Schema(tuple(Categorical(name, BITS) for name in names), unit=Cells(), rows=ROWS).approve()


def network(rng, chances, units=len(NAMES)):
    """A network with loops of which some probabilities are `chances`."""
    variables = []
    for at, name in enumerate(NAMES[:units]):
        parents = tuple(sorted(rng.permutation(NAMES[:at])[:2].tolist()))
        first = rng.uniform(0.2, 0.8, 2 ** len(parents))
        sharp = rng.random(first.size) < 0.4
        first[sharp] = rng.choice(chances, int(sharp.sum()))
        variables.append(Variable(name, BITS, parents, [[p, 1 - p] for p in first.tolist()]))
    return BayesNet.of(variables)


def opened(tmp_path, model, *, cap, names=NAMES, knowledge="model"):
    """A door to a table all of whose combinations occur, those that the model calls impossible among them."""
    rows = list(itertools.islice(itertools.cycle(itertools.product(BITS, repeat=len(names))), 7, 7 + ROWS))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(names), *map(",".join, rows)]) + "\n")
    declared = ew.Declared(model, missing_says_nothing=names)
    return ew.open(
        path,
        cells_of(names),
        dependence=declared,
        knowledge=knowledge,
        ledger=tmp_path / "ledger.sqlite",
        cap=cap,
    )


CONSTANT = BayesNet.of(
    [
        Variable("a", BITS, (), [[1.0, 0.0]]),
        Variable("b", BITS, ("a",), [[0.4, 0.6], [0.5, 0.5]]),
        Variable("c", BITS, ("a", "b"), [[0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5]]),
        Variable("d", BITS, ("b", "c"), [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]]),
        Variable("e", BITS, ("c", "d"), [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]]),
        Variable("f", BITS, ("d", "e"), [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]]),
    ]
)


def test_a_column_that_a_model_calls_constant_is_not_free(tmp_path):
    with opened(tmp_path, CONSTANT, cap=1) as door:
        for loss in (21, 22, 23):
            with pytest.raises(OverBudget, match=f"would leak {loss}"):
                door.release({"a": ew.Histogram("a")}, loss=loss)
        given = door.release({"a": ew.Histogram("a")}, loss="0.75")
        assert float(door.ledger.spent().price.worst) == pytest.approx(0.75, rel=1e-6)
        with pytest.raises(OverBudget):
            door.release({"again": ew.Histogram("a")}, loss="0.3")
        (model,) = given.certificate["models"]
        assert model["certificate"]["leakage"] >= 0.75 * (1 - 1e-9)
        assert any("'a' is always 0" in line for line in given.certificate["trusted"])
        assert ew.verify(given.certificate, cells_of(NAMES)).valid


def exact_law(model):
    """The joint law, multiplied out."""
    law = np.ones((2,) * model.units)
    for block in model.blocks:
        tables = [block.table.low] if block.table.low.ndim == block.scope.shape[1] else block.table.low
        for scope, table in zip(block.scope.tolist(), tables, strict=True):
            shape = [2 if unit in scope else 1 for unit in range(model.units)]
            law = law * np.transpose(table, np.argsort(scope)).reshape(shape)
    return law


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_a_certificate_is_below_neither_the_truth_nor_what_the_noise_shows_of_each_cell(
    tmp_path, seed, knowledge
):
    """The worst of all mechanisms of the losses, by the oracle, and two tables one cell apart, by the noise itself."""
    rng = np.random.default_rng(seed)
    names = NAMES[:4]
    model = network(rng, (0.0, 1.0, 1e-300, 1e-12), len(names))
    scales, losses = {}, {}
    with opened(tmp_path, model, cap=30, names=names, knowledge=knowledge) as door:
        for name, loss in zip(names, rng.choice(["0.01", "0.5", "3"], len(names)), strict=True):
            batch = door.plan(ew.Histogram(name), loss=loss)
            scales[name] = float(batch.statistics[0].law.scale)
            losses[name] = 2 / scales[name]  # a changed cell moves two counts by one
            given = door.release({name: ew.Histogram(name)}, loss=loss)
        price = door.ledger.spent().price
        told = next(iter(price.leakage.values()))
        assert told == pytest.approx(float(price.worst))
        assert told >= max(losses.values()) * (1 - 1e-9)
        assert float(price.nominal) == pytest.approx(max(losses.values()))
        truth = worst_leakages(
            exact_law(model), list(losses.values()), "values" if knowledge == "any" else "model"
        )
        assert told >= np.max(truth) - 1e-7
        assert ew.verify(given.certificate, cells_of(names)).valid


@pytest.mark.parametrize("loss", ["1e-300", "1e-30", "700", "1e300"])
def test_losses_near_the_ends_of_floats_are_charged_in_full_or_refused_before_the_charge(tmp_path, loss):
    with opened(tmp_path, CONSTANT, cap=1000) as door:
        try:
            door.release({"a": ew.Histogram("a")}, loss=loss)
        except EntwinedError:
            assert door.ledger.spent().price.worst == 0
        else:
            price = door.ledger.spent().price
            assert price.worst >= price.nominal * (1 - 1e-12) > 0


def test_a_series_whose_first_step_is_certain_costs_its_noise(tmp_path):
    """A chain that never leaves its first state: the count of the other state says nothing of it, and is charged."""
    schema = Schema(
        (Text("who", compare="exact"), Integer("month", 1, 2), Categorical("state", BITS)), rows=4
    ).approve()
    (tmp_path / "rows.csv").write_text("who,month,state\np,1,0\np,2,1\nq,1,1\nq,2,0\n")
    still = MarkovChain(2, Box.exact([[1, 0], [0, 1]]), np.array([1.0, 0.0]))
    declared = ew.Declared(
        still, by="who", order="month", columns=("state",), missing_says_nothing=("state",)
    )
    path = tmp_path / "rows.csv"
    with ew.open(
        path, schema, dependence=declared, knowledge="model", ledger=tmp_path / "l.sqlite", cap=1
    ) as door:
        (line,) = [line for line in door.promise.trusted if "no step has" in line]
        assert "state = 1" in line
        batch = door.plan(ew.Count(where="state = '1'"), loss="0.5")
        assert float(batch.price.worst) >= 1 / float(batch.statistics[0].law.scale) * (1 - 1e-9)
        with pytest.raises(OverBudget):
            door.release({"ones": ew.Count(where="state = '1'")}, loss=2)


def test_the_plan_says_what_a_model_calls_impossible(tmp_path):
    write_schema(cells_of("ab"), tmp_path / "schema.toml")
    (tmp_path / "rows.csv").write_text("a,b\n1,0\n")
    (tmp_path / "release.toml").write_text(REQUEST)
    found = outlook(read_request(tmp_path / "release.toml")).document
    line = found["models"][0]["remarks"][-1]
    assert "'a' is always 0" in line
    assert "protected by its own loss alone" in line


def test_impossible_values_are_named_by_column_and_value():
    third = BayesNet.of(
        [
            Variable("a", ("0", "1", "2"), (), [[0.5, 0.5, 0.0]]),
            Variable("b", BITS, ("a",), [[1, 0], [1, 0], [0, 1]]),
            Variable("c", BITS, ("b",), [[0.5, 0.5], [1, 0]]),
        ]
    )
    assert [able.tolist() for able in third.possible()] == [[True, True, False], [True, False], [True, True]]
    assert all(able.all() for able in network(np.random.default_rng(1), (0.3,)).possible())
