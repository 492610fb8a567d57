"""Certificates are derived again without data; any changed number makes them invalid."""

import copy
import json

import numpy as np
import pytest

from entwined.bounds import bound, certify, verify
from entwined.bounds.certificate import digest, read_certificate, write_certificate
from entwined.dependence import Box, Gaussian, Groups, MarkovChain, read_model
from entwined.errors import BadCertificate, BadInput, Refused
from entwined.loss import Loss


def certificate(knowledge="any", source="declared"):
    chain = MarkovChain(4, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]), source)
    return certify(bound(chain, Loss.of([0.1, 0.2, 0.3, 0.4]), knowledge))


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


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_a_certificate_says_everything_and_verifies(knowledge, tmp_path):
    written = certificate(knowledge)
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
    write_certificate(written, path)
    assert verify(read_certificate(path), tmp_path).valid
    assert list(tmp_path.iterdir()) == [path]


def test_any_changed_number_makes_it_invalid(tmp_path):
    written = certificate()
    paths = list(numbers_in(written))
    assert len(paths) > 15
    for path in paths:
        assert not verify(changed(written, path), tmp_path).valid, path


def test_a_forger_who_knows_the_digest_is_caught_by_the_derivation(tmp_path):
    written = certificate()
    for path in numbers_in(written):
        if path[0] == "inputs":
            continue  # other inputs, rightly bounded, are another certificate
        forged = changed(written, path, 1 - 1e-6)
        forged["digest"] = digest({key: value for key, value in forged.items() if key != "digest"})
        assert not verify(forged, tmp_path).valid, path
    forged = changed(written, ("inputs", "loss", "per_unit", 0))
    forged["digest"] = digest({key: value for key, value in forged.items() if key != "digest"})
    assert "does not follow" in verify(forged, tmp_path).why


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
    written = certify(bound(model, Loss.uniform(0.5, model.units)))
    assert verify(written, tmp_path).valid
    edges.write_text("source,target\n1,2\n1,3\n")
    assert not verify(written, tmp_path).valid


@pytest.mark.parametrize(
    "model", [Groups(6), Gaussian.of([[1.0, 0.5], [0.5, 1.0]])], ids=lambda model: model.kind
)
def test_other_models(model, tmp_path):
    written = certify(bound(model, Loss.uniform(0.5, model.units)))
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


def test_a_missing_file_and_a_closed_folder(tmp_path):
    with pytest.raises(BadCertificate, match="cannot be read"):
        read_certificate(tmp_path / "none.json")
    with pytest.raises(BadInput, match="cannot be written"):
        write_certificate(certificate(), tmp_path / "none" / "certificate.json")
