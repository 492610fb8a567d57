"""Dependence makes you vulnerable: what the paper computes, what of it holds, and what a release adds."""

import ast
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from entwined.audit.attack import attack
from entwined.audit.vectors import Addend, NoisyVector
from entwined.bounds import bound
from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.noisy_sum import NoisySum
from entwined.bounds.scalar import exact_scalar_accountant_bound
from entwined.bounds.ties import ties_bound, ties_scale_bound
from entwined.cli.app import app
from entwined.dependence import Box, MarkovChain, ProductLaw, Ties
from entwined.dependence.product_law import UnitTable
from entwined.errors import BadInput, BadTable
from entwined.loss import Loss
from entwined.mechanisms.k_means import KMeans
from entwined.mechanisms.space import SIDE
from entwined.noise import DiscreteLaplace
from entwined.papers import dependent_dp
from entwined.papers.dependent_dp import (
    NOTICE,
    accuracy,
    classification,
    closeness,
    clustering,
    composition,
    degree_counts,
    example,
    experiments,
    figures,
    inference,
    noise_factors,
    pages,
    star,
    towns,
    verdicts,
)
from entwined.papers.dependent_dp.composition import Bits, together, told_truly
from entwined.promise.promise import Promise
from entwined.schema import Real, Schema

SOURCE = Path(dependent_dp.__file__).parent


@pytest.fixture(scope="module")
def town():
    return towns.made_up()


# Example 1 and figure 6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_the_sum_of_example_1_is_one_and_a_half_by_three_routes(epsilon):
    routes = [
        1 + example.pair_coefficient(epsilon),
        example.farthest(example.QUERIES["sum"]),
        example.by_integration(example.QUERIES["sum"], epsilon) / epsilon,
    ]
    assert routes == pytest.approx([1.5] * 3, abs=5e-4)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_subtraction_and_multiplication_are_as_by_hand(epsilon):
    subtraction, product = (
        example.by_integration(example.QUERIES[name], epsilon) for name in ("subtraction", "multiplication")
    )
    assert subtraction == pytest.approx(0.5 * epsilon, abs=5e-4)
    assert product == pytest.approx(
        epsilon / 2 + math.log((math.exp(epsilon / 2) - 1) / (epsilon / 2)), abs=5e-4
    )
    assert example.farthest(example.QUERIES["subtraction"]) == pytest.approx(0.5)


# Theorems


def test_parallel_composition_fails_under_dependence():
    found = {claim.case: claim for claim in composition.parallel()}
    assert [claim.holds for claim in found.values()] == [True, False, False], (
        "independent, and more and more dependent"
    )
    worst = list(found.values())[-1]
    assert worst.claimed == pytest.approx(1)
    assert worst.found == pytest.approx(1.9766, abs=5e-5)
    assert worst.found == pytest.approx(composition.golden())


def test_sequential_composition_fails_in_both_readings():
    blind, knowing = composition.sequential()
    assert (blind.claimed, blind.found) == (0, math.inf)
    assert knowing.found == pytest.approx(5.9501, abs=1e-4)
    assert knowing.claimed == pytest.approx(5.2233, abs=1e-4)


def test_base_losses_compose_where_leakages_do_not():
    """The same mechanisms: their base losses added first, and converted once, cover what is leaked."""
    pair = Bits(np.array([1, 69, 15, 59]) / 144)
    shares = np.array([[4, 1, 96, 7], [11, 4, 85, 18]]) / 100
    tables = [np.stack([share, 1 - share], axis=1) for share in shares]
    both = np.log(together(*tables)).reshape(2, 2, -1)
    losses = [np.ptp(both, axis=0).max(), np.ptp(both, axis=1).max()]
    law = np.log(pair.chances.reshape(2, 2))
    strength = abs(law[0, 0] + law[1, 1] - law[0, 1] - law[1, 0])
    certified = max(own + star.passed_on(other, strength) for own, other in (losses, losses[::-1]))
    assert pair.leakage(together(*tables)) <= certified


def test_pairs_miss_what_three_do_together():
    blind, knowing = composition.pairwise()
    assert knowing.found == pytest.approx(1.8855, abs=5e-5)
    assert 1 < blind.found < knowing.found


LAWS = st.integers(0, 10_000).map(np.random.default_rng)


