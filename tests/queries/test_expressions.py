"""Conditions as expressions: the same set of rows as their text, and errors where Python would mislead."""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries import Count, col, parse
from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Schema

SCHEMA = Schema(
    (
        Integer("age", -5, 20),
        Real('odd " name', 0, 2, step="0.25"),
        Categorical("between", ("m", "f", "it's", "")),
        Boolean("member"),
        Moment("seen", datetime(2020, 1, 1), datetime(2020, 3, 1), step="day"),
    )
)
NUMBERS = st.one_of(
    st.integers(-9, 25),
    st.decimals(-3, 3, places=2),
    st.fractions(-3, 3, max_denominator=7),
    st.sampled_from([0.1, 1e-3, 2.5, "1.5"]),
)
TIMES = st.one_of(
    st.datetimes(datetime(2019, 12, 1), datetime(2020, 4, 1)),
    st.dates(date(2019, 12, 1), date(2020, 4, 1)),
    st.just("2020-01-31"),
)
ORDERED = {"age": NUMBERS, 'odd " name': NUMBERS, "seen": TIMES}
VALUED = ORDERED | {"between": st.sampled_from(["m", "f", "it's", ""]), "member": st.booleans()}
SIGNS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@st.composite
def comparisons(draw):
    name = draw(st.sampled_from(sorted(VALUED)))
    constants = VALUED[name]
    match draw(st.integers(0, 3)):
        case 0:
            return getattr(col(name), draw(st.sampled_from(SIGNS if name in ORDERED else SIGNS[:2])))(
                draw(constants)
            )
        case 1:
            return col(name).isin(draw(st.lists(constants, min_size=1, max_size=3)))
        case 2 if name in ORDERED:
            return col(name).between(draw(constants), draw(constants))
    return col(name).is_missing()


EXPRESSIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(EXPRESSIONS)
def test_an_expression_and_its_text_are_the_same_condition(expression):
    assert parse(str(expression), SCHEMA) == expression.bind(SCHEMA)


def test_a_known_expression_means_what_it_says():
    asked = (col("age") > 3) & ~(col("between") == "f") | col("age").is_missing()
    assert str(asked) == "(age > 3 and not \"between\" = 'f') or age is null"
    assert asked.bind(SCHEMA) == parse("age > 3 and \"between\" <> 'f' or age is null", SCHEMA)
    assert (3 < col("age")).bind(SCHEMA) == (col("age") > Decimal("3.0")).bind(SCHEMA)  # noqa: SIM300
    assert (col("age") == Fraction(1, 3)).bind(SCHEMA).is_empty


MISLEADING = [
    lambda: (col("age") > 3) and (col("age") < 5),
    lambda: (col("age") > 3) or (col("age") < 5),
    lambda: not (col("age") > 3),
    lambda: 3 < col("age") < 5,
    lambda: col("age") in [3, 4],
    lambda: bool(col("age")),
    lambda: col("age") > 3 & col("member"),
    lambda: col("member") & (col("age") > 3),
    lambda: (col("age") > 3) & True,
    lambda: True & (col("age") > 3),
    lambda: (col("age") > 3) | col("member"),
    lambda: ~col("member"),
    lambda: col("age") == None,  # noqa: E711
    lambda: col("age") > col("age"),
    lambda: col("age") == [3],
    lambda: col("age") < float("nan"),  # noqa: PLW0177
    lambda: col("between").isin("mf"),
    lambda: col("between").isin([]),
    lambda: col(""),
    lambda: col(3),
]


@pytest.mark.parametrize("place", range(len(MISLEADING)))
def test_what_python_would_take_for_something_else_is_refused(place):
    with pytest.raises(BadQuery, match=r"brackets|Write|Give"):
        MISLEADING[place]()


def test_what_the_schema_does_not_allow_is_refused_when_it_is_met():
    for wrong in (col("height") > 3, col("between") > "f", col("between") == "x", col("member") == 1):
        with pytest.raises(BadQuery):
            wrong.bind(SCHEMA)


def test_an_expression_as_large_as_no_text_may_be_is_refused():
    long = col("age") == 0
    for _ in range(999):
        long = long | (col("age") == 1)
    assert long.bind(SCHEMA) == parse("age in (0, 1)", SCHEMA)
    with pytest.raises(QueryTooComplex, match="isin"):
        long | (col("age") == 1)
    deep = col("age") == 0
    with pytest.raises(QueryTooComplex, match="deep"):
        for _ in range(60):
            deep = ~deep


def test_a_query_takes_text_or_an_expression_and_is_bound_to_a_schema():
    unbound = Count(where=col("age") > 3), Count(where="age > 3")
    bound = Count(where=parse("age > 3", SCHEMA))
    for query in unbound:
        assert query.bound(SCHEMA) == bound
        assert query.bound(SCHEMA).fingerprint == bound.fingerprint
        for use in (lambda one: one.fingerprint, lambda one: one.check(SCHEMA), lambda one: one.columns):
            with pytest.raises(BadQuery, match="bound"):
                use(query)
    assert bound.bound(SCHEMA) == bound
    with pytest.raises(BadQuery, match="condition"):
        Count(where=3)
