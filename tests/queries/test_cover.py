"""The most that overlapping charges add up to, held against all points and all pairs of points."""

import itertools
import random
import time
from fractions import Fraction

import pytest

from entwined.queries import (
    Count,
    Histogram,
    Layers,
    bunches,
    codes_in,
    cover,
    everything,
    nothing,
    parse,
)
from entwined.schema import Categorical, Integer, Schema

PEOPLE = Schema((Categorical("sex", ("male", "female")), Integer("age", 0, 120)), neighbours="add_remove")
SIZES = {"a": 3, "b": 2, "c": 3, "d": 2}
POINTS = [dict(zip(SIZES, codes, strict=True)) for codes in itertools.product(*map(range, SIZES.values()))]


def max_cover(weights):
    """The most at one point."""
    return Layers.of((where, weight, Fraction(0)) for where, weight in weights).at_one


def max_pair(charges, *, absent=False):
    """The most at two points, of which one may be no row."""
    return Layers.of(charges).at_two(absent=absent)


def half(text):
    return Fraction(text)


GOLDEN = [
    (everything(), half("0.5")),
    (parse("sex = 'male'", PEOPLE), half("0.2")),
    (parse("sex = 'female'", PEOPLE), half("0.25")),
    (parse("age > 20", PEOPLE), half("0.25")),
]


def test_the_golden_composition():
    """Sequentially 1.2; male and female are disjoint, so with add/remove no row pays more than 1.0."""
    assert sum(weight for _, weight in GOLDEN) == half("1.2")
    found = max_cover(GOLDEN)
    assert found == cover.Cover(Fraction(1), exact=True)


def test_the_golden_composition_when_rows_are_replaced():
    """A row that turns from male to female pays both counts, but the count of all rows never changes."""
    charges = [(where, weight, Fraction(0)) for where, weight in GOLDEN]
    assert max_pair(charges).value == half("0.2") + half("0.25") + half("0.25")
    assert max_pair(charges, absent=True).value == Fraction(1)


def draw_charges(rng, predicates):
    charges = []
    for _ in range(predicates):
        where = everything() if rng.random() < 0.1 else nothing()
        for _ in range(rng.randint(1, 3)):
            box = everything()
            for name in rng.sample(list(SIZES), rng.randint(1, 2)):
                low = rng.randrange(SIZES[name])
                box &= codes_in(name, SIZES[name], ((low, rng.randrange(low, SIZES[name])),))
            where = where | box if rng.random() < 0.8 else where - box
        under = rng.choice([1, 10, 7, 10**30, 2**200 + 1])
        charges.append((where, Fraction(rng.randint(0, 5 * under), under), Fraction(rng.randint(0, 9), 3)))
    return charges


def at(charges, point):
    return [where.holds(point) for where, _, _ in charges]


def brute_cover(charges):
    return max(
        sum(one for (_, one, _), holds in zip(charges, at(charges, p), strict=True) if holds) for p in POINTS
    )


def brute_pair(charges, absent):
    held = [at(charges, point) for point in POINTS] + ([[False] * len(charges)] if absent else [])
    return max(
        sum(
            (0, one, both)[left + right]
            for (_, one, both), left, right in zip(charges, first, second, strict=True)
        )
        for first, second in itertools.combinations_with_replacement({*map(tuple, held)}, 2)
    )


def test_random_charges_agree_with_enumeration():
    rng = random.Random(7)
    for _ in range(400):
        charges = draw_charges(rng, rng.randint(1, 8))
        found = max_cover((where, one) for where, one, _ in charges)
        assert found == cover.Cover(brute_cover(charges), exact=True)
        for absent in (False, True):
            assert max_pair(charges, absent=absent) == cover.Cover(brute_pair(charges, absent), exact=True)