@settings(max_examples=60)
@given(LAWS)
def test_what_is_done_afterwards_and_drawing_one_of_two_leak_no_more(generator):
    """Theorems 5 and 6."""
    law = Bits(generator.dirichlet(np.full(4, 0.5)) + 1e-9)
    one, other = (generator.dirichlet(np.ones(3), 4) for _ in range(2))
    after, share = generator.dirichlet(np.ones(2), 3), generator.random()
    for knowledge in ("model", "any"):
        losses = [law.leakage(table, knowledge) for table in (one, other)]
        assert law.leakage(one @ after, knowledge) <= losses[0] + 1e-9
        assert law.leakage(share * one + (1 - share) * other, knowledge) <= max(losses) + 1e-9


@settings(max_examples=60)
@given(LAWS)
def test_information_is_bounded_in_the_mean_and_not_for_each_output(generator):
    """Theorem 2."""
    law, table = generator.dirichlet(np.full(5, 0.5)), generator.dirichlet(np.ones(4), 5)
    loss = np.ptp(np.log(table), axis=0).max()
    assert composition._gains(law, table) @ (law @ table) <= loss


def test_one_output_can_say_more_than_epsilon():
    mean, single = composition.expected_information(np.random.default_rng(1))
    assert mean.holds
    assert not single.holds


def test_exact_leakage_is_that_of_the_pairwise_theorem():
    """Two bits that are equal with 0.8, each told with ε = 1: the theorem for pairs says the same."""
    law = composition.alike(0.8)
    told = together(*(told_truly(bit, 1.0) for bit in law.databases.T))
    chain = MarkovChain(2, Box.exact([[0.8, 0.2], [0.2, 0.8]]), np.array([0.5, 0.5]))
    assert law.leakage(told, "model") == pytest.approx(
        bound(chain, Loss.uniform(1, 2), "model").leakage.worst
    )


# Coefficients and noise


def test_coefficients_of_equation_26_are_golden():
    small, large = (noise_factors.coefficients(loss) for loss in (0.1, 1.0))
    assert (small.exact, large.exact) == pytest.approx((0.3778, 0.3803), abs=5e-5)
    assert (small.published, large.published) == pytest.approx((0.780, 0.785), abs=5e-4)
    assert small.log_odds == pytest.approx(4.976, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "by"), [("exact", ties_bound), ("published", ties_scale_bound)], ids=["14", "18"]
)
def test_the_factor_is_that_of_the_theorem_of_ties(which, by):
    spokes = np.stack([np.zeros(18, np.int64), np.arange(1, 19)], axis=1)
    model = Ties(19, spokes, noise_factors.kernel(), distances=towns.grid().distances())
    found = largest_multiple(by, model, Loss.uniform(1, 19), 1.0, "values", 1e-6)
    assert noise_factors.tied_factor(18, which) == pytest.approx(1 / found.multiple, rel=1e-5)


def test_the_sound_bound_is_the_group_for_friends_and_less_for_weak_ties(town):
    strong = noise_factors.sound_factor(town.size, town.friends, noise_factors.kernel_log_odds())
    assert strong == pytest.approx(town.component, rel=2e-3)
    weakest = noise_factors.strongest_ties(town.size, town.friends, 10.0)
    assert noise_factors.sound_factor(town.size, town.friends, weakest) <= 10.0 * 1.01
    assert noise_factors.sound_factor(town.size, town.friends, 2 * weakest) > 10.0


# People


def test_people_are_chosen_by_the_rule(town):
    near = [town.checkins.within(city, towns.RADIUS) for city in towns.CITIES]
    for number, person in enumerate(town.people[:30]):
        visits = [one.visits[one.people == person].sum() for one in near]
        assert max(visits) >= towns.LEAST_VISITS
        assert int(np.argmax(visits)) == town.city[number]
    assert town.patterns.shape == (town.size, 6, 2)
    assert (town.vectors.min(), town.vectors.max()) == (0, 1)
    back = towns.from_city(town.squares, town.city)
    assert back == pytest.approx(town.patterns[:, 0])


def test_the_printed_table_adds_up_and_two_of_its_regions_lie_outside():
    counts = np.array([paper for *_, paper in closeness.REGIONS])
    assert counts.sum(axis=0).tolist() == [6969, 98802, 17770]
    far = [one.name for one in closeness.regions(towns.made_up()) if one.kilometres > towns.RADIUS]
    assert far == ["San Jose", "Long Beach"]


