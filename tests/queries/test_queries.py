"""Sensitivities by brute force over every small table, under both neighbour relations and every unit."""

import itertools
from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Quantile,
    Share,
    Total,
    Variance,
    everything,
    nothing,
    parse,
    query_from,
)
from entwined.schema import (
    Boolean,
    Categorical,
    Cells,
    Integer,
    Moment,
    Person,
    Real,
    Rows,
    Schema,
    Text,
)
from support.exact_answers import exact_answer

COLUMNS = (
    Integer("n", -1, 2, bands={"sign": {"below": -1, "not below": 0}}),
    Real("x", Fraction(1, 2), Fraction(2), Fraction(3, 4), missing="drop"),
    Categorical("g", ("a", "b")),
    Boolean("flag"),
    Moment("t", datetime(2019, 12, 31), datetime(2020, 1, 2), bands={"year": "year"}),
    Text("id", compare="exact"),
)
SCHEMA = Schema(COLUMNS)
SIZES = {column.name: column.size for column in COLUMNS[:-1]}


def schema_with(unit=None, neighbours="replace", **more):
    return Schema(COLUMNS, unit or Rows(), neighbours, **more)


def where(text):
    return parse(text, SCHEMA)


QUERIES = [
    Count(where=where("n > 0")),
    Count(where=where("n > 0 or g = 'a' and n is null")),
    Count(where=where("n is null")),
    Total("n"),
    Total("n", where=where("n > 0")),
    Total("n", where=where("n < 0")),
    Total("x"),
    Total("x", where=where("g = 'a'")),
    Total("flag"),
    Mean("n"),
    Mean("x", where=where("g = 'a'")),
    Mean("flag"),
    Mean("t", where=where("t > DATE '2019-12-31'")),
    Mean("n", "public"),
    Variance("n"),
    Variance("n", where=where("n > 0 or n < 0")),
    Variance("x"),
    Histogram("n"),
    Histogram("n", where=where("n > 0")),
    Histogram("n", where=where("n = 1")),
    Histogram("n", bins=2),
    Histogram("n", bins=1),
    Histogram("x"),
    Histogram("g", where=where("n > 0")),
    Marginal(("g", "flag")),
    Marginal(("x", "g"), where=where("x = 2")),
    Histogram("sign").bound(SCHEMA),
    Histogram("sign", where="n >= 0").bound(SCHEMA),
    Histogram("year", where="year >= DATE '2020-01-01' or t is null").bound(SCHEMA),
    Marginal(("g", "sign")).bound(SCHEMA),
    GroupBy(("year",), "n", where="sign <> 'below'").bound(SCHEMA),
    GroupBy(("g",)),
    GroupBy(("g",), "n"),
    GroupBy(("g",), "n", where=where("g = 'a'")),
    GroupBy(("x",), "n", where=where("n > 0")),
    Median("n"),
    Median("n", where=where("n = 1 or n = 2")),
    Median("x", where=where("x = 2")),
    Quantile("n", Fraction(1, 20)),
    Quantile("t", Fraction(19, 20)),
    Quantile("n", Fraction(1, 4)),
    Quantile("x", Fraction(9, 10)),
    Share(where=where("n > 0")),
    Share(where=where("n > 0"), count="noisy"),
    Share(where=where("n > 0"), of=where("g = 'a'")),
]


def rows_of(query):
    """Every row over the columns that the query reads."""
    names = query.columns
    return [
        dict(zip(names, codes, strict=True)) for codes in itertools.product(*(range(SIZES[n]) for n in names))
    ]


def released(query, statistic, rows):
    """The integers whose change counts: the statistic's own, or the scores it picks by."""
    numbers = exact_answer(statistic.aggregate, rows)
    return query.scores(numbers).tolist() if statistic.selects else numbers


def change(query, statistic, one, two):
    pairs = zip(released(query, statistic, one), released(query, statistic, two), strict=True)
    sizes = [abs(a - b) for a, b in pairs]
    return max(sizes) if statistic.selects else sum(sizes)


def others(statistic, rows):
    """Tables to which a row is added: all of up to 3 rows where the rest matters, else the empty one."""
    if not statistic.selects:
        return [[]]
    return [list(rest) for n in range(4) for rest in itertools.combinations_with_replacement(rows, n)]


SMALL = [query for query in QUERIES if np.prod([SIZES[name] for name in query.columns]) <= 30]


