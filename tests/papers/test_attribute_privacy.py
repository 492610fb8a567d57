"""Attribute privacy: the paper's numbers in both readings, where it slips, and an adversary who looks at releases."""

import json
import math

import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from entwined.audit.gaussian_audit import gaussian_audit
from entwined.bounds.attributes.far_apart import far_apart
from entwined.bounds.attributes.least_noise import slip
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.cli.app import app
from entwined.errors import BadInput
from entwined.papers.attribute_privacy import (
    NOTICE,
    experiments,
    hospital,
    pages,
    values_or_parameters,
    verdicts,
)
from entwined.papers.attribute_privacy.school import school_network


@pytest.fixture(scope="module")
def found():
    return experiments.reproduce_all(100)


GOLDEN = {  # average: as the paper computes it, and as its own secret pairs demand
    "weight": ((6.125, 4.5, 23.03, 15.63), (12.25, 4.5, 46.21, 31.47)),
    "blood pressure": ((2.5, 2.0, 9.33, 6.28), (5.0, 2.0, 18.83, 12.80)),
    "temperature": ((0.075, 0.08, 0.0149, 0.0), (0.15, 0.08, 0.491, 0.263)),
}
ERRORS = {"weight": (18.38, 36.87), "blood pressure": (7.45, 15.02), "temperature": (0.0119, 0.392)}


def test_the_golden_numbers_of_both_readings(found):
    for column, readings in GOLDEN.items():
        rows = [one for one in found.releases if one.column == column]
        for one, wanted, error in zip(rows, readings, ERRORS[column], strict=True):
            assert (one.sensitivity, one.variance) == pytest.approx(wanted[:2])
            assert (one.classical, one.analytic) == pytest.approx(wanted[2:], rel=3e-3, abs=1e-12)
            many = next(
                drawn
                for drawn in found.errors
                if (drawn.column, drawn.reading, drawn.runs) == (column, one.reading, 100_000)
            )
            assert many.expected == pytest.approx(error, rel=5e-3)
            assert many.mean_error == pytest.approx(many.expected, rel=0.02)


def test_the_papers_noise_keeps_its_promise_for_what_it_computes_and_not_for_what_it_declares(found):
    by_reading = {}
    for one in found.releases:
        by_reading.setdefault(one.reading, []).append(one.slips)
    computed, declared = by_reading.values()
    assert min(computed) > 9 * float(hospital.DELTA)
    assert max(declared) < float(hospital.DELTA)
    law = hospital.CLASS[0]
    own = slip(far_apart(hospital.secret_of("0.25"), law), hospital.EPSILON, found.releases[0].classical ** 2)
    assert own < float(hospital.DELTA)
    assert next(check.epsilon for check in found.constant if not check.holds) == 8  # proved for ε ≤ 1 alone


def test_the_generator_outside_its_own_class_is_warned_of(found):
    told = " ".join(found.outside)
    for wrong in ("3.6", "slope is -6", "deviation is 3", "deviation is 0.5", "deviation of the others is 3"):
        assert wrong in told
    table = hospital.patients(np.random.default_rng(1))
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(GOLDEN, 50)
    rng = np.random.default_rng(2)
    averages = np.array([hospital.patients(rng)["weight"].mean() for _ in range(300)])
    mean, spread = hospital.weight_of_patients()
    assert averages.mean() == pytest.approx(mean, abs=0.8)
    assert averages.std() == pytest.approx(spread, rel=0.15)
    assert mean + 3 * spread < 161.33  # the printed average is hardly drawn so
    assert table["weight"].size == 50


def test_accuracy_holds_as_corrected_and_slips_as_printed(found):
    for one in found.claims:
        assert one.holds == ("printed" not in one.theorem)
    printed = next(one for one in found.claims if "1/2β" in one.theorem and one.beta == 0.05)
    assert printed.exceeded == pytest.approx(0.1, abs=0.005)  # twice as often


def test_example_1_and_what_is_better_than_it(found):
    for one in found.school:
        assert one.ours <= one.published * (1 + 1e-9)
        assert one.by_gender is None or one.published <= one.by_gender * (1 + 1e-9)
        if one.query == "taller than 66 inches":
            assert (one.by_gender == 0) == (one.gender_shows <= one.epsilon)
            assert (one.ours == 0) == (one.height_shows <= one.epsilon)
    assert school_network(0.6).names == ("income", "sat", "gender", "height", "weight")


