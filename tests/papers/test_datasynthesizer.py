"""The lecture that runs: golden figures, tables of the slide, and people from wherever they are at hand."""

import csv
import gzip
import json
import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.errors import BadInput, BadTable
from entwined.learning.codes import Codes
from entwined.papers.datasynthesizer import NOTICE, experiments, lecture, modes, networks, pages, people
from entwined.papers.datasynthesizer.reconstruction import reconstructions


@pytest.fixture(scope="module")
def drawn():
    return people.made_up(np.random.default_rng(1), 20_000)


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch):
    monkeypatch.delenv("ENTWINED_DATA", raising=False)
    monkeypatch.setattr(people, "find_spec", lambda _: None)


def test_the_four_queries_add_up_to_one_and_a_fifth_and_disjointness_saves_a_fifth():
    found = [one.epsilon for one in lecture.four_queries()]
    assert found == pytest.approx([1.2, 1.0, 1.0, 0.7, 2.0])


def test_sensitivities_are_those_of_all_small_tables():
    assert [(one.add_remove, one.replace) for one in lecture.sensitivities()] == [
        (1, 0),
        (1, 1),
        (0.5, pytest.approx(1 / 3)),
        (100, 100),
        (1, 2),
        (1, pytest.approx(2 / 3)),
        (3, 3),
    ]


def test_answers_agree_afterwards_and_are_the_weighted_least_squares():
    everybody, male, female, old = lecture.consistent_answers()
    assert (everybody.consistent, male.consistent, female.consistent) == (2004, 1006, 998)
    assert male.consistent + female.consistent == everybody.consistent
    assert (old.returned, old.consistent) == (1789, 1789)
    assert male.estimate + female.estimate == pytest.approx(everybody.estimate)


def test_too_many_accurate_answers_give_the_table_away():
    found = reconstructions(5, np.random.default_rng(0))
    assert found[0].right == 1
    assert found[-1].epsilon == 1
    assert found[-1].right < 0.65


# Networks


def test_the_slide_is_found_again_but_for_its_misprint(drawn):
    found = networks.slide_compared(drawn)
    assert len(found) == 32
    wrong = [one for one in found if abs(one.slide - one.found) > 0.03]  # 20,000 people
    assert [one.is_misprint for one in wrong] == [True]
    assert wrong[0].found == pytest.approx(0.5, abs=0.02)


def test_a_number_that_rounds_otherwise_is_not_called_the_same():
    """Of Adult 0.1757 stands beside the slide's 0.17: near, and not what rounding gives."""
    near = networks.TableCompared("age", (0, 2), 0.17, 0.1757)
    assert near.same
    assert not near.rounds
    assert pages._verdict(near) == "rounded otherwise"
    assert pages._verdict(near._replace(found=0.1743)) == "same"
    assert pages._verdict(networks.TableCompared(*people.MISPRINT, 0.59, 0.5006)) == "misprint"


@pytest.mark.parametrize(("epsilon", "most"), [(10, 0.02), (1, 0.05)])
def test_noise_moves_the_tables_of_the_slide_by_little(drawn, epsilon, most):
    off = networks.mean_off(drawn, epsilon, 3, np.random.default_rng(2))
    assert 0 < off < most


def test_information_is_moved_by_no_more_than_it_says():
    """Every table of 6 rows and two bits, one row replaced."""
    rows = 6
    worst = 0.0
    cells = list(product((0, 1), repeat=2))
    for counts in product(range(rows + 1), repeat=4):
        if sum(counts) != rows:
            continue
        values = [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
        before = networks.information(Codes.of({"a": 2, "b": 2}, values), 0, [1])
        for other in cells:
            after = networks.information(Codes.of({"a": 2, "b": 2}, [other, *values[1:]]), 0, [1])
            worst = max(worst, abs(after - before))
    assert 0 < worst <= networks.moved(rows)


def test_without_noise_the_best_parents_are_taken(drawn):
    best = networks.searched(drawn, 2, math.inf, np.random.default_rng(0))
    assert best.parents[0] == (people.SEX, ())
    assert len(best.parents) == 4
    assert best.most_parents == 2
    chances = [networks.searched(drawn, 2, 1e-9, np.random.default_rng(at)) for at in range(20)]
    assert len(set(chances)) > 5


def test_modes_come_in_the_order_of_what_they_keep(drawn):
    tried = {(one.mode, one.epsilon): one for one in modes.modes_tried(drawn, 1, np.random.default_rng(3))}
    at_one = [tried[mode, 1.0].two_way for mode in modes.MODES]
    assert at_one[0] > 15 > at_one[1] > 3 > at_one[2]
    assert tried["correlated, K = 2", 1.0].three_way < tried["independent", 1.0].three_way / 2
    assert tried["random", 1.0].two_way > at_one[3]


# People


def adult(path, opened):
    with opened(path, "wt") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "education", "sex", "income"])
        writer.writerows(
            [
                ["30", "Masters", "Male", ">50K."],
                ["31", " HS-grad", "Female", "<=50K"],
                ["51", "Doctorate", "Male", ">50K"],
            ]
        )


def test_people_are_read_from_the_folder_or_a_package_or_made_up(tmp_path, monkeypatch):
    assert people.four_columns().source.startswith("generated")
    assert people.compas() is None
    (tmp_path / "data" / "raw").mkdir(parents=True)
    adult(tmp_path / "data" / "raw" / "adult.csv", open)
    (tmp_path / "data" / "raw" / "propublica-recidivism.csv").write_text(
        "sex,age_cat,race,score_text,two_year_recid\nMale,25 - 45,Other,High,1\nMale,25 - 45,Other,N/A,1\n"
    )
    monkeypatch.setattr(
        people,
        "find_spec",
        lambda _: SimpleNamespace(submodule_search_locations=[str(tmp_path)]),
    )
    found = people.four_columns()
    assert "package" in found.source
    assert found.codes.values.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [1, 2, 0, 1]]
    assert people.compas().values.tolist() == [[1, 1, 0, 2, 1]]
    (tmp_path / "adult").mkdir()
    adult(tmp_path / people.FILE, gzip.open)
    monkeypatch.setenv("ENTWINED_DATA", str(tmp_path))
    assert people.FILE in people.four_columns().source
    with pytest.raises(BadTable, match="lacks"):
        people.coded([{"age": "x", "education": "", "sex": "", "income": ""}])


def test_the_page_says_what_it_is_and_that_networks_are_not_causal(tmp_path):
    with pytest.raises(BadInput, match="0 trials"):
        experiments.run(people.four_columns(), 0)
    words = ["paper", "datasynthesizer", "-o", str(tmp_path), "--trials", "1", "--json"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["notice"] == NOTICE
    assert document["source"].startswith("generated")
    page = (tmp_path / "report.html").read_text()
    assert page.count("Not a causal graph") == 3
    assert "generated: people drawn from the slide" in page
    assert "no table has these answers" in page
    assert "pip install --no-deps fairness" in page
    assert page.count("<td>random</td><td>none</td>") == 1
    assert all(
        words.splitlines()[0][:60] in page.replace("&#x27;", "'") for words in pages.SLIPS.split("\n\n")
    )
    assert json.loads((tmp_path / "results.json").read_text())["four_queries"][0]["epsilon"] == 1.2