@pytest.mark.parametrize("atoms", [2, 3, 5])
def test_too_many_atoms_give_a_bound_that_is_never_below(atoms, monkeypatch):
    monkeypatch.setattr(bunches, "MOST_ATOMS", atoms)
    bunches._knot_of.cache_clear()
    rng = random.Random(8)
    above = 0
    for _ in range(200):
        charges = draw_charges(rng, rng.randint(2, 6))
        for found, truth in [
            (max_cover((where, one) for where, one, _ in charges), brute_cover(charges)),
            (max_pair(charges), brute_pair(charges, absent=False)),
            (max_pair(charges, absent=True), brute_pair(charges, absent=True)),
        ]:
            assert found.value == truth if found.exact else found.value >= truth
            assert found.value <= sum(max(one, both) for _, one, both in charges)
            above += not found.exact
    bunches._knot_of.cache_clear()
    assert above > 100


@pytest.mark.parametrize("atoms", [2, 4, 1024])
def test_charges_laid_one_by_one_in_any_order_cost_what_they_cost_at_once(atoms, monkeypatch):
    monkeypatch.setattr(bunches, "MOST_ATOMS", atoms)
    bunches._knot_of.cache_clear()
    rng = random.Random(9)
    divided = 0
    for _ in range(60):
        charges = [
            charge for charge in draw_charges(rng, rng.randint(2, 9)) for _ in range(rng.randint(1, 2))
        ]
        rng.shuffle(charges)
        cut = rng.randrange(len(charges))
        laid = Layers.of(charges[:cut])
        for charge in charges[cut:]:
            laid = laid.plus(*charge)
        assert laid.at_one == Layers.of(charges).at_one
        assert laid.at_one.value >= brute_cover(charges)
        for absent in (False, True):
            found = laid.at_two(absent=absent)
            assert found == max_pair(charges, absent=absent)
            assert found.value >= brute_pair(charges, absent)
        divided += not laid.at_one.exact
    bunches._knot_of.cache_clear()
    assert (divided > 20) == (atoms < 1024)


def test_nothing_and_no_charges_cost_nothing():
    assert max_cover([]).value == max_pair([]).value == max_pair([], absent=True).value == 0
    assert max_cover([(nothing(), Fraction(5))]).value == 0
    assert max_pair([(nothing(), Fraction(5), Fraction(5))], absent=True).value == 0


def test_columns_apart_add_exactly_however_many():
    charges = [(codes_in(f"c{number}", 5, ((1, 2),)), Fraction(1, 3), Fraction(1)) for number in range(60)]
    assert max_cover((where, one) for where, one, _ in charges) == cover.Cover(Fraction(20), exact=True)
    assert max_pair(charges) == cover.Cover(Fraction(60), exact=True)


def test_five_hundred_disjoint_parts_cost_what_one_does_and_are_quick():
    start = time.process_time()
    charges = [
        (codes_in("c", 501, ((code, code),)), Fraction(1, 7 + code), Fraction(0)) for code in range(500)
    ]
    assert max_cover((where, one) for where, one, _ in charges) == cover.Cover(Fraction(1, 7), exact=True)
    assert max_pair(charges) == cover.Cover(Fraction(1, 7) + Fraction(1, 8), exact=True)
    assert time.process_time() - start < 20


def test_a_hundred_overlapping_ranges_are_exact_and_quick():
    start = time.process_time()
    charges = [(codes_in("c", 200, ((low, low + 99),)), Fraction(1), Fraction(1, 3)) for low in range(100)]
    assert max_cover((where, one) for where, one, _ in charges).value == 100
    assert max_pair(charges) == cover.Cover(Fraction(100), exact=True)
    assert time.process_time() - start < 10


def test_parts_of_queries_feed_the_accountant():
    """Histograms of two disjoint groups, replaced rows: within one group 2, across the groups 1 + 1."""
    schema = Schema(PEOPLE.columns)
    young, old = (Histogram("sex", where=parse(text, schema)) for text in ("age <= 20", "age > 20"))
    charges = [
        (part.where, part.sensitivity.one, part.sensitivity.both)
        for query in (young, old, Count(where=parse("age > 20", schema)))
        for part in query.parts(schema)
    ]
    assert max_pair(charges).value == 3
    assert max_cover((where, one) for where, one, _ in charges).value == 2
