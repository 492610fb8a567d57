"""Tabular-DDP as published: what it computes, what it claims, and that it leaks."""

import ast
import csv
import json
import math
import subprocess
import sys
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaincc

from entwined.bounds import bound
from entwined.cli import main
from entwined.errors import BadInput, BadTable
from entwined.loss import Loss
from entwined.papers.tabular_ddp import NOTICE, claims, leaks, mechanism, pages, populations, surveys
from entwined.papers.tabular_ddp.network import Counts, Network, description_length, learn_network
from entwined.papers.tabular_ddp.readings import (
    BY_FIGURES,
    BY_LEMMA,
    PRINTED,
    Reading,
    coefficient,
    coefficients,
    dependent_sensitivity,
)
from support import oracle

SOURCE = Path(mechanism.__file__).parent
LN2, INFINITE = math.log(2), math.inf


def survey(codes, name="made up"):
    columns = [(f"q{at}", column) for at, column in enumerate(np.asarray(codes).T)]
    return surveys.PaperSurvey.of(name, columns, "a test")


def copies(population, times):
    return Counts.of(np.tile(population.counts.codes, (times, 1)), population.counts.sizes)


# LearnNetwork


def networks(columns):
    """Every directed acyclic graph."""
    subsets = [[above for size in range(columns) for above in combinations(others, size)]
               for others in ([one for one in range(columns) if one != child] for child in range(columns))]  # fmt: skip
    for parents in product(*subsets):
        orders = permutations(range(columns))
        if any(all(set(parents[c]) <= set(order[:at]) for at, c in enumerate(order)) for order in orders):
            yield parents


def length_by_hand(codes, sizes, parents):
    total = 0.0
    for child, above in enumerate(parents):
        seen = {}
        for row in codes.tolist():
            seen.setdefault(tuple(row[parent] for parent in above), []).append(row[child])
        for answers in seen.values():
            total -= sum(math.log(answers.count(answer) / len(answers)) for answer in answers)
        total += math.log(len(codes)) / 2 * (sizes[child] - 1) * math.prod(sizes[parent] for parent in above)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_learned_network_is_the_best_of_all(seed):
    generator = np.random.default_rng(seed)
    sizes = [2, 3, 2, 2]
    a, c = generator.integers(0, 2, (2, 60))
    b = (a + generator.integers(0, 2, 60)) % 3
    d = a ^ c ^ (generator.random(60) < 0.1)
    counts = Counts.of(np.stack([a, b, c, d], axis=1), sizes)
    found = learn_network(counts)
    assert description_length(counts, found) == pytest.approx(
        length_by_hand(counts.codes, sizes, found.parents)
    )
    best = min(length_by_hand(counts.codes, sizes, parents) for parents in networks(4))
    assert description_length(counts, found) == pytest.approx(best, abs=1e-9)
    assert list(found.edges), "a test without edges would see little"


def test_the_monty_hall_network_is_found_in_games():
    game = populations.monty_hall()
    assert learn_network(copies(game, 50)).parents == game.network.parents == ((), (), (0, 1))


def test_bad_chunks_and_networks_are_refused():
    with pytest.raises(BadTable, match="cycles"):
        Network((2, 2), ((1,), (0,)))
    with pytest.raises(BadTable, match="outside its column"):
        Counts.of(np.array([[0, 2]]), (2, 2))
    with pytest.raises(BadTable, match="smaller chunks"):
        learn_network(Counts.of(np.zeros((3, 21), np.int64), (2,) * 21))
    with pytest.raises(BadInput, match="chunk size"):
        mechanism.split_columns(3, 0)


# Dependent sensitivity


def test_coefficients_by_hand():
    counts = np.array([[8, 2], [4, 6]])  # 0.8 0.2 / 0.4 0.6
    assert coefficient(counts, 0, "skipped") == pytest.approx(math.log(3))
    assert coefficient(counts, 0, "smoothed") == pytest.approx(math.log((7 / 12) / (3 / 12)))
    zero = np.array([[5, 5, 0], [0, 2, 8]])
    assert coefficient(zero, 0, "kept") == INFINITE
    assert coefficient(zero, 0, "skipped") == pytest.approx(math.log(0.5 / 0.2))
    decided = np.array([[5, 0], [0, 5]])
    assert coefficient(decided, 0, "skipped") == 0, "a column that another decides looks independent"