def test_friends_are_nearer_than_strangers(town):
    generator = np.random.default_rng(1)
    medians = [np.median(one) for one in closeness.pair_distances(town, generator).values()]
    assert medians == sorted(medians)
    coloured = closeness.colours(town, generator)
    assert coloured.inside > 2 * coloured.by_chance


# What a release adds


def test_all_others_known_a_release_adds_at_most_epsilon(town):
    place = inference.Attackable.of(town, 25, np.random.default_rng(2))
    plain = noise_factors.NoiseMethod(noise_factors.PLAIN, 1.0)
    for epsilon in (0.5, 2.0):
        found = inference.guess(place, plain, epsilon, 1.0, friends=True, generator=np.random.default_rng(3))
        assert found.leaked == pytest.approx(found.before + found.added)
        assert found.largest_shift <= epsilon + 1e-9
        assert found.before > 10 * abs(found.added), "what Equation 11 shows was known before"


def test_noise_times_four_fifths_is_caught():
    """All others known: the exact shift is ε with the noise that ε needs, and above it with less."""
    laws = np.stack([star.count_law(0, 0.5, own) for own in (0, 1)])
    for one in star.friends_attack(3, 1, np.random.default_rng(1)):
        if one.known == 1:
            assert star.largest_shift(laws, 1 / one.epsilon) <= one.certificate + 1e-9
            assert star.largest_shift(laws, 0.8 / one.epsilon) > 1.2 * one.certificate


@pytest.fixture(scope="module")
def starred():
    return star.friends_attack(20, 20, np.random.default_rng(6))


def test_added_leaks_lie_between_epsilon_and_the_certificate(starred):
    assert {one.known for one in starred} == {0, 0.25, 0.5, 0.75, 1}
    for one in starred:
        assert one.epsilon - 1e-9 <= one.added <= one.dependent + 1e-9 <= one.certificate + 2e-9
        assert (one.added > one.epsilon + 1e-9) == (one.known < 1)
        assert 0 < one.nats <= one.added
    most = [one for one in starred if one.epsilon == 1]
    assert [one.before for one in most] == sorted(one.before for one in most), "more known, more known before"
    assert most[0].before == pytest.approx(0)
    assert most[-1].before > 0.5


@pytest.mark.parametrize(
    "known", [0.0, *(pytest.param(known, marks=pytest.mark.slow) for known in (0.5, 1.0))]
)
def test_an_attacker_who_sums_over_everybody_learns_as_much(known):
    """The product's own attacker over 400 cells of each of five people, by quite another calculation."""
    west = (towns.grid().centres[:, 0] < 0.5).astype(np.int64)
    tables = tuple(
        UnitTable((0, friend), noise_factors.kernel() * star.people_in_cells()[:, None] ** (1 / 4))
        for friend in range(1, 5)
    )
    law = ProductLaw((400,) * 5, tables)
    assert law.marginal(0) == pytest.approx(star.people_in_cells())
    count = NoisyVector(tuple(Addend((person,), west[:, None]) for person in range(5)), DiscreteLaplace(1))
    seen = attack(law, [count], 0, known=known, releases=300, generator=np.random.default_rng(7))
    one = next(
        one
        for one in star.friends_attack(4, 100, np.random.default_rng(8))
        if (one.epsilon, one.known) == (1, known)
    )
    assert seen.gained.at_worst == pytest.approx(one.added, abs=1e-6)
    assert seen.gained.nats == pytest.approx(one.nats, abs=5 * seen.gained.error + 0.01)


def test_twins_leak_what_the_exact_accountant_says():
    law = np.array([[0.8, 0.2], [0.3, 0.7]])
    for one in star.twins_attack(law, "twins"):
        assert one.epsilon - 1e-9 <= one.added <= one.dependent + 1e-9 <= one.certificate + 2e-9
    start = np.array([0.6, 0.4])  # the stationary law
    chain = MarkovChain(2, Box.exact(law), start)
    expected = exact_scalar_accountant_bound(NoisySum((0, 1), 1.0, 2), chain).worst
    found = next(one for one in star.twins_attack(law, "twins") if (one.epsilon, one.known) == (1.0, 0.0))
    assert found.added == pytest.approx(expected, abs=1e-6)