def test_every_query_is_small_enough_for_brute_force():
    assert SMALL == QUERIES


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_one_and_both_are_the_largest_changes_and_are_reached(query):
    schema = schema_with(rows=5)
    rows = rows_of(query)
    for statistic in query.statistics(schema):
        inside = statistic.aggregate.where.holds
        seen = {0: 0, 1: 0, 2: 0}
        for rest in others(statistic, rows):
            for row in rows:
                if inside(row):
                    seen[1] = max(seen[1], change(query, statistic, [*rest, row], rest))
                else:
                    seen[0] = max(seen[0], change(query, statistic, [*rest, row], rest))
            for row, other in itertools.combinations(rows, 2):
                held = inside(row) + inside(other)
                seen[held] = max(seen[held], change(query, statistic, [*rest, row], [*rest, other]))
        assert seen == {0: 0, 1: statistic.row.one, 2: statistic.row.both}


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_the_worst_change_between_neighbours_is_reached(query, neighbours):
    if query.fields.get("count") == "public" and neighbours == "add_remove":
        return
    schema = schema_with(neighbours=neighbours, rows=5 if neighbours == "replace" else None)
    rows = rows_of(query)
    for statistic in query.statistics(schema):
        worst = 0
        for rest in others(statistic, rows):
            if neighbours == "add_remove":
                changed = (change(query, statistic, [*rest, row], rest) for row in rows)
            else:
                changed = (
                    change(query, statistic, [*rest, row], [*rest, other])
                    for row, other in itertools.combinations(rows, 2)
                )
            worst = max(worst, *changed)
        assert statistic.worst(schema) == worst
        assert worst > 0


