"""Rows of a person scaled to the bound: exact in every engine, and moved no further than is charged."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import MarkovChain
from entwined.errors import BadQuery, BadSchema, Refused
from entwined.mechanisms.batch import plan_batch
from entwined.mechanisms.degrees import Degrees
from entwined.mechanisms.k_means import KMeans
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, CountOf, Histogram, Mean, Median, Total, everything
from entwined.schema import Categorical, Household, Integer, Person, Schema, Text, read_schema, write_schema
from entwined.schema.unit import ROW_SHARE, WHOLE_ROW
from entwined.tables import open_table
from support import engines
from support.exact_answers import exact_answer
from support.scaled import check_scaled, scaled_schema, statistics

SMALL = (Text("who", compare="exact"), Categorical("page", ("a", "b")), Integer("age", 0, 2))


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_every_row_counts_in_part_in_every_engine(engine, tmp_path):
    check_scaled(engines.LIGHT[engine], tmp_path)


def contributions(schema, aggregates, most_rows=5):
    """What the rows of one person add, for every multiset of rows that the person may have."""
    kinds = [{"page": page, "age": age} for page in range(2) for age in range(3)]
    for rows in range(most_rows + 1):
        share = min(WHOLE_ROW, WHOLE_ROW * schema.unit.most // max(rows, 1))
        for held in itertools.combinations_with_replacement(kinds, rows):
            mine = [row | {ROW_SHARE.name: share} for row in held]
            yield np.concatenate([exact_answer(one, mine) for one in aggregates]).astype(float)


@pytest.mark.parametrize("unit", [Person, Household])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_rows_of_one_person_move_numbers_further_than_is_charged(unit, neighbours, most):
    """Every pair of row sets of a person: each statistic, and a batch of conditions that exclude each other, by price."""
    schema = Schema(SMALL, unit=unit("who", most, "scale"), neighbours=neighbours, most_rows=50).approve()
    queries = [
        Histogram("page", where="age = 0"),
        Count(where="age = 1"),
        Total("age", where="age = 2"),
        Mean("age"),
    ]
    promise = Promise.of(schema)
    for asked in (queries[:3], *([query] for query in queries)):
        batch = plan_batch(promise, asked, loss=Fraction(1))
        noised = [(one.statistic, float(one.law.scale)) for one in batch.statistics]
        scales = np.concatenate([np.full(one.aggregate.cells, scale) for one, scale in noised])
        held = np.array([*contributions(schema, [one.aggregate for one, _ in noised])]) / scales
        before = held if neighbours == "replace" else held[:1]
        worst = np.abs(before[:, None] - held[None]).sum(axis=-1).max()
        assert worst <= float(batch.price.worst) * (1 + 1e-9)
        assert worst > 0.99 * float(batch.price.worst) or len(asked) > 1 or isinstance(asked[0], Mean)


def test_what_cannot_be_weighted_is_refused(tmp_path):
    schema = scaled_schema(3).approve()
    promise = Promise.of(schema)
    with pytest.raises(BadQuery, match="cannot be weighted"):
        plan_batch(promise, Median("age"), loss=1)
    with pytest.raises(BadQuery, match="cannot be weighted"):
        Degrees.of(promise, ["who"], 5, 1)
    with pytest.raises(BadQuery, match="cannot be weighted"):
        KMeans.of(promise, "age", 2, 2, 1)
    with pytest.raises(BadQuery, match="rows of a person are scaled"):
        plan_batch(promise, Count(weight="age"), loss=1)
    source, _ = engines.parquet(
        {"who": ("text", ["ann"]), "home": ("text", ["h"]), "page": ("text", ["a"]), "age": ("whole", [3])},
        tmp_path,
    )
    with open_table(source, schema) as table, pytest.raises(BadQuery, match="cannot be weighted"):
        table.check([CountOf(everything())])
    with pytest.raises(BadSchema, match="row share"):
        Schema((SMALL[0], Integer(ROW_SHARE.name, 0, 9)), unit=Person("who", 3, "scale"))
    with pytest.raises(BadSchema, match="beyond"):
        Person("who", 3, "weigh")
    chain = Declared(
        MarkovChain(3, np.array([[0.5, 0.5], [0.5, 0.5]])),
        by="who",
        order="age",
        columns=("page",),
        panel=True,
    )
    with pytest.raises(Refused, match="scales the rows"):
        Promise.of(Schema(SMALL, unit=Person("who", 3, "scale")), [chain])


def test_a_schema_file_says_how_rows_beyond_the_bound_count(tmp_path):
    for schema in (
        scaled_schema(3),
        Schema(SMALL, unit=Household("who", 3, "scale")),
        Schema(SMALL, unit=Person("who", 3)),
    ):
        write_schema(schema, tmp_path / "s.toml")
        assert read_schema(tmp_path / "s.toml") == schema
    assert len(statistics(scaled_schema(3))) == 9
