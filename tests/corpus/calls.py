"""Calls of the Python interface that have to end in an error of our own, with nothing charged."""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa

from corpus.table_files import PRIVATE
from corpus.workshop import COLUMNS, Workshop
from entwined.bounds import bound, calibrate
from entwined.dependence import Box, Groups, Independent, MarkovChain, model_from, read_model
from entwined.ledger import Ledger
from entwined.loss import Loss
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Marginal, Mean, Quantile, Total, parse, query_from
from entwined.queries.sql import read_sql
from entwined.request.request_file import read_request
from entwined.request.verbs import plan, release
from entwined.schema import (
    Boolean,
    Categorical,
    Cells,
    Integer,
    Moment,
    Person,
    Real,
    Schema,
    Text,
    read_schema,
)
from entwined.tables import describe, open_table

SCHEMA = Schema(COLUMNS, neighbours="add_remove", most_rows=1000).approve()
AGES = MarkovChain(1000, Box.exact([[0.9, 0.1], [0.1, 0.9]]))


@dataclass(frozen=True)
class Call:
    """A call that is refused; it may use the table and the ledger of a workshop."""

    kind: str
    name: str
    act: Callable[[Workshop], object]


def asked(place: Workshop, query: object = None, **options: object) -> object:
    """Go through the door with a sound table and ledger, and something else that is bad."""
    where = str(place.folder / place.ledger())
    with (
        open_table(str(place.folder / "survey.csv"), SCHEMA) as table,
        Ledger.open(where, Fraction(2), Promise.of(SCHEMA)) as ledger,
    ):
        return release(table, Count() if query is None else query, ledger=ledger, **options)


AMOUNTS = [0, -1, -0.0, math.nan, math.inf, -math.inf, 1e-320, 1e308, "0", "-1", "nan", "inf", "", "one", "1e-320", "1e308", "1e999999999", "1e-999999999", "١", None, Decimal("NaN"), Decimal(-1), Fraction(0), Fraction(-1, 3), 10**400, 5e-324, np.float64("nan"), b"1"]  # fmt: skip
SOURCES = [None, 1, 1.5, b"survey.csv", [], {}, object(), range(3), io.StringIO("region,age"), np.zeros((2, 2)), lambda: 1, "", ".", "a.exe", "http://127.0.0.1:1/a.csv"]  # fmt: skip
FRAMES = [
    ("a pandas frame without a column", lambda: pd.DataFrame({"region": ["a"]})),
    ("an Arrow table without a column", lambda: pa.table({"region": ["a"]})),
    (
        "an Arrow table of one name twice",
        lambda: pa.Table.from_arrays([pa.array([1])] * 5, ["region", "age", "income", "who", "age"]),
    ),
    (
        "a pandas frame of one name twice",
        lambda: pd.DataFrame([[1, 2, 3, 4, 5]], columns=["region", "age", "income", "who", "age"]),
    ),
    ("lists in a column", lambda: pa.table({**PRIVATE, "age": [[1]] * 20})),
    ("names that are numbers", lambda: pd.DataFrame({0: [1], 1: [2]})),
]
SCHEMAS = [
    ("no columns", lambda: Schema(())),
    ("a list of columns", lambda: Schema([Integer("a", 0, 1)])),
    ("a column that is none", lambda: Schema(("a",))),
    ("one name twice", lambda: Schema((Integer("a", 0, 1), Text("a")))),
    (
        "a person who is no column",
        lambda: Schema((Integer("a", 0, 1),), unit=Person("b", 1), neighbours="add_remove"),
    ),
    ("cells added or removed", lambda: Schema((Integer("a", 0, 1),), unit=Cells(), neighbours="add_remove")),
    ("a made-up digest", lambda: Schema((Integer("a", 0, 1),), approved_digest="0" * 64)),
    ("bounds the wrong way", lambda: Integer("a", 2, 1)),
    ("bounds of no type", lambda: Integer("a", "0", 1)),
    ("bounds of truth values", lambda: Integer("a", False, True)),
    ("a bound that is none", lambda: Real("a", 0, math.nan, 1)),
    ("a bound without end", lambda: Real("a", 0, math.inf, 1)),
    ("a step of nothing", lambda: Real("a", 0, 1, 0)),
    ("a step without end", lambda: Real("a", 0, 1, "1e-999999999")),
    ("no values", lambda: Categorical("a", ())),
    ("a value twice", lambda: Categorical("a", ("x", "x"))),
    ("half a character", lambda: Categorical("a", ("\ud800",))),
    ("a zero in a name", lambda: Text("a\0b")),
    ("no name", lambda: Boolean("")),
    ("a name that is a number", lambda: Text(1)),
    ("days the wrong way", lambda: Moment("a", "2021-01-01", "2020-01-01")),
    ("a person of no rows", lambda: Person("a", 0)),
]
QUERIES = [
    ("a column that is not there", lambda: query_from({"query": "mean", "column": "nothing"}, SCHEMA)),
    ("text", lambda: query_from({"query": "histogram", "column": "who"}, SCHEMA)),
    ("a kind that is not there", lambda: query_from({"query": "kmeans"}, SCHEMA)),
    ("a kind that is a list", lambda: query_from({"query": ["mean"]}, SCHEMA)),
    ("a seed", lambda: query_from({"query": "count", "seed": 1}, SCHEMA)),
    ("a condition that is none", lambda: parse("age >", SCHEMA)),
    ("a condition of another type", lambda: parse(1, SCHEMA)),
    (
        "a condition that is never true",
        lambda: plan(SCHEMA, Count(where=parse("age > 5 and age < 3", SCHEMA)), loss=1),
    ),
    ("SQL that is none", lambda: read_sql("DROP TABLE t", SCHEMA)),
    ("SQL of another type", lambda: read_sql(1, SCHEMA)),
    ("no query", lambda: plan(SCHEMA, [], loss=1)),
    ("a query that is text", lambda: plan(SCHEMA, ["count"], loss=1)),
    ("a quantile beyond all", lambda: plan(SCHEMA, Quantile("age", 2), loss=1)),
    ("a quantile of words", lambda: plan(SCHEMA, Quantile("region", 0.5), loss=1)),
    ("a mean of words", lambda: plan(SCHEMA, Mean("region"), loss=1)),
    ("a total of text", lambda: plan(SCHEMA, Total("who"), loss=1)),
    ("a histogram of no bins", lambda: plan(SCHEMA, Histogram("age", 0), loss=1)),
    ("a marginal of nothing", lambda: plan(SCHEMA, Marginal(()), loss=1)),
    ("a mean by a public count that is none", lambda: plan(SCHEMA, Mean("age", count="public"), loss=1)),
    ("an unapproved schema", lambda: plan(Schema(COLUMNS, neighbours="add_remove"), Count(), loss=1)),
    ("a leakage and a loss", lambda: plan(SCHEMA, Count(), loss=1, leakage=1)),
    ("neither", lambda: plan(SCHEMA, Count())),
    ("shares that are too few", lambda: plan(SCHEMA, [Count(), Mean("age")], loss=1, shares=[1])),
    ("a share below zero", lambda: plan(SCHEMA, [Count(), Mean("age")], loss=1, shares=[2, -1])),
    (
        "a knowledge that is none",
        lambda: plan(SCHEMA, Count(), loss=1, dependence=[Groups(2)], knowledge="some"),
    ),
    ("a model that is none", lambda: plan(SCHEMA, Count(), loss=1, dependence=["groups"])),
    (
        "a chain that is too short",
        lambda: plan(SCHEMA, Count(), loss=1, dependence=[MarkovChain(2, AGES.transition)]),
    ),
    (
        "a column of groups that is not there",
        lambda: plan(SCHEMA, Count(), loss=1, dependence=[Declared(Groups(2), by="nothing")]),
    ),
]
MODELS = [
    ("groups of none", lambda: Groups(0)),
    ("groups of half", lambda: Groups(1.5)),
    ("nobody", lambda: Independent(0)),
    ("a chain of no steps", lambda: MarkovChain(0, AGES.transition)),
    ("probabilities over one", lambda: MarkovChain(5, Box.exact([[0.9, 0.2], [0.1, 0.9]]))),
    ("probabilities that are none", lambda: MarkovChain(5, Box.exact([[math.nan, 0.2], [0.1, 0.9]]))),
    ("a document that is a list", lambda: model_from([], None)),
    ("a document of nothing", lambda: model_from({}, None)),
    ("a loss of other units", lambda: bound(Groups(2), Loss.of([1, 1, 1, math.nan]))),
    ("a loss for fewer units", lambda: bound(MarkovChain(5, AGES.transition), Loss.of([1, 1]))),
    ("a loss that is text", lambda: Loss.of("one")),
    ("a knowledge that is none", lambda: bound(AGES, Loss.uniform(1, 1000), "some")),
]