PEOPLE = [query for query in QUERIES if query.fields.get("count") != "public"]


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("query", PEOPLE, ids=str)
def test_a_person_of_two_rows_changes_twice_as_much(query, neighbours):
    schema = schema_with(Person("id", 2), neighbours)
    rows = rows_of(query)
    if len(rows) > 12:
        rows = rows[:: len(rows) // 12 + 1]
    persons = [list(own) for n in range(3) for own in itertools.combinations_with_replacement(rows, n)]
    for statistic in query.statistics(schema):
        many = statistic.selects
        rests = [[row] * times for row in rows for times in (2, 3)] if many else [[]]
        worst = 0
        for rest in rests:
            before = [[]] if neighbours == "add_remove" else persons
            for own, other in itertools.product(before, persons):
                worst = max(worst, change(query, statistic, rest + own, rest + other))
        assert worst <= statistic.worst(schema)
        assert statistic.sensitivity(schema) == statistic.row * 2


def test_persons_reach_their_bound():
    for query, neighbours, bound in [
        (Count(), "replace", 2),
        (Count(), "add_remove", 2),
        (Histogram("g"), "replace", 4),
        (Histogram("g"), "add_remove", 2),
        (Total("n"), "replace", 6),
        (Total("n"), "add_remove", 4),
    ]:
        schema = schema_with(Person("id", 2), neighbours)
        (statistic,) = query.statistics(schema)
        assert statistic.worst(schema) == bound
        rows = rows_of(query)
        persons = [list(own) for n in range(3) for own in itertools.combinations_with_replacement(rows, n)]
        before = [[]] if neighbours == "add_remove" else persons
        reached = max(
            change(query, statistic, own, other) for own, other in itertools.product(before, persons)
        )
        assert reached == bound


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_cells_are_charged_on_every_column_read(query):
    schema = schema_with(Cells(), rows=5)
    rows = rows_of(query)
    for statistic in query.statistics(schema):
        parts = {part.column: part for part in statistic.parts(schema)}
        assert set(parts) >= set(statistic.aggregate.where.columns)
        assert set(parts) <= set(query.columns)
        for name in query.columns:
            seen = 0
            for rest in others(statistic, rows)[:300]:
                for row in rows:
                    for code in range(SIZES[name]):
                        moved = row | {name: code}
                        size = change(query, statistic, [*rest, row], [*rest, moved])
                        seen = max(seen, size)
                        if name in parts:
                            part = parts[name]
                            held = part.where.holds(row) + part.where.holds(moved)
                            allowed = (0, part.sensitivity.one, part.sensitivity.both)[held]
                            assert size <= allowed
            assert seen <= (parts[name].worst(schema) if name in parts else 0)
            assert name not in parts or seen == parts[name].worst(schema)


def test_cells_of_a_condition_are_read_too():
    query = Total("n", where=where("g = 'a'"))
    parts = query.parts(schema_with(Cells()))
    assert [(part.column, part.sensitivity.one, part.sensitivity.both) for part in parts] == [
        ("g", 2, 0),
        ("n", 2, 3),
    ]
    assert [part.column for part in query.parts(SCHEMA)] == [None]
    assert query.columns == ("g", "n")


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_rows_are_charged_on_the_rows_inside(query):
    schema = schema_with(rows=5)
    parts = query.parts(schema)
    statistics = query.statistics(schema)
    assert [(part.where, part.sensitivity) for part in parts] == [
        (s.aggregate.where, s.row) for s in statistics
    ]
    assert query.sensitivity(schema).one == sum(s.row.one for s in statistics)


TABLE = [
    {"n": 0, "x": 0, "g": 0, "flag": 1, "t": 0},
    {"n": 3, "x": 1, "g": 1, "flag": 1, "t": 2},
    {"n": 3, "x": 2, "g": 1, "flag": 0, "t": 2},
    {"n": 2, "x": 3, "g": 0, "flag": 2, "t": 3},
    {"n": 4, "x": 2, "g": 2, "flag": 1, "t": 1},
]
ANSWERS = [
    (Count(where=where("n > 0")), 3),
    (Total("n"), -1 + 2 + 2 + 1),
    (Total("x"), Fraction(1, 2) + Fraction(5, 4) + 2 + 2),
    (Total("flag"), 3),
    (Mean("n"), Fraction(4, 4)),
    (Mean("n", where=where("g = 'b'")), 2),
    (Mean("n", "public"), (4 + Fraction(1, 2)) / 5),
    (Mean("x"), Fraction(23, 16)),
    (Mean("flag"), Fraction(3, 4)),
    (Mean("t"), datetime(2020, 1, 1, 6)),
    (Variance("n"), Fraction(4 + 1 + 1 + 0, 4)),
    (Variance("flag"), Fraction(3, 16)),
    (Histogram("n"), (1, 0, 1, 2, 1)),
    (Histogram("n", bins=2), (1, 3, 1)),
    (Histogram("x"), (1, 1, 2)),
    (Marginal(("g", "flag")), (0, 1, 1, 1, 1, 0, 0, 1, 0)),
    (GroupBy(("g",), "n"), (0, 4, 0)),
    (GroupBy(("g",), "x"), (Fraction(1, 2), Fraction(13, 4), 2)),
    (GroupBy(("flag",)), (1, 3, 1)),
]


@pytest.mark.parametrize(("query", "answer"), ANSWERS, ids=str)
def test_exact_numbers_give_exact_answers(query, answer):
    schema = schema_with(rows=5, most_rows=5)
    query.check(schema)
    numbers = [exact_answer(statistic.aggregate, TABLE) for statistic in query.statistics(schema)]
    assert query.answer(schema, numbers) == answer


@pytest.mark.parametrize("query", [q for q in QUERIES if not isinstance(q, Quantile)], ids=str)
def test_wild_noise_never_breaks_an_answer(query):
    schema = schema_with(rows=5)
    for noise in (-(2**70), -5, 0, 5, 2**70):
        numbers = [[noise] * statistic.aggregate.cells for statistic in query.statistics(schema)]
        found = query.answer(schema, numbers)
        if isinstance(query, Mean):
            assert found == found  # noqa: PLR0124
            column = schema.coded(query.column)
            if isinstance(column, Integer):
                assert -1 <= found <= 2
        if isinstance(query, Variance):
            assert 0 <= found <= Fraction(9, 4)


@pytest.mark.parametrize("at", [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
def test_the_best_score_is_a_quantile(at):
    """The best codes are those whose ranks hold the wanted one, found here by sorting."""
    query = Quantile("n", at)
    for codes in itertools.combinations_with_replacement(range(4), 4):
        counts = [codes.count(code) for code in range(4)]
        scores = query.scores(counts)
        rank = at * (len(codes) - 1) + Fraction(1, 2)
        far = [
            max(0, sum(c < code for c in codes) - rank, rank - sum(c <= code for c in codes))
            for code in range(4)
        ]
        assert scores.tolist() == [-2 * at.denominator * distance for distance in far]
        if at in (0, 1):
            assert scores.argmax() == (min(codes) if at == 0 else max(codes))
    assert query.answer(SCHEMA, [[3]]) == 2


PICKS = [query for query in QUERIES if isinstance(query, Quantile)]


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("query", PICKS, ids=str)
def test_picking_by_score_costs_at_most_twice_the_change(query, neighbours):
    """The exact law of a pick by exp(score / scale) on tables of up to 4 rows keeps 2 · change / scale."""
    schema = schema_with(neighbours=neighbours)
    (statistic,) = query.statistics(schema)
    rows, scale = rows_of(query), 3.0
    claim = 2 * float(statistic.worst(schema)) / scale

    def law(table):
        scores = query.scores(exact_answer(statistic.aggregate, table)) / scale
        return scores - np.logaddexp.reduce(scores)

    reached = 0.0
    for rest in others(statistic, rows):
        near = [law([*rest, row]) for row in rows]
        pairs = (
            ((law(rest), one) for one in near)
            if neighbours == "add_remove"
            else itertools.permutations(near, 2)
        )
        reached = max(reached, *(float(np.abs(one - two).max()) for one, two in pairs))
    assert reached <= claim * (1 + 1e-12)
    assert reached > claim / 4  # the claim is not idle on tables as small as these


def test_a_condition_of_too_many_boxes_is_refused_before_reading():
    schema = Schema(tuple(Boolean(f"b{number:02}") for number in range(16)))
    odd = nothing()
    for number in range(16):
        bit = parse(f"b{number:02}", schema)
        odd = (odd - bit) | (bit - odd)
    with pytest.raises(QueryTooComplex, match="boxes"):
        Count(where=odd).check(schema)


def test_scores_of_no_rows_are_finite():
    assert Median("n").scores([0, 0, 0, 0]).tolist() == [0, 0, 0, 0]


def test_labels_name_the_cells():
    assert list(Histogram("n", bins=2).labels(SCHEMA)) == [((-1, 0),), ((1, 2),), (None,)]
    assert list(Marginal(("flag", "x")).labels(SCHEMA))[:4] == [
        (False, Fraction(1, 2)),
        (False, Fraction(5, 4)),
        (False, Fraction(2)),
        (True, Fraction(1, 2)),
    ]
    for query in QUERIES:
        if isinstance(query, Histogram | Marginal | GroupBy):
            cells = query.statistics(SCHEMA)[0].aggregate.cells
            assert len(list(query.labels(SCHEMA))) == cells


REFUSED = [
    (lambda: Count(where=nothing()), "no row can be inside"),
    (Count, "it is public"),
    (lambda: Total("g"), "do not add up"),
    (lambda: Total("t"), "do not add up"),
    (lambda: Variance("t"), "do not add up"),
    (lambda: Mean("g"), "do not add up"),
    (lambda: Total("id"), "never queried"),
    (lambda: Total("nothing"), "no column"),
    (lambda: Total("n", where=where("n is null")), "no row can be inside"),
    (lambda: Histogram("id"), "never queried"),
    (lambda: Marginal(("g", "absent")), "no column"),
    (lambda: Marginal(("g", "g")), "each once"),
    (lambda: Marginal(()), "each once"),
    (lambda: GroupBy(()), "each once"),
    (lambda: GroupBy(("g",), "g"), "one of its keys"),
    (lambda: GroupBy(("g",), "id"), "never queried"),
    (lambda: Histogram("n", bins=0), "bins"),
    (lambda: Histogram("n", bins=True), "bins"),
    (lambda: Median("g"), "no order"),
    (lambda: Quantile("n", Fraction(3, 2)), "share"),
    (lambda: Quantile("n", float("nan")), "share"),
    (lambda: Quantile("n", Fraction(1, 10**9)), "share"),
    (lambda: Mean("n", "public"), "not public"),
    (lambda: Mean("n", "exact"), "noisy"),
    (lambda: Mean("n", "public", where=where("n > 0")), "not public"),
    (lambda: Count(where=parse("n > 0", Schema((Integer("n", 0, 9),)))), "another schema"),
    (lambda: Count(where=parse("m > 0", Schema((Integer("m", 0, 9),)))), "no column"),
]


@pytest.mark.parametrize(("make", "says"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_asked_is_refused(make, says):
    with pytest.raises(BadQuery, match=says):
        make().check(SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [schema_with(neighbours="add_remove"), schema_with(Person("id", 2))],
)
def test_a_public_count_needs_a_public_number_of_rows(schema):
    with pytest.raises(BadQuery, match="not public"):
        Mean("n", "public").check(schema)
    Count().check(schema)  # here the number of rows is a secret, so asking for it is fine


def test_sums_that_could_overflow_are_refused_before_reading():
    wide = Integer("n", 0, 2**40)
    Total("n").check(Schema((wide,), most_rows=2**23 - 1))
    with pytest.raises(QueryTooComplex, match="2\\^63"):
        Total("n").check(Schema((wide,), most_rows=2**23))
    with pytest.raises(QueryTooComplex, match="2\\^63"):
        Variance("n").check(Schema((wide,), most_rows=1000))
    with pytest.raises(QueryTooComplex, match="2\\^63"):
        GroupBy(("flag",), "n").check(Schema((wide, Boolean("flag")), most_rows=2**23))
    Total("n", where=parse("n < 100", Schema((wide,)))).check(Schema((wide,), most_rows=2**40))
    with pytest.raises(QueryTooComplex, match="2\\^63"):
        Quantile("n", Fraction(1, 9999)).check(Schema((Integer("n", 0, 9),), most_rows=2**53 - 1))


def test_bounds_of_sums_hold_at_the_limit():
    column = Integer("n", -(2**40), 2**40)
    schema = Schema((column,), most_rows=2**23 - 1)
    (statistic,) = Total("n").statistics(schema)
    assert statistic.row.one * schema.most_rows < 2**63


def test_large_tables_are_refused():
    wide = Schema((Integer("n", 0, 10**7), Integer("m", 0, 3162)))
    with pytest.raises(QueryTooComplex, match="cells"):
        Histogram("n").check(wide)
    Histogram("n", bins=1000).check(wide)
    with pytest.raises(QueryTooComplex, match="cells"):
        Marginal(("n", "m")).check(wide)
    with pytest.raises(QueryTooComplex, match="cells"):
        Median("n").check(wide)


def test_fingerprints_tell_questions_apart_and_only_those():
    assert len({query.fingerprint for query in QUERIES}) == len(QUERIES)
    same = [
        (
            Count(where=where("n > 0 and g = 'a'")),
            Count(where=where("not (g <> 'a' or n <= 0) and n is not null")),
        ),
        (Median("n"), Quantile("n", Fraction("0.5"))),
        (Total("n", where=where("n in (1, 2)")), Total("n", where=where("n between 0.5 and 99"))),
    ]
    for one, two in same:
        assert one.fingerprint == two.fingerprint
    assert Marginal(("g", "flag")).fingerprint != Marginal(("flag", "g")).fingerprint


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        ({"query": "count", "where": "n > 0"}, Count(where=where("n > 0"))),
        ({"query": "median", "column": "n"}, Median("n")),
        ({"query": "quantile", "column": "n", "at": "0.25"}, Quantile("n", Fraction(1, 4))),
        ({"query": "quantile", "column": "n", "at": 0.1}, Quantile("n", Fraction(1, 10))),
        ({"query": "group_by", "keys": ["g"], "total": "n"}, GroupBy(("g",), "n")),
        ({"query": "marginal", "of": ["g", "flag"]}, Marginal(("g", "flag"))),
        (
            {"query": "histogram", "column": "n", "bins": 2, "where": "flag"},
            Histogram("n", 2, where=where("flag")),
        ),
        ({"query": "mean", "column": "x"}, Mean("x")),
    ],
)
def test_queries_are_read_from_fields(fields, query):
    assert query_from(fields, SCHEMA) == query


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"query": 5},
        {"query": ["count"]},
        {"query": "mode"},
        {"query": "count", "column": "n"},
        {"query": "total"},
        {"query": "total", "column": ["n"]},
        {"query": "total", "column": None},
        {"query": "marginal", "of": "g"},
        {"query": "marginal", "of": [5]},
        {"query": "histogram", "column": "n", "bins": "two"},
        {"query": "quantile", "column": "n", "at": []},
        {"query": "quantile", "column": "n", "at": "half"},
        {"query": "mean", "column": "n", "count": True},
        {"query": "count", "where": 5},
        {"query": "count", "where": "n >"},
        {"query": "count", "seed": 1},
    ],
)
def test_bad_fields_are_refused(fields):
    with pytest.raises(BadQuery):
        query_from(fields, SCHEMA)


def test_a_query_of_everything_reads_only_its_columns():
    assert Total("n").columns == ("n",)
    assert Count().columns == ()
    assert Count().where == everything()
