"""A share of rows under a condition: what it is made of, what it costs, and what is refused."""

from fractions import Fraction

import pytest

from entwined.errors import BadQuery
from entwined.queries import Count, Share, col, parse, query_from
from entwined.queries.documents import as_written, question_of, written
from entwined.request.verbs import plan
from entwined.schema import Categorical, Integer, Schema

COLUMNS = (Integer("age", 0, 99), Categorical("sex", ("m", "f")))
PUBLIC = Schema(COLUMNS, rows=1000, most_rows=1000).approve()
HIDDEN = Schema(COLUMNS, neighbours="add_remove", most_rows=1000).approve()


def share(**more):
    return Share(where=parse("sex = 'f'", PUBLIC), **more)


def test_a_share_is_one_count_over_both():
    asked = share(of=parse("age > 20", PUBLIC))
    inside, outside = (one.aggregate.where for one in asked.statistics(PUBLIC))
    assert inside == parse("sex = 'f' and age > 20", PUBLIC)
    assert outside == parse("age > 20 and (sex = 'm' or sex is null)", PUBLIC)
    assert asked.answer(PUBLIC, [[30], [10]]) == Fraction(3, 4)
    assert asked.answer(PUBLIC, [[-3], [10]]) == 0
    assert asked.answer(PUBLIC, [[30], [-10]]) == 1
    assert asked.answer(PUBLIC, [[0], [0]]) == asked.answer(PUBLIC, [[5], [-9]]) == Fraction(1, 2)


def test_a_public_number_of_rows_is_divided_by():
    assert len(share().statistics(PUBLIC)) == 1
    assert share().answer(PUBLIC, [[250]]) == Fraction(1, 4)
    assert share() != share(count="public")
    assert len(share(count="noisy").statistics(PUBLIC)) == len(share().statistics(HIDDEN)) == 2
    for schema, asked in ((HIDDEN, share(count="public")), (PUBLIC, share(of="age > 3", count="public"))):
        with pytest.raises(BadQuery, match="public count"):
            asked.bound(schema).check(schema)


def test_rows_that_come_or_go_pay_for_one_of_the_two_counts():
    assert plan(HIDDEN, share(), loss=1).loss == plan(HIDDEN, Count(), loss=1).loss


@pytest.mark.parametrize(
    "asked",
    [
        Share(where="age > 99"),
        Share(),
        Share(where="age > 3", of="age > 5"),
        Share(where="sex = 'f'", of="sex = 'm'"),
    ],
)
def test_a_share_that_is_public_is_refused(asked):
    with pytest.raises(BadQuery, match="public"):
        asked.bound(PUBLIC).check(PUBLIC)


def test_a_share_with_an_odd_count_or_condition_is_refused():
    with pytest.raises(BadQuery, match="noisy"):
        share(count="both")
    with pytest.raises(BadQuery, match="condition"):
        share(of=3)


def test_it_is_written_and_read_with_both_conditions():
    asked = share(of=parse("age > 20", PUBLIC))
    assert as_written(written(asked)) == asked
    assert query_from({"query": "share", "where": "sex = 'f'", "of": "age > 20"}, PUBLIC) == asked
    assert Share(where=col("sex") == "f", of=col("age") > 20).bound(PUBLIC) == asked
    assert asked.columns == ("age", "sex")
    assert asked.fingerprint != share().fingerprint
    shown = question_of(asked.fingerprint)
    said = {"where": "sex f", "of": "age from 21 to 99"}
    assert shown.question(str, said) == "Share of rows with sex f, among the rows with age from 21 to 99"
