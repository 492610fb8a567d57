"""k-means: no row moves the sums further than is charged, intervals hold, and every model and noise is served."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Graph, Groups
from entwined.door.door import Door
from entwined.errors import BadQuery
from entwined.ledger import Ledger
from entwined.mechanisms.clusters import Rounds
from entwined.mechanisms.k_means import KMeans, _fold, _statistic
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.offered import settled
from entwined.mechanisms.space import SIDE, Space, weight_of
from entwined.promise.declared import Declared
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.request.verification import verify
from entwined.schema import Boolean, Cells, Integer, Real, Schema, Text
from entwined.tables import open_table

TINY = Schema((Integer("x", 0, 3), Integer("y", 0, 2)), most_rows=100)
COLUMNS = (Text("home", compare="exact"), Real("x", 0, 10, step="0.01"), Real("y", 0, 10, step="0.01"))
PLACES = Schema(COLUMNS, most_rows=4000).approve()
CENTRES = np.array([[2, 2], [8, 3], [5, 8.0]])


def places(rows=3900):
    rng = np.random.default_rng(3)
    where = np.clip(CENTRES[rng.integers(0, 3, rows)] + rng.normal(0, 0.5, (rows, 2)), 0, 10)
    return pa.table({"home": [f"h{at // 3}" for at in range(rows)], "x": where[:, 0], "y": where[:, 1]})


def sums_of(space, fold, row, weight):
    """What a row alone adds to the sums that noise is added to."""
    (vector,) = fold.vectors(row[None])
    return space.summed(vector.reshape(fold.groups, -1), weight).reshape(-1)


@pytest.mark.parametrize("centres", [1, 2, 3])
@pytest.mark.parametrize("root", [3, 4])
def test_no_single_row_moves_the_sums_further_than_is_charged(centres, root):
    """Every table of two rows that differ in one of them, missing values included, under centres anywhere."""
    space = Space.of(TINY, ["x", "y"])
    weight, reach = weight_of(space, root), space.factors * space.last
    rng = np.random.default_rng(centres)
    rows = np.array(list(itertools.product(range(5), range(4))))
    reached = 0.0
    anywhere = rng.integers(-reach, reach + 1, (5, centres, 2))
    for starts in [space.spread(centres), np.zeros((centres, 2), np.int64), *anywhere]:
        statistic = _statistic(space, starts, weight)
        moved = np.array([sums_of(space, statistic.aggregate, row, weight) for row in rows], float)
        change = np.abs(moved[:, None] - moved[None])
        assert np.abs(moved).sum(axis=1).max() <= statistic.row.one
        assert change.sum(axis=2).max() <= statistic.row.both
        squared = statistic.squared(statistic.row)
        assert (moved**2).sum(axis=1).max() <= squared.one
        assert (change**2).sum(axis=2).max() <= squared.both
        reached = max(reached, float((change**2).sum(axis=2).max() / squared.both))
        assert all(alone >= change.sum(axis=2).max() for _, alone in statistic.alone)
    assert reached > 0.999  # but for what is left of the grid


def test_sums_of_many_rows_are_those_of_each_row_alone_in_any_order():
    """Rows beside it, and where a batch is cut, never change which centre a row is nearest to."""
    rng = np.random.default_rng(8)
    space = Space.of(PLACES, ["x", "y"])
    fold = _fold(space, rng.integers(-SIDE, SIDE, (7, 2)))
    codes = rng.integers(0, 1002, (9001, 2))
    alone = sum(fold.vectors(row[None])[0] for row in codes[:300])
    assert np.array_equal(fold.sums(codes[:300], np.int64), alone)
    whole = fold.sums(codes, np.int64)
    assert np.array_equal(whole, fold.sums(rng.permutation(codes), object))
    assert np.array_equal(whole, fold.sums(codes[:4000], np.int64) + fold.sums(codes[4000:], np.int64))


HOMES = Declared(Groups(3), by="home")
FRIENDS = Declared(Graph(4000, np.array([[0, 1], [1, 2]]), np.float64(0.2)))


@pytest.mark.parametrize("side", [SIDE, 2**24])
@pytest.mark.parametrize("centres", [1, 5, 40])
def test_the_nearest_centre_is_the_one_of_whole_numbers_the_first_of_equals(side, centres):
    """Held against Python's integers, with many ties; on the larger grid no room is left for a centre's number."""
    columns = (Integer("x", 0, side), Integer("y", 0, 6), Integer("z", 0, 1))
    space = Space.of(Schema(columns, most_rows=100), ["x", "y", "z"])
    rng = np.random.default_rng(centres)
    reach = space.factors * space.last
    points = np.vstack([rng.integers(-reach, reach + 1, (centres, 3)), np.zeros((2, 3), np.int64)])
    nearest = space.nearest(np.vstack([points, points[:3]]))
    codes = np.column_stack([rng.integers(0, side, 300), rng.integers(0, 8, 300), rng.integers(0, 2, 300)])
    codes[:40] = 0
    places = (space.factors * (2 * codes - space.last)).tolist()
    far = [
        [sum((a - b) ** 2 for a, b in zip(place, point, strict=True)) for point in points.tolist()]
        for place in places
    ]
    expected = [
        one.index(min(one)) if code <= 6 else -1 for one, code in zip(far, codes[:, 1].tolist(), strict=True)
    ]
    assert nearest(codes)[:, 0].tolist() == expected
    assert np.array_equal(nearest(codes), nearest(np.asfortranarray(codes).astype(np.uint32)))


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("model", [HOMES, FRIENDS], ids=["groups", "graph"])
def test_clusters_are_found_under_every_model_and_noise(tmp_path, model, delta):
    promise = Promise.of(PLACES, [model], measure=measure_of(delta))
    mechanism = settled(KMeans, promise, {"columns": ["x", "y"], "centres": 3, "rounds": 3}, leakage=4)
    price = promise.price({part.key: part for part in mechanism.parts(promise)})
    assert 3.9 < price.worst <= 4
    with (
        Ledger.create(tmp_path / "l.db", Fraction(5), promise, anchor=tmp_path / "a") as ledger,
        open_table(places(), PLACES) as table,
    ):
        passed = Door(table, promise, ledger).admit(mechanism)
    assert verify(passed.certificate, PLACES).valid
    assert mechanism_from(mechanism.document, promise) == mechanism
    found = np.array(passed.output.centres, float)
    assert np.abs(found - CENTRES[np.argsort(CENTRES[:, 0])]).max() < 0.5
    assert not passed.output.drowned


def test_each_cell_is_charged_for_moving_its_row_to_another_centre():
    schema = Schema((Integer("x", 0, 99), Integer("y", 0, 99)), unit=Cells()).approve()
    promise = Promise.of(schema)
    parts = KMeans.of(promise, ["x", "y"], 3, 2, 1).parts(promise)
    assert [(part.one, part.both) for part in parts] == [(0, 1), (0, 1)]


def test_intervals_hold_wherever_noise_stays_within_its_width():
    promise = Promise.of(PLACES)
    mechanism = KMeans.of(promise, ["x", "y"], 3, 1, 1)
    rounds = Rounds(mechanism.space, mechanism.space.spread(3), mechanism.weight, mechanism.noise)
    (fold,) = mechanism.needs(PLACES)
    codes = np.random.default_rng(1).integers(0, 1001, (4000, 2))
    exact = mechanism.space.summed(fold.sums(codes, np.int64).reshape(3, -1), mechanism.weight).reshape(-1)
    nearest = fold.function(codes)[:, 0]
    truth = sorted(tuple(codes[nearest == at].mean(axis=0) / 100) for at in range(3))
    width = mechanism.noise.half_width(Fraction(39, 40))
    for signs in itertools.product((-1, 1), repeat=3):
        noise = np.tile(np.array(signs) * width, 3)
        found = rounds.clusters([(exact + noise).tolist()])
        for one, mean in zip(found.found, truth, strict=True):
            assert all(
                low - 1e-9 <= at <= high + 1e-9 for low, at, high in zip(one.low, mean, one.high, strict=True)
            )
            assert not one.drowned
            assert one.high[0] - one.low[0] < 4


def test_centres_that_drown_say_so_and_start_again_beside_the_largest():
    promise = Promise.of(PLACES)
    mechanism = KMeans.of(promise, ["x", "y"], [[1, 1], [9, 9]], 2, 1)
    rounds = Rounds(
        mechanism.space, np.array([[-50_000, -50_000], [50_000, 50_000]]), mechanism.weight, mechanism.noise
    )
    rows = 5000
    drawn = [rows * mechanism.weight, rows * 1000, rows * 2000, 0, 0, 0]
    assert rounds.centres([drawn]).tolist() == [[1000, 2000], [1000 + 6250, 2000 + 6250]]
    found = rounds.clusters([drawn])
    assert [one.drowned for one in found.found] == [False, True]
    lost = found.found[1]
    assert (lost.low, lost.high) == ((0, 0), (10, 10))
    assert "1 of 2 centres drowned" in found.sheet.notes[1]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"columns": ["x"], "centres": 0}, "whole number from 1"),
        ({"columns": ["x"], "centres": 2, "rounds": 101}, "whole number from 1"),
        ({"columns": ["x"]}, "either centres"),
        ({"columns": ["x"], "centres": 2, "starts": [[1]]}, "either centres"),
        ({"columns": [], "centres": 2}, "needs columns"),
        ({"columns": ["x", "x"], "centres": 2}, "each once"),
        ({"columns": ["x"], "starts": [[1, 2]]}, "2 values"),
        ({"columns": ["x"], "starts": [[11]]}, "outside the declared bounds"),
        ({"columns": ["x"], "starts": [["far"]]}, "a number"),
        ({"columns": ["home"], "centres": 2}, "home"),
    ],
)
def test_what_is_no_k_means_is_refused(given, why):
    with pytest.raises(BadQuery, match=why):
        settled(KMeans, Promise.of(PLACES), given, leakage=1)


def test_truth_values_have_distances_too_and_public_columns_need_no_noise():
    schema = Schema((Boolean("member"), Integer("age", 0, 99)), most_rows=100).approve()
    assert KMeans.of(Promise.of(schema), ["member", "age"], [[True, 20], [False, 60]], 2, 1).centres == 2
    public = Schema((Integer("age", 0, 99, public=True),), unit=Cells()).approve()
    with pytest.raises(BadQuery, match="public"):
        KMeans.of(Promise.of(public), "age", 2, 2, 1)
