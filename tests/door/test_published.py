"""What is published: the certificate covers every file, holds no path of the holder's, and may bear a signature."""

import json
import os
import stat
from pathlib import Path

import pytest

from corpus.run import run
from corpus.workshop import Workshop
from entwined.door.certificate import opened, sealed
from entwined.errors import BadKey
from entwined.schema import approve, read_schema
from entwined.signing import Key, PublicKey, Signature

PAIRS = '[[dependence]]\nname = "pairs"\nmodel = {kind = "groups", largest = 2}\n'
QUERIES = [{"kind": "histogram", "column": "region"}, {"kind": "mean", "column": "age"}]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """A place for anchors of these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def place(tmp_path):
    return Workshop(tmp_path / "place")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A published folder, to be copied before it is changed."""
    place = Workshop(tmp_path_factory.mktemp("published") / "place")
    done = run([*place.release(query=QUERIES, models=PAIRS, cap=5), "--yes"], place.folder)
    assert done.code == 0, done.err
    return place.folder / "out"


@pytest.fixture
def copied(out, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for path in out.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def verified(folder, *more):
    done = run(["verify", str(folder / "certificate.json"), *more], folder)
    return done.code, done.out + done.err


def test_the_numbers_are_checked_and_that_is_said(out):
    code, said = verified(out)
    assert code == 0
    for name in ("release.json", "values.csv", "values.parquet", "report.html", "plan.json", "schema.toml"):
        assert name in said


@pytest.mark.parametrize("name", ["values.csv", "values.parquet", "release.json", "report.html", "plan.json"])
def test_a_file_that_was_altered_is_not_valid(copied, name):
    data = (copied / name).read_bytes()
    changed = data.replace(b"1", b"2", 1)
    assert changed != data
    (copied / name).write_bytes(changed)
    code, said = verified(copied)
    assert code == 1
    assert "NOT valid" in said


def test_without_the_numbers_it_says_that_they_were_not_checked(copied):
    (copied / "release.json").unlink()
    (copied / "values.csv").unlink()
    code, said = verified(copied)
    assert code == 0
    assert "numbers were not checked" in said


@pytest.mark.parametrize("name", ["../values.csv", "/etc/hostname", "certificate.json"])
def test_a_certificate_names_no_file_but_those_beside_it(copied, name):
    document = json.loads((copied / "certificate.json").read_text())
    forged = sealed({**opened(document), "published": {name: "0" * 64}})
    (copied / "certificate.json").write_text(json.dumps(forged))
    assert verified(copied)[0] == 1


def test_a_file_that_the_certificate_leaves_out_is_not_taken_for_published(copied):
    document = json.loads((copied / "certificate.json").read_text())
    (copied / "values.csv").write_text("forged")
    less = {name: known for name, known in document["published"].items() if name != "values.csv"}
    (copied / "certificate.json").write_text(json.dumps(sealed({**opened(document), "published": less})))
    assert verified(copied)[0] == 1
    none = {name: value for name, value in opened(document).items() if name != "published"}
    (copied / "certificate.json").write_text(json.dumps(sealed(none)))
    code, said = verified(copied)
    assert code == 0
    assert "It says nothing of plan.json, report.html, schema.toml, values.csv" in said


def test_several_certificates_are_held_against_each_other(place):
    for number, loss in enumerate(("0.5", "0.25")):
        place.request(loss=float(loss), cap=3)
        assert run(["release", "release.toml", "-o", f"out{number}", "--yes"], place.folder).code == 0
    other = Workshop(place.folder.parent / "other")
    assert run([*other.release(loss=0.5), "--yes"], other.folder).code == 0
    paths = [f"{place.folder}/out{number}/certificate.json" for number in (0, 1)]
    done = run(["verify", *reversed(paths), "--ledger", str(place.folder / "ledger.sqlite")], place.folder)
    assert done.code == 0, done.err
    assert "one history" in done.out
    assert "The ledger says the same" in done.out
    done = run(["verify", paths[0], f"{other.folder}/out/certificate.json"], place.folder)
    assert done.code == 1
    assert "2 ledgers" in done.out
    assert run(["verify", paths[0], "--ledger", str(other.folder / "ledger.sqlite")], place.folder).code == 1


# keys


@pytest.fixture
def key(tmp_path):
    return Key.new(tmp_path / "holder.key")


def test_a_key_is_the_owners_alone(tmp_path, key):
    path = tmp_path / "holder.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.read(path).public == key.public
    signature = key.sign("these words")
    assert Signature.from_document(signature.document).is_of("these words")
    assert not signature.is_of("those words")
    assert not Signature(Key.new(tmp_path / "other.key").public, signature.content).is_of("these words")
    path.chmod(0o640)
    with pytest.raises(BadKey, match="may be read by others"):
        Key.read(path)


@pytest.mark.parametrize("data", [b"", b"x", b"\xff" * 32, b"# a comment\n", b"A" * 44, b"A" * 20_000])
def test_what_is_no_key_is_refused_and_never_shown(tmp_path, data):
    path = tmp_path / "a.key"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(BadKey) as refused:
        Key.read(path)
    assert "AAAA" not in str(refused.value)


def test_a_key_never_takes_the_place_of_another(place):
    first = run(["key", "new", "holder.key", "--json"], place.folder)
    assert first.code == 0
    again = run(["key", "new", "holder.key"], place.folder)
    assert again.code == 2
    assert "is there already" in again.err
    shown = run(["key", "show", "holder.key", "--json"], place.folder)
    assert json.loads(shown.out) == json.loads(first.out)
    public = PublicKey.from_text(json.loads(first.out)["public"])
    assert public.fingerprint == json.loads(first.out)["fingerprint"]


def test_approval_and_certificate_are_signed_and_the_key_can_be_demanded(place):
    shown = json.loads(run(["key", "new", "holder.key", "--json"], place.folder).out)
    other = json.loads(run(["key", "new", "other.key", "--json"], place.folder).out)
    assert run(["approve", "schema.toml", "--yes", "--key", "holder.key"], place.folder).code == 0
    place.request()
    signed = run(["release", "release.toml", "-o", "out", "--yes", "--key", "holder.key"], place.folder)
    assert (signed.code, signed.err) == (0, "")
    assert shown["fingerprint"] in signed.out
    out = place.folder / "out"
    code, said = verified(out, "--key", shown["public"])
    assert code == 0
    assert said.count(shown["fingerprint"]) == 2  # the certificate and the schema
    assert verified(out)[0] == 0
    code, said = verified(out, "--key", other["public"])
    assert code == 1
    assert other["fingerprint"] in said
    assert run(["verify", "out/certificate.json", "--key", "nonsense"], place.folder).code == 2
    for path in out.iterdir():
        assert place.folder.joinpath("holder.key").read_bytes().split()[-1] not in path.read_bytes()

    document = json.loads((out / "certificate.json").read_text())
    forged = sealed({**opened(document), "released": "0" * 64}) | {"signature": document["signature"]}
    swapped = {**document, "signature": {**document["signature"], "key": other["public"]}}
    noted = {**document, "signature": {**document["signature"], "note": "x"}}
    for wrong in (forged, swapped, noted):
        (out / "certificate.json").write_text(json.dumps(wrong))
        assert verified(out)[0] == 1
    bare = {name: value for name, value in document.items() if name != "signature"}
    (out / "certificate.json").write_text(json.dumps(bare))
    assert verified(out)[0] == 0
    code, said = verified(out, "--key", shown["public"])
    assert code == 1
    assert "not signed" in said


def test_a_schema_signed_by_nobody_or_by_another_key_is_refused(place, key):
    path = place.folder / "schema.toml"
    signed = approve(path, key)
    assert read_schema(path) == signed
    assert signed.signature.key == key.public
    text = path.read_text()
    other = Key.new(place.folder / "other.key").public.text
    for wrong in (
        text.replace(key.public.text, other),
        text.replace("approved_key", "# approved_key"),
        text.replace("approved_signature", "# approved_signature"),
        text.replace(signed.signature.text, "x"),
    ):
        path.write_text(wrong)
        done = run(place.release(), place.folder)
        assert done.code == 2
        assert "approve" in done.err.lower()
    path.write_text(text)
    assert approve(path).signature is None  # approved anew, without a key


# paths


def test_no_path_of_the_holders_is_published_and_verify_works_right_away(tmp_path):
    """Absolute paths and `..` everywhere: the table, the schema, the ledger, models and their edges."""
    place = Workshop(tmp_path / "a place of mine")
    (place.folder / "models").mkdir()
    (place.folder / "here").mkdir()
    place.file("models/near.csv", "source,target\n1,2\n2,3\n")
    place.file("models/far.csv", "source,target\n1,2\n")
    near = {"kind": "graph", "edges": str(place.folder / "models" / "near.csv"), "log_odds": 0.5}
    place.model(near, "models/near.json")
    place.model({"kind": "graph", "edges": "../models/far.csv", "log_odds": 0.25}, "models/far.json")
    models = "".join(
        f'[[dependence]]\nname = "{name}"\nmodel = {json.dumps(model)}\n'
        for name, model in (
            ("near", str(place.folder / "models" / "near.json")),
            ("far", "../models/far.json"),
        )
    )
    place.request(
        query=QUERIES, models=models, table=str(place.folder / "survey.csv"), schema="../schema.toml",
        ledger=str(place.folder / "ledger.sqlite"), cap=5,
    )  # fmt: skip
    os.replace(place.folder / "release.toml", place.folder / "here" / "release.toml")  # noqa: PTH105
    done = run(["release", str(place.folder / "here" / "release.toml"), "-o", "out", "--yes"], place.folder)
    assert done.code == 0, done.err
    out = place.folder / "out"
    assert {"near.csv", "far.csv"} <= {path.name for path in out.iterdir()}
    for path in out.iterdir():
        data = path.read_bytes()
        for private in (str(tmp_path), "a place of mine", "../", "models/", str(Path.home())):
            assert private.encode() not in data, (path.name, private)
    code, said = verified(out)
    assert (code, "near.csv" in said) == (0, True)
    elsewhere = tmp_path / "elsewhere"
    out.rename(elsewhere)
    assert verified(elsewhere)[0] == 0
    (elsewhere / "near.csv").write_text("source,target\n1,2\n")
    assert verified(elsewhere)[0] == 1


@pytest.mark.parametrize("name", ["values.csv", "release.json"])
def test_an_edge_file_never_takes_the_place_of_an_output(place, name):
    """Refused before anything is charged."""
    place.file(name, "source,target\n1,2\n")
    place.model({"kind": "graph", "edges": name, "log_odds": 0.5})
    done = run(place.release(models='[[dependence]]\nmodel = "model.json"\n'), place.folder)
    assert done.code == 2
    assert "Rename it" in done.err
    assert not (place.folder / "ledger.sqlite").exists()
