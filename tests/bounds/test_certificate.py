"""Certificates are derived again without data; any changed number makes them invalid."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from entwined.bounds import bound, certify, verify
from entwined.bounds.certificate import digest, read_certificate, write_certificate
from entwined.bounds.choose import named
from entwined.dependence import (
    BayesNet,
    Box,
    Forms,
    Gaussian,
    Groups,
    MarkovChain,
    Variable,
    read_model,
)
from entwined.errors import BadCertificate, BadInput, Refused
from entwined.loss import Loss

CHAIN = MarkovChain(4, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
LOSSES = Loss.of([0.1, 0.2, 0.3, 0.4])


def certificate(knowledge="any", source="declared"):
    return certify(bound(replace(CHAIN, source=source), LOSSES, knowledge)).document


def numbers_in(document, path=()):
    items = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in items:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield (*path, key)
        else:
            yield from numbers_in(value, (*path, key))


def changed(document, path, factor=1 + 1e-7):
    other = copy.deepcopy(document)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = place[path[-1]] * factor + 1e-9
    return other


@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_a_certificate_says_everything_and_verifies(knowledge, tmp_path):
    proved = certify(bound(CHAIN, LOSSES, knowledge))
    written = proved.document
    assert verify(written, tmp_path).valid
    assert {
        "guarantee",
        "neighbours",
        "knowledge",
        "theorem",
        "inputs",
        "checked",
        "trusted",
        "versions",
    } <= set(written)
    assert f"exp({written['leakage']:.6g})" in written["guarantee"]
    path = tmp_path / "certificate.json"
    write_certificate(proved, path)
    assert verify(read_certificate(path), tmp_path).valid
    assert list(tmp_path.iterdir()) == [path]


def test_any_changed_number_makes_it_invalid(tmp_path):
    written = certificate()
    paths = list(numbers_in(written))
    assert len(paths) > 15
    for path in paths:
        assert not verify(changed(written, path), tmp_path).valid, path


def test_what_cannot_be_derived_is_under_the_digest(tmp_path):
    written = certificate()
    for forged in (
        {**written, "versions": {**written["versions"], "numpy": "0.1"}},
        {**written, "digest": "0" * 64},
        {key: value for key, value in written.items() if key != "digest"},
    ):
        assert "its digest does not match" in verify(forged, tmp_path).why


def test_a_forger_who_knows_the_digest_is_caught_by_the_derivation(tmp_path):
    written = certificate()
    for path in numbers_in(written):
        if path[0] == "inputs":
            continue  # other inputs, rightly bounded, are another certificate
        forged = changed(written, path, 1 - 1e-6)
        assert not verify(redigested(forged), tmp_path).valid, path
    forged = changed(written, ("inputs", "loss", "per_unit", 0))
    assert "does not follow" in verify(redigested(forged), tmp_path).why


def redigested(document):
    """What a forger writes: the digest of what it has become."""
    document["digest"] = digest({key: value for key, value in document.items() if key != "digest"})
    return document


def leaves(document, path=()):
    if isinstance(document, (dict, list)):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from leaves(value, (*path, key))
    else:
        yield path


def replaced(document, path, value):
    other = copy.deepcopy(document)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value(place[path[-1]])
    return other


ODD = {
    "a boolean": lambda _: True,
    "nothing": lambda _: None,
    "a list": lambda one: [one],
    "text": lambda one: f"{one} ",
    "a little less": lambda one: one * (1 - 1e-6) if isinstance(one, (int, float)) else "",
    "half": lambda one: one / 2 if isinstance(one, (int, float)) else one[: len(one) // 2],
    "too large": lambda _: 10**400,
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_any_one_leaf_that_is_changed_makes_it_invalid(knowledge, odd, tmp_path):
    """The forger writes a new digest each time; only versions, which prove nothing, may be other texts."""
    written = certificate(knowledge)
    paths = [path for path in leaves(written) if path[0] not in {"digest", "format"}]
    assert len(paths) > 30
    for path in paths:
        verdict = verify(redigested(replaced(written, path, ODD[odd])), tmp_path)
        if path[0] == "versions" and odd in {"text", "a little less", "half"}:
            assert verdict.valid, path
        elif path[:3] == ("inputs", "model", "initial") and knowledge == "any":
            continue  # messages do not lean on it: rightly bounded, it is another certificate
        else:
            assert not verdict.valid, (path, verdict.why)


def dicts_in(document, path=()):
    if isinstance(document, dict):
        yield path
    for key, value in (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    ):
        yield from dicts_in(value, (*path, key))


@pytest.mark.parametrize("extra", [1, "approved by all", {"epsilon": 0}, None])
def test_a_part_that_no_certificate_has_makes_it_invalid(extra, tmp_path):
    written = certificate()
    places = list(dicts_in(written))
    assert {(), ("theorem",), ("inputs",), ("inputs", "loss"), ("inputs", "model"), ("versions",)} <= set(
        places
    )
    for path in places:
        forged = copy.deepcopy(written)
        place = forged
        for key in path:
            place = place[key]
        place["extra"] = extra
        assert not verify(redigested(forged), tmp_path).valid, path


def noisy_copy():
    law = [[0.98, 0.019, 0.001], [0.98, 0.001, 0.019]]
    first = Variable("habit", ("no", "yes"), (), [[0.5, 0.5]])
    return BayesNet.of([first, Variable("drug", ("none", "one", "other"), ("habit",), law)])


@pytest.mark.parametrize(
    "theorem", ["transport", "tilted transport", "elimination", "elimination without knowledge"]
)
def test_a_theorem_that_does_not_cover_the_knowledge_proves_nothing(theorem, tmp_path):
    """Who knows that the drug is not none learns 1.8855; of the habit, theorems for less say 1.0304."""
    weaker = named(theorem)
    found = bound(noisy_copy(), Loss.uniform(1, 2), weaker.knowledge)
    right = certify(replace(found, theorem=weaker)).document
    assert right["per_unit"][0] == pytest.approx(1.0304, abs=1e-4)
    assert verify(right, tmp_path).valid
    with pytest.raises(Refused, match=f"'{theorem}' proves nothing for knowledge 'any'"):
        certify(replace(found, theorem=weaker, knowledge="any"))
    honest = certify(bound(noisy_copy(), Loss.uniform(1, 2), "any")).document
    forged = {**right, "knowledge": "any"}
    forged["guarantee"] = honest["guarantee"].replace(f"{honest['leakage']:.6g}", f"{right['leakage']:.6g}")
    verdict = verify(redigested(forged), tmp_path)
    assert not verdict.valid
    assert "proves nothing for knowledge 'any'" in verdict.why


def test_who_knows_what_is_said_in_words():
    chain = MarkovChain(3, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
    pair = Gaussian.of([[1.0, 0.5], [0.5, 1.0]])
    answers = BayesNet.of([Variable(name, ("a", "b"), (), [[0.5, 0.5]]) for name in ("q1", "q2")])
    secret, public = (Forms.of(answers, "form", [["q1"], ["q2"]], public=known) for known in (False, True))

    def words(model, knowledge):
        return certify(bound(model, Loss.uniform(0.5, model.units), knowledge)).document["guarantee"]

    anything = "of every other unit, its value or anything that depends on that value alone"
    for model in (chain, public):
        assert anything in words(model, "any")
    for model, knowledge in ((chain, "values"), (pair, "any"), (pair, "values")):
        assert "the values of any other units, each exactly or not at all" in words(model, knowledge)
    assert "of every other cell, nothing, or that it is blank" in words(secret, "any")
    for model in (chain, pair, secret, public):
        assert "but no values" in words(model, "model")


@pytest.mark.parametrize(
    "part", ["guarantee", "theorem", "inputs", "knowledge", "leakage", "checked", "trusted"]
)
def test_a_missing_part_makes_it_invalid(part, tmp_path):
    written = certificate()
    del written[part]
    written["digest"] = digest({key: value for key, value in written.items() if key != "digest"})
    assert not verify(written, tmp_path).valid


def test_an_exploratory_model_gets_no_certificate():
    with pytest.raises(Refused, match="planning only"):
        certificate(source="exploratory")


def test_a_certificate_over_an_edge_list_notices_a_changed_edge(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n1,2\n2,3\n")
    (tmp_path / "graph.json").write_text('{"kind": "graph", "edges": "edges.csv", "log_odds": 0.4}')
    model = read_model(tmp_path / "graph.json")
    written = certify(bound(model, Loss.uniform(0.5, model.units))).document
    assert verify(written, tmp_path).valid
    edges.write_text("source,target\n1,2\n1,3\n")
    assert not verify(written, tmp_path).valid


@pytest.mark.parametrize(
    "model", [Groups(6), Gaussian.of([[1.0, 0.5], [0.5, 1.0]])], ids=lambda model: model.kind
)
def test_other_models(model, tmp_path):
    written = certify(bound(model, Loss.uniform(0.5, model.units))).document
    assert verify(json.loads(json.dumps(written)), tmp_path).valid
    assert ("unit of distance" in written["guarantee"]) == (model.kind == "gaussian")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", '{"format": 1}', '{"format": NaN}', "[" * 100_000]
)
def test_what_is_no_certificate_is_bad_input(text, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(text)
    with pytest.raises(BadCertificate):
        verify(read_certificate(path), tmp_path)


def test_a_part_that_is_written_twice_is_refused(tmp_path):
    """Readers would disagree on which one it says."""
    path = tmp_path / "certificate.json"
    write_certificate(certify(bound(CHAIN, LOSSES)), path)
    path.write_text(path.read_text().replace('"leakage":', '"leakage": 0.001, "leakage":', 1))
    with pytest.raises(BadCertificate, match="'leakage' is given twice"):
        read_certificate(path)


def test_a_missing_file_and_a_closed_folder(tmp_path):
    with pytest.raises(BadCertificate, match="cannot be read"):
        read_certificate(tmp_path / "none.json")
    with pytest.raises(BadInput, match="cannot be written"):
        write_certificate(certify(bound(CHAIN, LOSSES)), tmp_path / "none" / "certificate.json")