def test_noise_for_a_value_leaks_the_parameter_and_exact_sums_bound_both(found):
    for one in found.students:
        laws = values_or_parameters.count_laws(one.rows)
        assert sum(map(np.sum, laws)) == pytest.approx(2)
        assert values_or_parameters.leaked(laws, one.wasserstein_scale) <= 1 + 1e-9
        assert one.quilt_leaks <= 1
    assert found.students[-1].value_leaks == pytest.approx(
        math.log(4), abs=1e-6
    )  # all that SAT shows of income
    assert found.students[-1].wasserstein_scale < found.students[-1].quilt_scale / 4


def test_noise_falls_to_zero_where_it_should(found):
    for one in found.normal:
        assert (one.analytic == 0) == (one.rows <= one.free_up_to)
        assert one.analytic <= one.classical + 1e-9
    assert {one.analytic == 0 for one in found.normal} == {True, False}


def released(rng, column, noise, count):
    """Draw averages of 50 rows where 25 % and where 75 % are women, under the worst law of the class, with noise."""
    law = next(one for one in hospital.CLASS if one.column == column)
    slope, variance = float(law.slope.furthest), float(law.sd.low) ** 2 / hospital.ROWS
    return [rng.normal(slope * share, math.sqrt(variance + noise**2), count) for share in (0.25, 0.75)]


@pytest.mark.parametrize("column", GOLDEN)
def test_posterior_odds_of_a_hundred_thousand_releases_stay_within_epsilon_but_for_delta(found, column):
    noise = next(one for one in found.releases[3:] if one.column == column).analytic
    rng, law = np.random.default_rng(22), next(one for one in hospital.CLASS if one.column == column)
    deviation = math.sqrt(float(law.sd.low) ** 2 / hospital.ROWS + noise**2)
    means = [float(law.slope.furthest) * share for share in (0.25, 0.75)]
    for outputs in released(rng, column, noise, 100_000):
        odds = norm.logpdf(outputs, means[0], deviation) - norm.logpdf(outputs, means[1], deviation)
        over = np.maximum(
            1 - np.exp(1 - np.abs(odds)), 0.0
        )  # by how much e^ε is passed, weighed as δ counts it
        assert over.mean() <= float(hospital.DELTA) * 1.6


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.8, True)])
def test_noise_of_four_fifths_is_caught(found, share, caught):
    one = next(one for one in found.releases[3:] if one.column == "weight")
    samples = released(np.random.default_rng(23), "weight", one.analytic * share, 100_000)
    allowed = 1 / analytic_ratio(hospital.EPSILON, hospital.DELTA)  # in deviations: (1, 0.001) and no more
    proven = gaussian_audit(samples[1], samples[0])
    assert proven.refutes(allowed) == caught
    assert proven.mu > 0.8 * allowed


def undrawn(_, folder):
    paths = {name: folder / f"{name}.svg" for name in ("school", "students", "normal")}
    for path in paths.values():
        path.write_text("<svg></svg>")
    return paths


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_command_judges_every_part_and_writes_one_page(tmp_path, monkeypatch, found, drawn):
    if not drawn:
        monkeypatch.setattr(pages, "draw_attribute_figures", undrawn)
    monkeypatch.setattr(experiments, "reproduce_all", lambda runs: found if runs == 100 else None)
    answer = CliRunner().invoke(app, ["paper", "attribute-privacy", "-o", str(tmp_path), "--json"])
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.stdout)
    assert document["notice"] == NOTICE
    judged = {one["part"]: one["verdict"] for one in document["verdicts"]}
    assert judged["§4.2, average weight"] == judged["Example 1, heights alone"] == "reproduced"
    assert judged["§4.2, max |a − b|"] == judged["Theorem 4"] == "wrong"
    assert any("auto-encoders" in part for part in judged)
    page = (tmp_path / "report.html").read_text()
    assert page.index(NOTICE[:40]) < page.index("<h1>")
    assert page.count("<svg") == 3
    assert all(one.part.split(",")[0] in page for one in verdicts.attribute_verdicts(found))
    assert len(document["files"]) == 5
    assert pages.document(found)["normal_columns"]


def test_bad_arguments_are_refused(tmp_path):
    with pytest.raises(BadInput, match="Give 1"):
        experiments.reproduce_all(0)
    answer = CliRunner().invoke(
        app, ["paper", "attribute-privacy", "-o", str(tmp_path), "--beside", str(tmp_path)]
    )
    assert isinstance(answer.exception, BadInput)