def test_count_laws_are_binomial():
    law = star.count_law(3, 0.25, 1)
    assert law.tolist() == pytest.approx([0, 27 / 64, 27 / 64, 9 / 64, 1 / 64])
    assert star.count_law(0, 0.5, 1).tolist() == [0, 1]


# Utility


def test_less_noise_is_more_useful(town):
    generator = np.random.default_rng(4)
    methods = [noise_factors.NoiseMethod("little", 1e-6), noise_factors.NoiseMethod("much", 1e6)]
    graph, profiles = degree_counts.made_up(), classification.made_up()
    for found in (
        clustering.clustering(town, methods, 2, generator),
        classification.classification(profiles, methods, 2, generator),
        degree_counts.degree_counts(graph, methods, 2, generator),
    ):
        accuracy_of = {
            name: np.mean([one.accuracy for one in found if one.method == name])
            for name in ("little", "much")
        }
        assert accuracy_of["little"] > max(0.7, accuracy_of["much"] + 0.1), found[0].task
    assert all(one.area > 0.7 for one in classification.classification(profiles, methods[:1], 1, generator))


def test_clusters_get_the_noise_of_the_mechanism():
    columns = [f"x{number}" for number in range(12)]
    schema = Schema(tuple(Real(name, 0, 1, step="0.001") for name in columns), most_rows=2000).approve()
    made = KMeans.of(Promise.of(schema), columns, 8, 1, 1)
    assert float(made.noise.scale) / (2 * SIDE) == pytest.approx(inference.SENSITIVITY, rel=1e-4)
    assert made.weight / (2 * SIDE) == pytest.approx(inference.WEIGHT, rel=1e-4)


def test_a_fit_is_a_minimum():
    profiles = classification.made_up(60)
    rows, longest = classification.seen_by_model(profiles)
    assert (rows**2).sum(axis=1).max() <= 1 + 1e-12
    assert np.abs(rows).sum(axis=1).max() <= longest + 1e-12
    push, ridge = np.random.default_rng(1).laplace(0, 2, (rows.shape[1], 1)), 0.7
    weights = classification.RidgeFit.of(rows, profiles.labels).minimisers(push, np.array([ridge]))
    signs = 2.0 * profiles.labels - 1
    slope = ridge * weights + push - rows.T @ (signs / (1 + np.exp(signs * (rows @ weights[:, 0]))))[:, None]
    assert np.abs(slope).max() < 1e-4


def test_scores_by_hand():
    assert classification.scored(np.array([-1.0, 2.0, 0.5, -3.0]), np.array([0, 1, 0, 0])) == (0.75, 1.0)
    assert classification.scored(np.array([3.0, -1.0]), np.array([0, 1])) == (0.0, 0.0)


def test_groups_of_alike_people_are_joined_over_blocks(monkeypatch):
    from entwined.learning import affinity

    profiles = classification.Profiles(
        "a test", np.array([[1, 0], [0, 1], [1, 0.1], [0, 1], [1, 0]]), np.zeros(5, np.int64)
    )
    for cells in (1, 1000):
        monkeypatch.setattr(affinity, "BLOCK_CELLS", cells)
        found = classification.alikeness(profiles)
        assert (found.most_ties, found.component) == (2, 3)


def test_theorem_10_holds_for_one_number_and_fails_for_more():
    one, some, many = accuracy.tenth(np.random.default_rng(5))
    assert [found.refuted for found in (one, some, many)] == [False, True, True]
    assert many.happened / many.trials == pytest.approx(many.true, abs=0.01)


# The command


def test_nothing_here_can_release():
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.module if isinstance(node, ast.ImportFrom) else ""
            assert not re.match(r"entwined\.(door|request|ledger|noise|tables)\b", name or ""), path