def named(value: object) -> str:
    """Name a value in a line."""
    return f"{type(value).__name__} {str(value)[:20]}"


CALLS: list[Call] = [
    *(
        Call("call: loss", named(amount), lambda place, amount=amount: asked(place, loss=amount))
        for amount in AMOUNTS
    ),
    *(
        Call("call: leakage", named(amount), lambda place, amount=amount: asked(place, leakage=amount))
        for amount in AMOUNTS
    ),
    *(
        Call("call: delta", named(amount), lambda place, amount=amount: asked(place, loss=1, delta=amount))
        for amount in (0, 1, 2, -1, math.nan, math.inf, "x", 1e-320, 0.5, "1e-999999999")
    ),
    *(
        Call(
            "call: cap",
            named(cap),
            lambda place, cap=cap: Ledger.create(str(place.folder / "new.sqlite"), cap, Promise.of(SCHEMA)),
        )
        for cap in (Fraction(0), Fraction(-1), 1, 1.0, "1", None, math.nan, math.inf)
    ),
    *(
        Call("call: calibrate", named(amount), lambda _, amount=amount: calibrate(AGES, amount))
        for amount in AMOUNTS
    ),
    *(
        Call("call: table", named(source), lambda _, source=source: open_table(source, SCHEMA))
        for source in SOURCES
    ),
    *(Call("call: describe", named(source), lambda _, source=source: describe(source)) for source in SOURCES),
    *(Call("call: frame", name, lambda _, make=make: open_table(make(), SCHEMA)) for name, make in FRAMES),
    *(Call("call: schema", name, lambda _, make=make: make()) for name, make in SCHEMAS),
    *(Call("call: query", name, lambda _, make=make: make()) for name, make in QUERIES),
    *(Call("call: model", name, lambda _, make=make: make()) for name, make in MODELS),
    *(
        Call(
            "call: file",
            f"{read.__name__} {name[:20]!r}",
            lambda place, read=read, name=name: read(place.folder / name),
        )
        for read in (read_schema, read_request, read_model)
        for name in ("nothing.toml", ".", "a\0b.toml", "x" * 5000 + ".toml")
    ),
]
