"""Set algebra over codes, held against enumeration of every point of small mixed domains.

The oracle evaluates each random condition by itself, in Kleene's three values (0 false, 1/2 unknown, 1 true)
over raw values of every kind; it shares nothing with the diagrams but the text of the condition.
"""

import itertools
import json
import math
import random
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries import (
    Predicate,
    among,
    between,
    codes_in,
    compare,
    everything,
    is_missing,
    nothing,
    parse,
    predicate_from,
    rows_inside,
)
from entwined.queries.diagram import MOST_COLUMNS
from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Schema

PAIRS = 10_000
COLUMNS = (
    Integer("age", 0, 3),
    Real("x", Fraction(0), Fraction(1), Fraction(1, 2), outside="missing"),
    Categorical("sex", ("m", "f", "it's", "M")),
    Boolean("or"),
    Moment("day", datetime(2020, 1, 30), datetime(2020, 2, 1)),
)
SCHEMA = Schema(COLUMNS)
NAMES = {"age": "age", "x": '"x"', "sex": "sex", "or": '"or"', "day": "day"}
# what each raw value means to a person: the value itself, or None for missing
RAW = {
    "age": [(0, 0), (1.0, 1), ("2", 2), (99, 3), (math.nan, None), (None, None)],
    "x": [(0, Fraction(0)), (Decimal("0.5"), Fraction(1, 2)), (1, Fraction(1)), (math.nan, None), (7, None)],
    "sex": [("m", "m"), ("f", "f"), ("it's", "it's"), ("M", "M"), (None, None), ("F", None)],
    "or": [(True, True), (0, False), (None, None), ("maybe", None)],
    "day": [(date(2020, 1, 30), 30), (datetime(2020, 1, 31, 5), 31), ("2020-02-01", 32), (None, None)],
}
POINTS = list(itertools.product(*(range(len(RAW[column.name])) for column in COLUMNS)))
PLACES = {column.name: np.array([point[at] for point in POINTS]) for at, column in enumerate(COLUMNS)}
CODES = {
    column.name: np.array([column.encode(RAW[column.name][point[at]][0]) for point in POINTS])
    for at, column in enumerate(COLUMNS)
}
CONSTANTS = {
    "age": [("0", 0), ("1", 1), ("1.5", Fraction(3, 2)), ("3", 3), ("-1", -1), ("7e0", 7), ("2.", 2)],
    "x": [("0", 0), (".5", Fraction(1, 2)), ("0.3", Fraction(3, 10)), ("1", 1), ("+2", 2)],
    "sex": [("'m'", "m"), ("'f'", "f"), ("'it''s'", "it's"), ("'M'", "M")],
    "or": [("true", True), ("FALSE", False)],
    "day": [
        ("'2020-01-30'", 30),
        ("'2020-01-30 12:00'", 30.5),
        ("'2020-01-31T00:00:00'", 31),
        ("'2020-02-01'", 32),
        ("'2021-01-01'", 99),
    ],
}
COMPARE = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass
class Asked:
    """A condition's text and its truth at every point."""

    text: str
    truth: np.ndarray

    @property
    def rows(self):
        return self.truth == 1


def spread(name, test):
    """Test the known meanings of a column; missing ones are unknown."""
    return np.array([0.5 if value is None else float(test(value)) for _, value in RAW[name]])[PLACES[name]]


def draw_test(rng):
    name = rng.choice(list(NAMES))
    shown = NAMES[name]
    kind = rng.choice(["compare", "compare", "in", "between", "null", "bare"])
    negated = rng.random() < 0.3
    no = " not" if negated else ""
    if kind == "in":
        picked = rng.choices(CONSTANTS[name], k=rng.randint(1, 3))
        truth = spread(name, lambda value: any(value == constant for _, constant in picked))
        text = f"{shown}{no} in ({', '.join(text for text, _ in picked)})"
    elif kind == "between" and name in ("age", "x", "day"):
        (low_text, low), (high_text, high) = rng.choices(CONSTANTS[name], k=2)
        truth = spread(name, lambda value: low <= value <= high)
        text = f"{shown}{no} BETWEEN {low_text} AND {high_text}"
    elif kind == "null":
        truth = (spread(name, bool) == 0.5).astype(float)
        text = f"{shown} is{no} null"
    elif kind == "bare" and not negated:
        return Asked('"or"', spread("or", lambda value: value))
    else:
        sign = rng.choice(list(COMPARE) if name in ("age", "x", "day") else ["=", "<>", "!="])
        text, constant = rng.choice(CONSTANTS[name])
        return Asked(f"{shown} {sign} {text}", spread(name, lambda value: COMPARE[sign](value, constant)))
    return Asked(text, 1 - truth if negated else truth)