@pytest.mark.parametrize(
    ("reading", "each", "sensitivity"),
    [
        (Reading(zeros="kept"), INFINITE, INFINITE),
        (PRINTED, 0.0, 0.0),
        (Reading("family"), LN2, 2 * LN2),
        (Reading("family", total="answer"), LN2, 2 * LN2),
        (Reading("family", total="edge"), LN2, LN2),
    ],
    ids=str,
)
def test_monty_hall_by_hand(reading, each, sensitivity):
    """Given the selection the opened door is never it, and each other one with 1/2; given both, 1/2 or 1."""
    game = populations.monty_hall()
    table = game.counts.table((0, 2)) / game.counts.table((0,))[:, None]
    assert table.tolist() == [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    found = coefficients(game.counts, game.network, reading)
    assert found == {(0, 2): pytest.approx(each), (1, 2): pytest.approx(each)}
    assert dependent_sensitivity(game.counts, game.network, reading) == pytest.approx(sensitivity)


def test_the_three_totals_differ():
    chain = populations.chain_of_bits(4, 80)
    totals = [dependent_sensitivity(chain.counts, chain.network, r) for r in (PRINTED, BY_LEMMA, BY_FIGURES)]
    assert totals == pytest.approx([3 * math.log(4), 2 * math.log(4), math.log(4)])


# Algorithm 1


def test_the_scale_of_line_8_by_hand():
    pair = populations.chain_of_bits(2, 80).counts.codes
    both = np.array([[*left, *right, 0] for left in pair for right in pair])
    both[:, 4] = np.arange(len(both)) % 2
    learned = mechanism.learn(survey(np.tile(both, (4, 1))), 2)
    assert [chunk.network.parents for chunk in learned.chunks][2] == ((),)
    assert [len(list(chunk.network.edges)) for chunk in learned.chunks] == [1, 1, 0]
    sensitivities = learned.sensitivities(PRINTED)
    assert sensitivities == pytest.approx([math.log(4), math.log(4), 0])
    scales = learned.scales(sensitivities, 0.1)
    assert scales.tolist() == pytest.approx([5 * math.log(4) / (2 * 0.1)] * 8 + [0, 0])
    assert learned.spent == pytest.approx(3 * 2 / 5), "three chunks spend 6/5 of ε"
    assert learned.bare_questions(sensitivities) == 1


def test_independent_columns_get_no_noise():
    learned = mechanism.learn(survey(populations.independent_bits(5).counts.codes.repeat(20, axis=0)), 5)
    for reading in (PRINTED, BY_LEMMA, BY_FIGURES, Reading("family", "kept")):
        sensitivities = learned.sensitivities(reading)
        assert sensitivities == [0]
        assert learned.bare_questions(sensitivities) == 5
        errors = mechanism.l2_errors(learned.scales(sensitivities, 0.1), 10, np.random.default_rng(1))
        assert errors.tolist() == [0] * 10


def test_the_error_is_that_of_laplace_noise():
    """Mean squared L2 error is 2 Σ b²; a scale 3 % off is seen. False alarm: five standard errors, 6e-7."""
    scales = np.repeat([1.0, 5.0, 0.0], [100, 50, 10])
    errors = mechanism.l2_errors(scales, 20_000, np.random.default_rng(2)) ** 2
    mean, error = errors.mean(), errors.std() / math.sqrt(len(errors))
    assert abs(mean - 2 * (scales**2).sum()) < 5 * error
    mutant = mechanism.l2_errors(1.03 * scales, 20_000, np.random.default_rng(2)) ** 2
    assert abs(mutant.mean() - 2 * (scales**2).sum()) > 5 * error


# Lemma 4 and Theorem 6


def test_printed_bounds_are_refuted_and_true_ones_hold():
    generator = np.random.default_rng(3)
    verdicts = {}
    for setting in (claims.Setting(10, 10), claims.Setting(100, 10), claims.Setting(12, 4, 0.3, 2.0)):
        for one in claims.check(setting, 20_000, generator):
            verdicts.setdefault(one.claim, {}).setdefault(setting.columns, []).append(one.refuted)
    assert verdicts == {
        "Lemma 4 as printed": {10: [False], 100: [True], 12: [True]},
        "Lemma 4, true scale": {10: [False], 100: [False], 12: [False]},
        "Theorem 6 as printed": {10: [True], 100: [True], 12: [True]},
        "Theorem 6, true bound": {10: [False] * 2, 100: [False] * 2, 12: [False] * 2},
    }


def test_a_bound_for_too_small_a_scale_is_caught():
    """The mutants believe in noise that is 10 % (one count) and 40 % (their sum: a bound, not exact) smaller."""
    setting = claims.Setting(20, 5)
    noise = np.abs(mechanism.draw(setting.scales, 20_000, np.random.default_rng(4)))
    alone = 3 * setting.scale
    happened = int((noise[:, 0] > alone).sum())
    fields = ("mutant", setting, alone)
    assert not claims.Judgement(*fields, claims.count_chance(alone, setting.scale), happened, 20_000).refuted
    assert claims.Judgement(
        *fields, claims.count_chance(alone, 0.9 * setting.scale), happened, 20_000
    ).refuted
    together = 1.4 * noise.sum(axis=1).mean()
    happened = int((noise.sum(axis=1) > together).sum())
    assert not claims.Judgement(*fields, claims.l1_chance(together, setting.scales), happened, 20_000).refuted
    assert claims.Judgement(
        *fields, claims.l1_chance(together, 0.6 * setting.scales), happened, 20_000
    ).refuted


def test_the_true_bound_is_above_the_exact_law():
    for count, scale, alpha in product((1, 3, 40), (0.1, 7.0), (0.5, 1.1, 2.0, 5.0)):
        exact = gammaincc(count, alpha * count)
        assert exact <= claims.l1_chance(alpha * count * scale, [scale] * count) <= 1
    assert claims.l1_chance(50.0, [1.0, 5.0, 0.0]) >= math.exp(-10)
    assert claims.l1_chance(1.0, [0.0]) == 0


# Leakage


def density(outputs, counts, scale):
    return np.exp(-np.abs(outputs - counts) / scale) / (2 * scale)


def test_true_leakage_is_the_supremum_over_outputs():
    """Two bits, each counted: the corner value is reached far out and never exceeded on a grid of outputs."""
    pair, scale = populations.chain_of_bits(2, 60), 0.7
    first, second = np.meshgrid(np.linspace(-4, 5, 181), np.linspace(-4, 5, 181), indexing="ij")
    laws = [
        density(first, bit, scale)
        * (0.6 * density(second, bit, scale) + 0.4 * density(second, 1 - bit, scale))
        for bit in (0, 1)
    ]
    grid = np.abs(np.log(laws[0] / laws[1])).max()
    assert leaks.true_leakage(pair, [scale, scale], "model") == pytest.approx(grid, abs=1e-12)


def test_knowing_another_answer_helps_by_as_much_as_it_should():
    """Knowing one bit, the exclusive or equals the other with 95 %, and its count multiplies one value by u."""
    scale = 1.3
    u = math.exp(1 / scale)
    by_hand = 1 / scale + math.log((0.95 * u + 0.05) / (0.05 * u + 0.95))
    assert leaks.true_leakage(populations.noisy_xor(), [scale] * 3, "any") == pytest.approx(by_hand)
    assert leaks.true_leakage(populations.noisy_xor(), [scale] * 3, "model") < by_hand - 0.1


@pytest.mark.parametrize(
    "population",
    [
        populations.chain_of_bits(3, 80),
        populations.noisy_xor(),
        populations.monty_hall(),
        populations.star_of_bits(2, 90),
    ],
    ids=lambda one: one.name,
)
@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_true_leakage_against_the_oracle_and_our_bound(population, knowledge):
    """No mechanism with the same base loss leaks more than the oracle says, nor more than our certificate."""
    scale = 1.7
    losses = [population.moved / scale] * 3
    joint = population.counts.table(range(3)) / len(population.counts.codes)
    leakage = leaks.true_leakage(population, [scale] * 3, knowledge)
    known = "model" if knowledge == "model" else "values"
    assert leakage <= oracle.worst_leakages(joint, losses, known).max() + 1e-9
    assert leakage <= bound(leaks.as_model(population), Loss.of(losses), knowledge).leakage.worst + 1e-9
    assert leakage > losses[0], "the other answers add something in each of these"


@pytest.mark.parametrize(
    ("population", "reading", "width"),
    [
        (populations.independent_bits(), PRINTED, None),
        (populations.chain_of_bits(2, 90), BY_FIGURES, 1),
        (populations.noisy_xor(), PRINTED, None),
        (populations.monty_hall(), PRINTED, None),
    ],
    ids=["independent", "chunks", "exclusive or", "monty hall"],
)
def test_it_leaks_without_limit(population, reading, width):
    found = leaks.leak(population, reading, width)
    assert (found.sensitivity, found.scale) == (0, 0)
    assert found.leakage_model == found.leakage_any == INFINITE
    assert 0 < found.sound_leakage <= 1 + 1e-9


@pytest.mark.parametrize(
    ("population", "reading", "at_least"),
    [
        (populations.chain_of_bits(2, 60), PRINTED, 2.8),
        (populations.chain_of_bits(5, 80), BY_FIGURES, 2.0),
        (populations.monty_hall(), Reading("family"), 3.2),
    ],
    ids=["weak", "chain", "monty hall"],
)
def test_it_leaks_more_than_it_promises(population, reading, at_least):
    found = leaks.leak(population, reading)
    assert found.leakage_any >= found.leakage_model >= at_least > 1 >= found.sound_leakage - 1e-9


def test_exact_counts_leak_to_those_who_know_nobody():
    bits = populations.independent_bits()
    leakage, counts = leaks.exact_counts_leakage(bits, 3, 0)
    assert leakage == INFINITE
    assert counts[0] in {0, 3}, "all or none: the first respondent's bit is certain"
    silent = populations.Population(bits.name, bits.names, bits.counts, bits.network, ((), (1,)))
    assert leaks.exact_counts_leakage(silent, 3, 0)[0] == 0, "counts of another column say nothing"
    pair = populations.chain_of_bits(2, 80)
    telling = populations.Population(pair.name, pair.names, pair.counts, pair.network, ((), (1,)))
    assert leaks.exact_counts_leakage(telling, 2, 0)[0] == pytest.approx(math.log(0.8 / 0.2))


# Nothing of it can be released


def test_it_cannot_reach_a_release():
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not name.startswith(
                    (
                        "entwined.door",
                        "entwined.request",
                        "entwined.ledger",
                        "entwined.noise",
                        "entwined.tables",
                    )
                )


@pytest.fixture
def paper(monkeypatch, capsys):
    """Run the command in this process, where a warning is an error."""

    def run(*arguments, data=None):
        monkeypatch.delenv(surveys.FOLDER, raising=False)
        if data is not None:
            monkeypatch.setenv(surveys.FOLDER, str(data))
        monkeypatch.setattr(sys, "argv", ["entwined", "paper", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, shown.out, shown.err)

    return run


def test_the_command_warns_first_and_writes_figures_and_tables(tmp_path, paper):
    others = tmp_path / "others.csv"
    others.write_text(
        "survey,method,private,width,epsilon,error,standard_error\nANES 1996,sound | ours,True,,1.0,12.5,0.1\n"
    )
    done = paper("tabular-ddp", "-o", tmp_path / "out", "--trials", 3, "--beside", others)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == NOTICE
    page = (tmp_path / "out" / "report.md").read_text()
    assert page.splitlines()[0] == NOTICE
    assert "| ANES 1996 | sound \\| ours | yes | – | 12.5 | – |" in page
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert next(iter(found)) == "notice"
    assert found["leaks"][0]["leakage_any"] == "infinite"
    with (tmp_path / "out" / "accuracy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["private"] for row in rows if row["method"].startswith("Tabular-DDP")} == {"False"}
    assert {row["epsilon"] for row in rows} == {"0.1", "1.0", "10.0"}
    assert {row["width"] for row in rows} == {"", "5", "10", "15"}
    drawn = sorted(path.name for path in (tmp_path / "out").glob("*.svg"))
    assert [name.split("_")[1] for name in drawn] == ["3", "5", "7", "8", "9"]
    for name in drawn:
        assert "not private" in (tmp_path / "out" / name).read_text()


def test_a_data_folder_is_read_and_prints_json(tmp_path, paper):
    place = tmp_path / surveys.PLACES[0].path
    place.parent.mkdir()
    generator = np.random.default_rng(5)
    rows = [
        f"id{at},{at % 2},{a},{'' if a == 1 else b},free text {at}"
        for at, (a, b) in enumerate(generator.integers(0, 3, (80, 2)))
    ]
    place.write_text("id,even,a,b,words\n" + "\n".join(rows) + "\n")
    done = paper("tabular-ddp", "-o", tmp_path / "out", "--trials", 2, "--json", data=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["notice"] == NOTICE
    assert [(one["survey"], one["questions"], one["responses"]) for one in found["surveys"]] == [
        ("ANES Pilot 2006", 3, 80)
    ]
    kept = surveys.read(surveys.PLACES[0], tmp_path)
    assert (kept.columns, kept.sizes) == (("even", "a", "b"), (2, 3, 4)), (
        "no answer is an answer, an id is none"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tabular-ddp", "--trials", 0], "Give 1 or more"),
        (["golden", "--trials", 5], "Leave --trials"),
        (["tabular-ddp", "--beside", "nothing.csv"], "error figures"),
    ],
    ids=["trials", "golden", "beside"],
)
def test_bad_arguments_are_refused(tmp_path, paper, arguments, words):
    done = paper(*arguments, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_an_empty_data_folder_is_refused_and_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv(surveys.FOLDER, str(tmp_path))
    with pytest.raises(BadTable, match="has none of"):
        surveys.surveys()


def test_figures_that_are_no_figures_are_refused(tmp_path):
    path = tmp_path / "beside.csv"
    for line in ("a,b,True,,1,nan,0", "a,b,maybe,,1,2,0", "a,b,True,x,1,2,0", "a,b"):
        path.write_text(f"survey,method,private,width,epsilon,error,standard_error\n{line}\n")
        with pytest.raises(BadInput, match="error figures"):
            pages.read_beside(path)
