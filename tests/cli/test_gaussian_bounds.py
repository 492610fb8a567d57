"""`bound`, `calibrate` and `verify` of Gaussian noise, as a user types them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

CHAIN = '{"kind":"markov_chain","length":100,"initial":[0.5,0.5],"transition":[[0.75,0.25],[0.25,0.75]]}'
HIDDEN = json.dumps(
    {
        "kind": "bayes_net",
        "variables": [
            {"name": "class", "values": ["0", "1"], "parents": [], "table": [[0.5, 0.5]]},
            *(
                {"name": name, "values": ["0", "1"], "parents": ["class"], "table": [[0.8, 0.2], [0.3, 0.7]]}
                for name in "abc"
            ),
        ],
    }
)


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("chain.json").write_text(CHAIN)
    Path("hidden.json").write_text(HIDDEN)


@pytest.mark.parametrize(
    ("knowledge", "theorem", "most"),
    [("any", "separable messages", 5.445), ("model", "separable transport", 5.423)],
)
def test_what_is_calibrated_is_bounded_and_its_certificate_verifies(run, knowledge, theorem, most):
    asked = ("--delta", "1e-6", "--separable", "--knowledge", knowledge, "--json")
    code, out, _ = run("calibrate", "chain.json", "--leakage", "1", *asked)
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"rho", "gaussian_scale", "theorem", "hints"}
    assert found["theorem"] == theorem
    assert most * 0.999 < found["gaussian_scale"] <= most
    assert found["gaussian_scale"] == pytest.approx((2 * found["rho"]) ** -0.5)
    code, out, _ = run("bound", "chain.json", "--rho", str(found["rho"]), *asked, "-o", "proof.json")
    said = json.loads(out)
    assert code == 0
    assert 0.999 < said["leakage"] <= 1
    assert said["theorem"] == theorem
    assert len(said["per_unit"]) == 100
    assert {"separable group", "gaussian messages", "concentrated group"} < {
        other["theorem"] for other in said["alternatives"]
    }
    code, out, _ = run("verify", "proof.json", "--json")
    assert (code, json.loads(out)["valid"]) == (0, True)
    assert "reads one unit alone" in json.loads(Path("proof.json").read_text())["guarantee"]
    Path("proof.json").write_text(
        Path("proof.json").read_text().replace('"separable": true', '"separable": false')
    )
    assert run("verify", "proof.json", "--json")[0] == 1


def test_without_separable_it_is_any_mechanism_with_gaussian_noise(run):
    asked = ("bound", "chain.json", "--rho", "0.001", "--delta", "1e-6", "--json")
    loose, tight = (json.loads(run(*asked, *more)[1]) for more in ((), ("--separable",)))
    assert loose["theorem"] == "gaussian messages"
    assert tight["leakage"] < loose["leakage"]
    refused = {other["theorem"]: other.get("why_not", "") for other in loose["alternatives"]}
    assert "--separable" in refused["separable messages"]


def test_a_hidden_unit_has_no_part_of_its_own(run):
    asked = ("--delta", "1e-6", "--separable", "--json")
    found = json.loads(run("calibrate", "hidden.json", "--leakage", "1", "--weights", "0,1,1,4", *asked)[1])
    assert found["rho"][0] == 0
    assert found["gaussian_scale"][0] is None
    assert found["rho"][3] == pytest.approx(4 * found["rho"][1])
    vector = ",".join(map(str, found["rho"]))
    assert json.loads(run("bound", "hidden.json", "--rho-vector", vector, *asked)[1])["leakage"] <= 1


def test_people_are_told_the_standard_deviation(run):
    code, out, _ = run(
        "calibrate", "chain.json", "--leakage", "1", "--delta", "1e-6", "--separable", "--sensitivity", "2"
    )
    assert code == 0
    assert "standard deviation of Gaussian noise 10.8" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("bound", "--rho", "0.01"), "--delta"),
        (("bound", "--rho", "0.01", "--loss", "1", "--delta", "1e-6"), "not both"),
        (("bound", "--delta", "1e-6"), "--rho"),
        (("bound", "--rho", "0.01", "--rho-vector", "1,2", "--delta", "1e-6"), "either"),
        (("bound", "--rho-vector", "0,0", "--delta", "1e-6"), "shows nothing"),
        (("bound", "--rho-vector", "1,x", "--delta", "1e-6"), "not a list"),
        (("bound", "--rho-vector", "1,-1", "--delta", "1e-6"), "not above zero"),
        (("bound", "--rho", "nan", "--delta", "1e-6"), "finite"),
        (("bound", "--rho", "0.01", "--delta", "1.5"), "δ"),
        (("bound", "--rho-vector", "1,2", "--delta", "1e-6"), "2 units"),
        (("calibrate", "--leakage", "1", "--separable"), "--delta"),
        (("calibrate", "--leakage", "1", "--delta", "0"), "δ"),
        (("calibrate", "--leakage", "1", "--delta", "1e-6", "--importance", "1,2"), "Laplace"),
    ],
)
def test_bad_input_is_one_line(run, words, says):
    command, *rest = words
    code, out, err = run(command, "chain.json", *rest, "--json")
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_noisy_sum_of_gaussian_values_is_bounded_at_a_distance(run):
    Path("heights.json").write_text('{"kind":"gaussian","covariance":[[49,24.5],[24.5,49]]}')
    asked = ("bound", "heights.json", "--sd", "20", "--distance", "5", "--delta", "1e-6")
    code, out, _ = run(*asked, "--json", "-o", "proof.json")
    said = json.loads(out)
    assert code == 0
    assert said["theorem"] == "noisy linear"
    assert 1 < said["leakage"] < 2
    assert run("verify", "proof.json")[0] == 0
    assert "at most 5 apart" in run(*asked)[1]
    for wrong in (("--loss", "1"), ("--separable",)):
        assert run(*asked, *wrong)[0] != 0
    assert run(*asked[:4])[0] != 0
    assert run("bound", "chain.json", *asked[2:])[0] != 0


def test_places_are_bounded_for_each_unit_of_distance(run):
    document = {"kind": "places", "edges": [[0, 1], [0, 2]], "across": 3, "down": 3, "width": 6, "height": 6}
    Path("city.json").write_text(json.dumps(document))
    asked = "bound", "city.json", "--loss", "0.5", "--per-distance"
    found = json.loads(run(*asked, "--json")[1])
    assert (found["theorem"], len(found["per_unit"])) == ("places messages", 3)
    assert json.loads(run(*asked, "--knowledge", "model", "--json")[1])["leakage"] < found["leakage"]
    assert "for each unit of distance between the two places" in run(*asked)[1]
    code, _, said = run("bound", "city.json", "--rho", "0.1", "--delta", "1e-6", "--per-distance")
    assert code == 2
    assert "pure losses" in said


def test_noise_on_every_gaussian_value_is_bounded_exactly_for_values_one_apart(run):
    Path("twins.json").write_text('{"kind":"gaussian","covariance":[[1,0.5],[0.5,1]]}')
    code, out, _ = run("bound", "twins.json", "--rho", "0.01", "--delta", "1e-6", "--separable", "--json")
    moved, spread = (
        np.array([1, 0.5]),
        np.diag([50, 50 + 0.75]),
    )  # noise of variance 1/(2ρ), and what one value leaves
    shift = float(np.sqrt(moved @ np.linalg.solve(spread, moved)))
    at = json.loads(out)["leakage"]
    shown = norm.cdf(shift / 2 - at / shift) - math.exp(at) * norm.cdf(-shift / 2 - at / shift)
    assert code == 0
    assert shown == pytest.approx(1e-6, rel=1e-6)
    code, out, _ = run(
        "calibrate", "twins.json", "--leakage", str(at), "--delta", "1e-6", "--separable", "--json"
    )
    assert json.loads(out)["rho"] == pytest.approx(0.01, rel=1e-6)
    assert json.loads(out)["gaussian_scale"] == pytest.approx(50**0.5, rel=1e-6)
    code, _, err = run("bound", "twins.json", "--rho", "0.01", "--delta", "1e-6")
    assert (code, "add --separable" in err) == (2, True)