def undrawn(found, folder):
    """Figures take longer than all else: here one is drawn, and the others are empty."""
    names = [f"figure_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10)]
    paths = {name: folder / f"{name}.svg" for name in (*names, "added")}
    for path in paths.values():
        path.write_text("<svg></svg>")
    figures.separation_figure(found).save(paths["figure_6"])
    return paths


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_command_judges_every_figure_and_writes_one_page(tmp_path, monkeypatch, drawn):
    monkeypatch.delenv(experiments.FOLDER, raising=False)
    if not drawn:
        monkeypatch.setattr(pages, "draw_figures", undrawn)
    done = CliRunner().invoke(
        app, ["paper", "dependent-dp", "-o", str(tmp_path / "out"), "--trials", "2", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["notice"] == NOTICE
    judged = {one["part"]: one["verdict"] for one in found["verdicts"]}
    assert set(judged.values()) <= {verdicts.REPRODUCED, verdicts.NOT_REPRODUCIBLE, verdicts.WRONG}
    for part in ("Example 1, figure 1", "Figure 6", "Figure 3", "Theorem 5", "Theorem 6"):
        assert judged[part] == verdicts.REPRODUCED
    for part in ("Theorem 3", "Theorem 4", "Theorem 9", "Theorem 10", "Figure 5(b)"):
        assert judged[part] == verdicts.WRONG
    for one in found["added"]:
        assert one["added"] <= one["certificate"] + 1e-9
    page = (tmp_path / "out" / "report.html").read_text()
    assert NOTICE in page
    assert page.count("<svg") == 10
    assert not re.search(r"<(script|link|img)\b|(src|href)=\"http", page), "it needs nothing else"
    assert {Path(file).name for file in found["files"]} >= {
        "report.html",
        "results.json",
        "utility.csv",
        "figure_2.svg",
    }


def guessed(friends, leaked, shift, mechanism=noise_factors.PLAIN):
    return inference.Guessed(mechanism, friends, 1.0, 1.0, 3.0, leaked, 2.0, 0.5, shift)


def test_verdicts_are_words_for_what_was_computed():
    """Other figures than those that were found have other verdicts, and other words beside them."""
    within = verdicts._fifth([guessed(False, 1.0, 0.9)], [guessed(True, 2.5, 1.0)])
    beyond = verdicts._fifth([guessed(False, 1.0, 0.9)], [guessed(True, 2.5, 1.4)])
    assert (within.verdict, beyond.verdict) == (verdicts.WRONG, verdicts.REPRODUCED)
    assert "above ε in 0 of 2 cases. So it does not" in within.why
    assert "1.4 times ε, above ε in 1 of 2 cases. So the release itself" in beyond.why
    leak = star.AddedLeak("friends", 1.0, 0.0, 3, 1.0, 0.2, 1.7, 2.0, 2.5)
    for leaked, verdict in ((0.9, verdicts.REPRODUCED), (1.1, verdicts.WRONG)):
        shielded = guessed(True, leaked, 0.5, noise_factors.PUBLISHED)
        judged = verdicts._seventh(SimpleNamespace(guesses=[shielded], added=[leak]))
        assert judged.verdict == verdict
        assert "above the bound in 0 of 1 cases" in judged.why
    one = closeness.Region("Here", 3.0, 100, 9, 9, (102, 1, 1))
    other = closeness.Region("There", 30.0, 50, 9, 9, (100, 1, 1))
    for lines, verdict in (((one,), verdicts.REPRODUCED), ((one, other), verdicts.NOT_REPRODUCIBLE)):
        judged = verdicts._table_1(SimpleNamespace(regions=lines))
        assert judged.verdict == verdict
        assert ("There (30 km)" in judged.why) == (other in lines)
    flat, sharp = np.full(4, 0.25), np.array([0.7, 0.1, 0.1, 0.1])
    for prior, verdict in (
        ((flat, sharp, 0), verdicts.REPRODUCED),
        ((sharp, flat, 0), verdicts.NOT_REPRODUCIBLE),
    ):
        assert verdicts._fourth(SimpleNamespace(prior=inference.Prior(*prior))).verdict == verdict


def test_bad_arguments_and_an_empty_folder_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(experiments.FOLDER, str(tmp_path))
    with pytest.raises(BadTable, match="has none of"):
        experiments.paper_data()
    monkeypatch.delenv(experiments.FOLDER)
    with pytest.raises(BadInput, match="1 or more"):
        experiments.run(None, 0)
    result = CliRunner().invoke(app, ["paper", "dependent-dp", "-o", str(tmp_path), "--beside", "x.csv"])
    assert isinstance(result.exception, BadInput) or result.exit_code == 2
