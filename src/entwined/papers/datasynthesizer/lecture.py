"""Sensitivity, composition and consistency as the lecture has them, held against all small tables and our own door."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Final, NamedTuple, TypeAlias

from entwined.dependence import Groups
from entwined.estimate.agreement import Released, agreed
from entwined.mechanisms.batch import plan_batch
from entwined.noise import DiscreteLaplace
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Query, parse
from entwined.schema import Categorical, Integer, Neighbours, Schema

SALARIES: Final = (0, 100)
SPAN: Final = f"MAX − MIN = {SALARIES[-1] - SALARIES[0]}"
PEOPLE: Final = tuple(product(("Male", "Female"), (20, 40), SALARIES))
LARGEST_TABLE: Final = 3
COUNTS: Final = 3  # of an arbitrary list

CONDITIONS: Final = ("", "sex = 'Male'", "sex = 'Female'", "age > 20")
LOSSES: Final = ("0.5", "0.2", "0.25", "0.25")
RETURNED: Final = (2005, 1001, 995, 1789)

Person: TypeAlias = tuple[str, int, int]
Rows: TypeAlias = tuple[Person, ...]
Asked: TypeAlias = Callable[[Rows], Sequence[float]]


class Sensitive(NamedTuple):
    """A query of the lecture: what the lecture says, and what the worst of all small tables shows."""

    query: str
    lecture: str
    add_remove: float
    replace: float
    remark: str = ""


class Composed(NamedTuple):
    """The loss of the four queries by one rule."""

    rule: str
    epsilon: float
    holds: str


class Agreed(NamedTuple):
    """One of the four answers, as it was returned and as all of them agree."""

    query: str
    returned: int
    estimate: float
    consistent: int


def _three(rows: Rows) -> list[int]:
    """Three counts that one person can be in, or in none of."""
    male, old = ([one[0] == "Male" for one in rows], [one[1] > 30 for one in rows])  # noqa: PLR2004  (the lecture's)
    return [sum(male), sum(old), sum(map(max, male, old))]


QUERIES: Final[tuple[tuple[str, str, Asked, str], ...]] = (
    ("select count(*) from D", "1", lambda rows: [len(rows)], "public if neighbours replace a row"),
    (
        "select count(*) from D where sex = Male and age > 30",
        "1",
        lambda rows: [sum(sex == "Male" and age > 30 for sex, age, _ in rows)],  # noqa: PLR2004  (the lecture's)
        "",
    ),
    (
        "the fraction of people with sex = Male",
        "1/n",
        lambda rows: [sum(sex == "Male" for sex, _, _ in rows) / len(rows)],
        f"here n is up to {LARGEST_TABLE}: 1/n if one is replaced, 1/2 if one of two leaves",
    ),
    (
        "select MAX(salary) from D",
        SPAN,
        lambda rows: [max(pay for _, _, pay in rows)],
        "noise as large as the answer: ask a quantile",
    ),
    (
        "select gender, count(*) from D group by gender",
        "1",
        lambda rows: [sum(sex == one for sex, _, _ in rows) for one in ("Male", "Female")],
        "2 if a row is replaced: it leaves one group and enters another",
    ),
    (
        "a histogram as probabilities (DataSynthesizer)",
        "2/n",
        lambda rows: [sum(sex == one for sex, _, _ in rows) / len(rows) for one in ("Male", "Female")],
        f"2/n holds if a row is replaced (n = {LARGEST_TABLE} here: 2/3; smaller tables more)",
    ),
    (
        f"an arbitrary list of m = {COUNTS} counting queries",
        f"m = {COUNTS}",
        _three,
        "",
    ),
)


def sensitivities() -> list[Sensitive]:
    """Every query of the lecture under both neighbour relations, by all tables of up to three people."""
    return [
        Sensitive(query, said, _worst(asked, replaced=False), _worst(asked, replaced=True), remark)
        for query, said, asked, remark in QUERIES
    ]


def _worst(asked: Asked, *, replaced: bool) -> float:
    """The largest change of an answer over all neighbouring tables of at least one person."""
    return max(
        sum(abs(one - other) for one, other in zip(asked(rows), asked(near), strict=True))
        for size in range(1, LARGEST_TABLE + 1)
        for rows in combinations_with_replacement(PEOPLE, size)
        for near in _neighbours(rows, replaced=replaced)
    )


def _neighbours(rows: Rows, *, replaced: bool) -> Iterator[Rows]:
    """Tables that lack one of the rows, or have another in its place; a table without rows has no answer."""
    for at in range(len(rows)):
        rest = rows[:at] + rows[at + 1 :]
        if replaced and len(rows) == LARGEST_TABLE:  # the number of rows is public, so one size shows it
            yield from ((*rest, other) for other in PEOPLE)
        elif not replaced and rest:
            yield rest
        else:
            yield rows


def four_queries() -> list[Composed]:
    """The four queries: by adding up, by disjointness, and what of that is left under other neighbours and ties."""
    each = [Fraction(loss) for loss in LOSSES]
    apart = _priced("add_remove", 0)
    pairs = _priced("add_remove", 2)
    return [
        Composed("sequential: all losses added", float(sum(each)), "holds"),
        Composed(
            "parallel: the larger of the disjoint two", float(each[0] + max(each[1:3]) + each[3]), "holds"
        ),
        Composed("what our door charges (it proves that Male and Female are disjoint)", apart, "holds"),
        Composed(
            "the same if a row may be replaced: it moves both groups, and count(*) says nothing",
            _priced("replace", 0),
            "holds",
        ),
        Composed(
            "what leaks where two people may depend on each other in any way", pairs, "parallel is not enough"
        ),
    ]


def _schema(neighbours: Neighbours) -> Schema:
    columns = (Categorical("sex", ("Male", "Female")), Integer("age", 0, 120))
    return Schema(columns, most_rows=5000, neighbours=neighbours).approve()


def _queries(neighbours: Neighbours) -> tuple[list[Query], list[str]]:
    """The queries that are no public number, with their losses."""
    chosen = [
        (Count(where=where) if where else Count(), loss)
        for where, loss in zip(CONDITIONS, LOSSES, strict=True)
        if where or neighbours == "add_remove"
    ]
    return [query for query, _ in chosen], [loss for _, loss in chosen]


def _priced(neighbours: Neighbours, together: int) -> float:
    """Plan the queries with their own losses, and say what they leak."""
    models = [Declared(Groups(largest=together))] if together else []
    queries, losses = _queries(neighbours)
    planned = plan_batch(Promise.of(_schema(neighbours), models), queries, loss="1", shares=losses)
    return float(planned.price.worst) / float(planned.loss)


def consistent_answers() -> list[Agreed]:
    """Make the lecture's answers agree: with two genders, no database has 2005, 1001 and 995."""
    schema = _schema("add_remove")
    queries, losses = _queries("add_remove")
    given = []
    for query, loss, number in zip(queries, losses, RETURNED, strict=True):
        (statistic,) = query.bound(schema).statistics(schema)
        given.append(Released(statistic.aggregate, DiscreteLaplace(1 / Fraction(loss)), [number]))
    found = agreed(given, [parse("sex is null", schema)], schema.most_rows)
    return [
        Agreed(where or "everybody", number, float(table.estimates), int(table.values))
        for where, number, table in zip(CONDITIONS, RETURNED, found.tables, strict=True)
    ]