def draw(rng, depth):
    """Draw a condition; AND is the least truth, OR the greatest, NOT turns it over."""
    kind = rng.choice(["test", "and", "or", "not"]) if depth else "test"
    if kind == "test":
        return draw_test(rng)
    one = draw(rng, depth - 1)
    if kind == "not":
        return Asked(f"not ({one.text})", 1 - one.truth)
    two = draw(rng, depth - 1)
    joined = np.minimum(one.truth, two.truth) if kind == "and" else np.maximum(one.truth, two.truth)
    return Asked(f"(({one.text}) {kind} ({two.text}))", joined)


def marks(predicate):
    return rows_inside(predicate, CODES, len(POINTS))


def test_every_code_has_a_point():
    for column in COLUMNS:
        assert set(CODES[column.name].tolist()) == set(range(column.size))


def test_random_pairs_agree_with_enumeration():
    """10,000 pairs: no false disjoint, no false overlap; equal sets are equal values with equal texts."""
    rng = random.Random(20260104)
    drawn = [draw(rng, 2) for _ in range(PAIRS // 2)]
    parsed = [parse(one.text, SCHEMA) for one in drawn]
    for one, p in zip(drawn, parsed, strict=True):
        assert np.array_equal(marks(p), one.rows), one.text
        assert p.is_empty == (not one.rows.any())
        assert p.is_everything == one.rows.all()
    said = [(p.text, p.document) for p in parsed]
    disjoint = equal = implied = 0
    for at, other in itertools.product(range(len(drawn)), (1, 2)):  # each with the next and the one after it
        to = (at + other) % len(drawn)
        p, q, first, second = parsed[at], parsed[to], drawn[at].rows, drawn[to].rows
        apart, within = not (first & second).any(), not (first & ~second).any()
        assert p.disjoint(q) == apart, (drawn[at].text, drawn[to].text)
        assert p.implies(q) == within, (drawn[at].text, drawn[to].text)
        same = np.array_equal(first, second)
        assert (p == q) == same
        assert [a == b for a, b in zip(said[at], said[to], strict=True)] == [same, same]
        disjoint += apart
        equal += same
        implied += within
    assert min(disjoint, equal, implied) > 100, (disjoint, equal, implied)


def test_set_operations_agree_with_enumeration():
    rng = random.Random(5)
    for _ in range(500):
        one, two = draw(rng, 2), draw(rng, 2)
        p, q = parse(one.text, SCHEMA), parse(two.text, SCHEMA)
        first, second = one.rows, two.rows
        for made, expected in [(p & q, first & second), (p | q, first | second), (p - q, first & ~second)]:
            assert np.array_equal(marks(made), expected)
        assert np.array_equal(marks(~p), ~first)
        assert ~~p == p
        assert predicate_from(json.loads(json.dumps(p.document))) == p
        for at in rng.sample(range(len(POINTS)), 20):
            row = {name: int(codes[at]) for name, codes in CODES.items()}
            assert p.holds(row) == first[at]
        for column in COLUMNS:
            seen = set(CODES[column.name][first].tolist())
            ranges = p.codes(column.name, column.size)
            assert {code for low, high in ranges for code in range(low, high + 1)} == seen
            assert all(low <= high for low, high in ranges)
            assert all(left[1] + 1 < right[0] for left, right in itertools.pairwise(ranges))


def test_boxes_never_meet_and_columns_are_those_that_matter():
    rng = random.Random(6)
    for _ in range(300):
        asked = draw(rng, 3)
        p = parse(asked.text, SCHEMA)
        times = np.zeros(len(POINTS), dtype=int)
        for box in p.boxes:
            assert list(box) == sorted(box)
            times += np.all(
                [
                    np.any([(low <= CODES[name]) & (CODES[name] <= high) for low, high in ranges], axis=0)
                    for name, ranges in box.items()
                ]
                or [np.ones(len(POINTS), dtype=bool)],
                axis=0,
            )
        assert np.array_equal(times, asked.rows.astype(int))
        cube = asked.rows.reshape([len(RAW[column.name]) for column in COLUMNS])
        for at, column in enumerate(COLUMNS):
            first = np.take(cube, [0], axis=at)
            matters = bool((cube != first).any())
            assert (column.name in p.columns) == matters


def test_three_valued_logic_is_that_of_sql():
    """A row with a missing age is in neither `age > 1` nor its NOT, but in the plain complement."""
    above, below = parse("age > 1", SCHEMA), parse("not age > 1", SCHEMA)
    assert below == parse("age <= 1", SCHEMA)
    assert above.disjoint(below)
    assert ~(above | below) == parse("age is null", SCHEMA)
    assert parse("age > 1 or age <= 1", SCHEMA) == parse("age is not null", SCHEMA)
    assert parse("age is null or not age is null", SCHEMA).is_everything
    assert parse("age > 1 or age is null", SCHEMA) == ~below


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x < 1", "x < 0.5"),
        ("age = 1", '"or" = true'),
        ("age is null", "x is null"),
        ("age = 1 or age = 2", "age in (2, 3)"),
        ("sex = 'm'", "not sex = 'M'"),
    ],
)
def test_overlaps_are_not_called_disjoint(one, two):
    assert not parse(one, SCHEMA).disjoint(parse(two, SCHEMA))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("sex = 'm'", "sex = 'M'"),
        ("age < 1.5", "age > 1.5"),
        ("age between 0 and 1", "age > 1"),
        ("age is null", "age >= 0"),
        ("day < '2020-01-31'", "day >= '2020-01-30 00:00:01'"),
        ("age = 1 and x = 0", "age = 1 and x = 1 or age = 2 and x = 0"),
    ],
)
def test_disjoint_sets_are_found(one, two):
    assert parse(one, SCHEMA).disjoint(parse(two, SCHEMA))


