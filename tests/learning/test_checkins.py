"""Check-ins as others publish them, and the places that people have."""

import gzip

import numpy as np
import pytest

from entwined.errors import BadInput, BadModel
from entwined.learning.checkins import Checkins, Spot, distances, read_place_visits, read_snap_checkins

SNAP = "".join(
    f"{user}\t2010-10-{day:02}T23:55:27Z\t{lat}\t{lon}\t{place}\n"
    for user, day, lat, lon, place in [
        (7, 19, 30.2, -97.8, 22847),
        (7, 18, 40.7, -74.0, 420315),
        (7, 17, 40.7, -74.0, 420315),
        (9, 16, 40.8, -74.0, 5),
    ]
)
NEW_YORK = Spot("New York", 40.7128, -74.0060)


def test_snap_check_ins(tmp_path):
    path = tmp_path / "checkins.txt.gz"
    path.write_bytes(gzip.compress(SNAP.encode()))
    found = read_snap_checkins(path)
    assert found.people.tolist() == [7, 7, 7, 9]
    assert found.places.tolist() == [22847, 420315, 420315, 5]
    assert found.within(NEW_YORK, 25).regulars(2).tolist() == [7]
    assert found.within(NEW_YORK, 5).regulars(1).tolist() == [7]
    most = found.patterns(np.array([9, 7]), 3)
    assert most.tolist() == [
        [[40.8, -74.0]] * 3,
        [[40.7, -74.0], [30.2, -97.8], [40.7, -74.0]],
    ], "the most visited first, in turn where there are fewer"


def test_visits_with_places_in_a_second_file(tmp_path):
    visits, places = tmp_path / "visits.csv", tmp_path / "places.csv"
    visits.write_text("user,poi,visits,part\n3,1,4,test\n3,0,5,tune\n8,1,1,test\n")
    places.write_text("poi,lat,lon\n1,40.7,-74.0\n0,30.2,-97.8\n")
    found = read_place_visits(visits, places)
    assert found.visits.tolist() == [4, 5, 1]
    assert found.degrees.tolist() == [[40.7, -74.0], [30.2, -97.8], [40.7, -74.0]]
    assert found.regulars(5).tolist() == [3]
    places.write_text("poi,lat,lon\n0,30.2,-97.8\n")
    with pytest.raises(BadInput, match="not in places"):
        read_place_visits(visits, places)


def test_distances_on_earth():
    assert distances((0, 0), (0, 180)) == pytest.approx(np.pi * 6371)
    assert distances((90, 0), (0, 77)) == pytest.approx(np.pi * 6371 / 2)
    assert distances([(10, 20)] * 2, (10, 20)).tolist() == [0, 0]


def test_what_is_no_check_in_is_refused(tmp_path):
    path = tmp_path / "checkins.txt"
    for text, words in [
        (SNAP + "1\t2010\t3.0\t4.0\n", "5 cells"),
        ("# nothing\n", "begins with a number"),
        ("1 2\n", "5 cells"),
    ]:
        path.write_text(text)
        with pytest.raises(BadModel, match=words):
            read_snap_checkins(path)
    with pytest.raises(BadInput, match="on earth"):
        Checkins(np.array([1]), np.array([1]), np.array([[91.0, 0.0]]), np.array([1]))
    with pytest.raises(BadInput, match="no check-in"):
        Checkins(*(np.array([1]),) * 2, np.array([[1.0, 0.0]]), np.array([1])).patterns(np.array([1, 2]), 2)
