"""Balancing privacy and utility in correlated data: what the paper claims, what of it holds, and what chains need."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.bounds.group import group_bound
from entwined.cli.app import app
from entwined.dependence import Groups
from entwined.errors import BadInput, BadTable
from entwined.loss import Loss
from entwined.papers.bayesian_dp import NOTICE, errors, experiments, kin, scales, series
from entwined.papers.bayesian_dp.accepted import acceptances
from entwined.papers.bayesian_dp.count_attack import CountAttack, scale_if_states_are_known_by_twos
from entwined.papers.bayesian_dp.gaussian import EQUAL, GAUSSIAN, GROUP, LANGE, LARGEST, factors, mean_noises
from entwined.papers.bayesian_dp.posterior import TOO_LITTLE, posterior_shifts
from entwined.papers.bayesian_dp.tight import rarely_all_zero, reached_groups
from support.chains import chain_of, walk
from support.oracle import chain_joint, worst_leakages_by_knowledge


@pytest.fixture(scope="module")
def made_up():
    """Two series: a walk over five levels, and one that never comes back to where it began."""
    rng = np.random.default_rng(4)
    steps = np.clip(np.cumsum(rng.integers(-1, 2, 600)) % 9 - 2, 0, 4)
    once = np.append([5], steps)
    return [
        series.Series("walk", "generated", 5, (steps.astype(np.int64),)),
        series.Series(
            "begins elsewhere", "generated", 6, (once.astype(np.int64), steps[:50].astype(np.int64))
        ),
    ]


def test_the_group_bound_is_reached_without_any_correlation():
    found = reached_groups(0.7)
    assert [one.records for one in found] == [2, 3, 4, 5, 6, 7, 8]
    for one in found:
        assert one.correlation == pytest.approx(0, abs=1e-12)
        assert one.leaked == pytest.approx(one.records * 0.7, rel=1e-9)
        assert one.leaked <= group_bound(Loss.uniform(0.7, one.records), Groups(one.records)).worst * (
            1 + 1e-9
        )


@pytest.mark.parametrize("records", [2, 3, 4])
def test_and_no_mechanism_leaks_more_of_such_records(records):
    truth = worst_leakages_by_knowledge(rarely_all_zero(records), np.full(records, 0.7))["model"]
    assert truth == pytest.approx(np.full(records, 0.7 * records), rel=1e-6)


def test_the_count_attack_is_a_mechanism_with_these_losses():
    rng = np.random.default_rng(6)
    for epsilon in (0.05, 1.0):
        step = 0.5 * np.eye(3) + 0.5 * rng.dirichlet(np.ones(3), 3)
        chain = chain_of(5, step, series.stationary_law(step))
        truth = worst_leakages_by_knowledge(chain_joint(chain.initial, step, 5), np.full(5, epsilon))["model"]
        leaked = CountAttack.on(chain).leaked(epsilon)
        assert epsilon < leaked <= truth.max() * (1 + 1e-7)
        assert leaked > 0.8 * truth.max()


def test_who_knows_two_states_of_every_step_reaches_what_messages_say_nearly():
    """The joint law of steps that are known to be in two states, weighed as readings may weigh it, by the oracle."""
    step = np.array([[0.5, 0.4, 0.1], [0.3, 0.4, 0.3], [0.05, 0.45, 0.5]])
    chain = chain_of(5, step, series.stationary_law(step))
    inner = step[np.ix_([0, 2], [0, 2])]
    weight = np.sqrt(inner[0, 0] * inner[0, 1] / (inner[1, 0] * inner[1, 1]))
    even = inner * np.array([[1.0], [weight]]) * np.array([1.0, inner[1, 0] * weight / inner[0, 1]])
    assert even == pytest.approx(even.T[::-1, ::-1])
    joint = chain_joint(np.ones(2), even, 5)
    scale = scale_if_states_are_known_by_twos(chain, 1.0)
    truth = worst_leakages_by_knowledge(joint / joint.sum(), np.full(5, 1 / scale))["model"].max()
    assert truth == pytest.approx(1.0, rel=1e-3)
    assert 1 / (1 + 1e-6) <= scales.our_scale(chain, 1.0, "any")[0] / scale < 1.2


def test_on_chains_of_series_ours_is_the_least_and_no_attack_is_above(made_up):
    rows = list(scales.scale_rows(made_up, targets=(1.0,)))
    assert len(rows) == 12
    assert all(row.is_least for row in rows)
    assert all(row.ratio * (1 + 1e-6) >= 1 for row in rows)
    assert max(row.ratio for row in rows if row.knowledge == "model") < 3
    assert {row.quilt is None for row in rows if row.knowledge != "model"} == {True}
    below = rows[0]._replace(ours=rows[0].attack * 0.9)
    assert not below.is_least
    assert not rows[0]._replace(quilt=rows[0].ours * 0.9).is_least


def test_raw_counts_leave_out_what_is_never_met_again(made_up):
    assert made_up[1].chain(smoothed=False).states == 5
    smoothed = made_up[1].chain(smoothed=True, length=77)
    assert (smoothed.states, smoothed.length) == (6, 77)
    assert smoothed.initial @ smoothed.transition.low == pytest.approx(smoothed.initial, abs=1e-12)


def test_each_theorem_accepts_the_chains_that_it_should():
    found = {(one.chain, one.theorem.split()[0]): one for one in acceptances()}
    takes = {
        name: {chain for (chain, theorem), one in found.items() if theorem == name and one.above is not None}
        for name in ("Chakrabarti", "Lange", "Markov", "messages")
    }
    assert takes["Chakrabarti"] == {"binary, symmetric, lazy, stationary"}
    assert takes["Lange"] == {*takes["Chakrabarti"], "not lazy", "not symmetric", "three states"}
    assert takes["Markov"] == {*takes["Lange"], "not stationary", "a transition is impossible"}
    assert takes["messages"] == {chain for chain, _ in found}
    assert found["binary, symmetric, lazy, stationary", "Lange"].above == pytest.approx(4 * np.log(4))
    assert found["not lazy", "Chakrabarti"].why_not


def test_factors_are_golden_and_what_is_not_accepted_is_left_out():
    found = factors(8, 0.14)
    assert [found[name] for name in (LANGE, LARGEST, EQUAL, GROUP)] == pytest.approx(
        [15.0, 1.98, 1.98, 8.0], abs=5e-4
    )
    assert LANGE not in factors(10, 0.5)


def test_beliefs_move_no_further_than_promised_and_too_little_noise_is_caught():
    found = posterior_shifts(5, 0.2, 4000, np.random.default_rng(8))
    assert not any(one.exceeds for one in found if one.noise == 1)
    nothing_known = [one for one in found if one.known == 0]
    assert [one.exceeds for one in nothing_known] == [False, True]
    assert nothing_known[1].seen == pytest.approx(1 / TOO_LITTLE, rel=1e-6)


def test_crosses_are_upper_ends_of_what_lines_say():
    rng, high = np.random.default_rng(9), 0
    for _ in range(200):
        point = errors.laplace_point(("", "", 1.0, ""), 2.0, 1000, rng)
        high += point.drawn >= point.theory
    assert point.theory == pytest.approx(2 * np.log(20))
    assert 180 <= high <= 199  # 95 %, missed with a chance below 10⁻³


def test_families_are_made_up_where_none_are_at_hand(monkeypatch):
    monkeypatch.delenv(kin.FOLDER, raising=False)
    siblings, twins = kin.kin_at_hand()
    assert (siblings.most, twins.most) == (15, 2)
    assert 0.55 < twins.correlation < 0.68
    noises = {(one.kin, one.method): one.error for one in mean_noises([twins])}
    assert noises[twins.name, EQUAL] < noises[twins.name, GROUP]
    assert noises[twins.name, GAUSSIAN] > noises[twins.name, EQUAL]  # a δ does not pay for one mean of pairs


def test_series_at_hand_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv(series.FOLDER, str(tmp_path))
    with pytest.raises(BadTable, match="has none of"):
        series.series_at_hand()
    (tmp_path / series.ADL).parent.mkdir()
    (tmp_path / series.ADL).write_text("minute,activity\n" + "1,a\n2,b\n3,a\n" * 9)
    assert [(one.states, one.length) for one in series.series_at_hand()] == [(2, 27)]
    monkeypatch.delenv(series.FOLDER)
    assert [one.states for one in series.series_at_hand()] == [6, 4, 2]


def test_the_command_writes_the_page_and_every_figure(tmp_path, monkeypatch, made_up):
    monkeypatch.setattr(experiments, "series_at_hand", lambda: made_up[:1])
    monkeypatch.setattr(experiments, "TARGETS", (1.0,))
    monkeypatch.setattr(errors, "LENGTHS", (10, 400, 800))
    monkeypatch.setattr(errors, "CORRELATIONS", (0.1, 0.3))
    monkeypatch.setattr(errors, "TOGETHER", (2, 5))
    told = CliRunner().invoke(
        app, ["paper", "bayesian-dp", "--output", str(tmp_path), "--trials", "400", "--json"]
    )
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert found["notice"] == NOTICE
    assert [one["verdict"] for one in found["verdicts"]].count("wrong") == 0
    assert {one["part"]: one["verdict"] for one in found["verdicts"]}["Figures"] == "reproduced"
    assert {path.rpartition("/")[2] for path in found["files"]} == {
        "report.html",
        "results.json",
        "chains.csv",
        "error_against_m.svg",
        "error_against_rho.svg",
        "error_against_n.svg",
    }
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") == 3
    assert NOTICE in page
    assert "walk, smoothed" in page
    assert "exceeds it" in page


def test_no_releases_are_refused():
    with pytest.raises(BadInput, match="1 or more"):
        experiments.run(experiments.PaperSeries([], []), 0)


def test_a_walk_that_forgets_slowly_needs_less_than_the_quilt():
    chain = walk(8, 0.9, 2000)
    ours, name = scales.our_scale(chain, 1.0, "model")
    assert name == "block transport"
    assert ours < 0.6 * scales.scale_of(scales.markov_quilt_bound, chain, 1.0)