@pytest.mark.parametrize(
    "texts", [("age = 1.5", "age > 3", "age > 1e300"), ("age >= 0", "age < 4", "age <> 0.1")]
)
def test_constants_off_the_grid_give_plain_sets(texts):
    assert len({parse(text, SCHEMA) for text in texts}) == 1


def test_constants_never_depend_on_rounding():
    """Tenths are not doubles, yet every comparison with a grid value is exact."""
    column = Real("x", Fraction(0), Fraction(1000), Fraction(1, 10))
    schema = Schema((column,))
    for code in range(0, column.levels, 7):
        text = f"{code // 10}.{code % 10}"
        assert parse(f"x = {text}", schema) == codes_in("x", column.size, ((code, code),))
        assert parse(f"x <= {text}", schema) == codes_in("x", column.size, ((0, code),))
        if code:
            assert compare(column, "<", code / 10).true == codes_in("x", column.size, ((0, code - 1),))


def test_functions_build_what_the_text_does():
    age, sex = COLUMNS[0], COLUMNS[2]
    built = (compare(age, ">", 1) & among(sex, ["m", "f"]) | ~between(age, 1, 2)) & ~is_missing(sex)
    text = "(age > 1 and sex in ('m', 'f') or not age between 1 and 2) and sex is not null"
    assert built.true == parse(text, SCHEMA)


def test_texts_tell_hostile_names_apart():
    names = ["a", "a in 0 of 2 and b", 'a"', "a\\", "a\n", " a", "A", "é", "é"]
    texts = {codes_in(name, 2, ((0, 0),)).text for name in names}
    texts |= {(codes_in("a", 2, ((0, 0),)) & codes_in("b", 2, ((0, 0),))).text}
    assert len(texts) == len(set(names)) + 1


def test_constants_of_the_algebra():
    assert everything().text == "all"
    assert nothing().text == "none"
    assert everything().boxes == ({},)
    assert nothing().boxes == ()
    assert (~everything()).is_empty
    assert everything().columns == ()


def test_conditions_of_different_schemas_do_not_mix():
    with pytest.raises(BadQuery, match="codes in one condition"):
        codes_in("age", 5, ((0, 1),)) & codes_in("age", 6, ((0, 1),))


@pytest.mark.parametrize("ranges", [((1, 0),), ((0, 5),), ((-1, 0),), ((0, 1), (1, 2)), ((3, 3), (0, 0))])
def test_bad_ranges_are_refused(ranges):
    with pytest.raises(BadQuery):
        codes_in("age", 5, ranges)


def test_blow_up_is_refused_not_attempted():
    def pair(number):
        return codes_in(f"a{number:02}", 3, ((0, 0),)) & codes_in(f"b{number:02}", 3, ((0, 0),))

    with pytest.raises(QueryTooComplex):  # one of 2^24 combinations of a's must be remembered for the b's
        union(pair(number) for number in range(24))


def test_many_boxes_are_refused_but_counted_cheaply():
    parity = nothing()
    for number in range(20):
        bit = codes_in(f"c{number:02}", 2, ((1, 1),))
        parity = (parity - bit) | (bit - parity)
    assert len(parity.diagram.nodes) == 39
    with pytest.raises(QueryTooComplex, match="boxes"):
        parity.boxes  # noqa: B018


def test_too_many_columns_are_refused():
    with pytest.raises(QueryTooComplex, match="columns"):
        union(codes_in(f"c{number}", 2, ((1, 1),)) for number in range(MOST_COLUMNS + 1))


def union(predicates):
    total = nothing()
    for predicate in predicates:
        total |= predicate
    return total


GOOD = (codes_in("a", 4, ((1, 2),)) | codes_in("b", 3, ((0, 0),))).document


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"nodes": [], "root": 0},
        {"nodes": [], "root": -3},
        {"nodes": "ab", "root": -1},
        {"nodes": [["a", 2, [2], [-2]]], "root": 0},
        {"nodes": [["a", 2, [1, 1], [-1, -2]]], "root": 0},
        {"nodes": [["a", 2, [1, 3], [-1, -2]]], "root": 0},
        {"nodes": [["a", 2, [0, 2], [-1, -2]]], "root": 0},
        {"nodes": [["a", 2, [1, 2], [-2, -2]]], "root": 0},
        {"nodes": [["a", 2, [1, 2], [-1, 0]]], "root": 0},
        {"nodes": [["a", 2, [1, 2], [-1, -3]]], "root": 0},
        {"nodes": [["a", 2, [1, 2], [-1, -2]]], "root": -1},
        {"nodes": [["a", 2, [1, 2], [-1, -2]], ["b", 2, [1, 2], [-1, 0]]], "root": 1},
        {"nodes": [["a", 2, ["x", 2], [-1, -2]]], "root": 0},
        {"nodes": [[5, 2, [1, 2], [-1, -2]]], "root": 0},
        {"nodes": [["a", 2.0, [1, 2], [-1, -2]]], "root": 0},
        {
            "nodes": [["b", 3, [1, 3], [-1, -2]], ["b", 2, [1, 2], [-1, -2]], ["a", 2, [1, 2], [0, 1]]],
            "root": 2,
        },
        {
            "nodes": [["b", 2, [1, 2], [-2, -1]], ["b", 2, [1, 2], [-1, -2]], ["a", 2, [1, 2], [1, 0]]],
            "root": 2,
        },
        {
            "nodes": [["b", 2, [1, 2], [-2, -1]], ["b", 2, [1, 2], [-2, -1]], ["a", 2, [1, 2], [0, 1]]],
            "root": 2,
        },
        GOOD | {"more": 1},
        GOOD | {"root": math.inf},
    ],
)
def test_documents_that_no_set_wrote_are_refused(document):
    with pytest.raises(BadQuery):
        predicate_from(document)


def test_documents_of_sets_are_read_back():
    assert isinstance(predicate_from(GOOD), Predicate)
    assert predicate_from(everything().document).is_everything
