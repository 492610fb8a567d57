"""Theorems of other distributions: asked only by who trusts them, named with their version, and checked each time."""

import textwrap
from fractions import Fraction

import pyarrow as pa
import pytest

import entwined as ew
from entwined.bounds import NoisySum
from entwined.bounds.outside import GROUP, registered
from entwined.errors import BadInput, NoTheorem, Refused
from entwined.schema import Boolean, Integer

DOCSTRING = '''
    """Say something.

    Theorem. {theorem}

    Checked. Nothing.

    Trusted. Everything.

    Proof. {proof}

    Source. This test.
    """
'''
HEAD = """
from entwined.bounds import NoisySum
from entwined.bounds.theorem import theorem
from entwined.dependence import Groups
from entwined.loss import Leakage, Loss
import numpy as np

@theorem("any")
def claimed_bound({takes}: {of}, model: Groups) -> Leakage:
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Write a distribution as installers do: its module, and what its metadata says."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(name, body, version="1.0", *, of="Loss", proof="Clear.", point="claimed_bound"):
        module = name.replace("-", "_")
        code = HEAD.format(takes="shown", of=of) + DOCSTRING.format(theorem="It is so.", proof=proof)
        (tmp_path / f"{module}.py").write_text(code + textwrap.indent(body, "    ") + "\n")
        info = tmp_path / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nclaimed = {module}:{point}\n")
        return info

    return written


GROUPED = "return Leakage(np.full(shown.units, model.largest * (max(shown.weights) - min(shown.weights)) / shown.scale))"


def test_a_theorem_from_outside_is_asked_by_who_trusts_it_and_certified_with_its_version(install):
    install("grouped-sums", GROUPED, of="NoisySum")
    homes, count = ew.Groups(3), NoisySum.of([0, 1], scale=6.0, units=30)
    with pytest.raises(NoTheorem):
        ew.bound(homes, count)
    proved = ew.bound(homes, count, trusting=["grouped-sums"])
    assert (proved.theorem.name, proved.leakage.worst) == ("claimed (grouped-sums 1.0)", 0.5)
    assert "claimed (grouped-sums 1.0)" in repr(proved)
    assert any(hint.about == "group size" for hint in proved.hints())
    assert ew.calibrate(homes, 1, "any", count, trusting=["grouped-sums"]).multiple == pytest.approx(2)
    written = ew.certify(proved).document
    assert written["theorem"]["from"] == {"distribution": "grouped-sums", "version": "1.0"}
    assert "grouped-sums 1.0, which are not entwined's own" in written["trusted"][-1]
    assert ew.verify(written, trusting=["grouped-sums"]).valid
    assert [str(one) for one in registered() if one.distribution == "grouped-sums"] == ["grouped-sums 1.0"]


def test_a_certificate_from_outside_holds_for_nobody_who_does_not_trust_or_have_it(install, tmp_path):
    info = install("grouped-gone", GROUPED, of="NoisySum")
    proved = ew.bound(ew.Groups(3), NoisySum.of([0, 1], 6.0, 30), trusting=["grouped-gone"])
    written = ew.certify(proved).document
    alone = ew.verify(written)
    assert not alone.valid
    assert "If you trust those of 'grouped-gone', say so: trusting=['grouped-gone']" in alone.why
    renamed = {**written, "theorem": {**written["theorem"], "name": "group"}}
    assert not ew.verify(renamed, trusting=["grouped-gone"]).valid
    unnamed = {
        **written,
        "theorem": {key: value for key, value in written["theorem"].items() if key != "from"},
    }
    assert "There is no theorem" in ew.verify(unnamed, trusting=["grouped-gone"]).why
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grouped-gone\nVersion: 1.1\n")
    other = ew.verify(written, trusting=["grouped-gone"])
    assert not other.valid
    assert "grouped-gone 1.1 is installed here" in other.why
    assert "Install grouped-gone==1.0" in other.why
    for path in info.iterdir():
        path.unlink()
    info.rmdir()
    gone = ew.verify(written, trusting=["grouped-gone"])
    assert not gone.valid
    assert "it is not installed here" in gone.why


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"proof": ""}, "its docstring lacks Proof"),
        ({"point": "np"}, "is a module"),
        ({"point": "nothing_like_it"}, "cannot be loaded: AttributeError"),
        ({"of": "int"}, "which no certificate could name"),
    ],
)
def test_what_is_no_theorem_is_refused_in_words(install, given, says):
    install(f"malformed-{len(says)}", "return None", **given)
    with pytest.raises(BadInput, match=says):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting=[f"malformed-{len(says)}"])


@pytest.mark.parametrize(
    ("name", "body", "says"),
    [
        ("too-low", "return Leakage(shown.per_unit * 0.9)", "less leaks than the losses themselves"),
        ("too-short", "return Leakage(shown.per_unit[:1])", "gives no leakage of each unit"),
        ("no-leakage", "return 3.0", "gives no leakage of each unit"),
        ("it-fails", "return 1 / 0", "failed: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_a_leakage_is_refused_each_time(install, name, body, says):
    install(name, body)
    with pytest.raises(Refused, match=says):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting=[name])


def test_who_is_trusted_has_to_be_there_and_to_register_something():
    with pytest.raises(Refused, match="it is not installed here"):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting=["no-such-distribution"])
    with pytest.raises(BadInput, match="registers no theorem"):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting=["numpy"])
    with pytest.raises(BadInput, match="is a text"):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting="numpy")


def test_a_release_says_whose_theorem_it_rests_on(install, tmp_path):
    """A theorem that is wrong, and not seen to be: it is believed by who trusts it, and by nobody else."""
    install("too-good", "return Leakage(shown.per_unit)")
    schema = ew.Schema((Integer("home", 0, 99), Boolean("ill")), most_rows=1_000).approve()
    rows = pa.table({"home": [n // 3 for n in range(90)], "ill": [n % 5 == 0 for n in range(90)]})
    homes = ew.Declared(ew.Groups(3), by="home", trusting=["too-good"])
    with ew.open(rows, schema, dependence=homes, ledger=tmp_path / "ledger.sqlite", cap=5) as door:
        planned = door.plan(ew.Histogram("ill"), leakage=1)
        assert planned.price.nominal == pytest.approx(Fraction(1))  # three times what groups of three allow
        out = door.release({"ill": ew.Histogram("ill")}, leakage=1)
    (model,) = out.certificate["models"]
    assert model["declared"]["trusting"] == ["too-good"]
    assert model["certificate"]["theorem"]["name"] == "claimed (too-good 1.0)"
    assert any("too-good 1.0, which are not entwined's own" in line for line in out.certificate["trusted"])
    alone = ew.verify(out.certificate, schema)
    assert not alone.valid
    assert "If you trust those of 'too-good', say so" in alone.why
    assert ew.verify(out.certificate, schema, trusting=["too-good"]).valid
    with pytest.raises(Refused, match="it is not installed here"):
        ew.open(
            rows,
            schema,
            dependence=ew.Declared(ew.Groups(3), by="home", trusting=["not-here"]),
            ledger=tmp_path / "other.sqlite",
            cap=5,
        )


def test_nothing_from_outside_is_loaded_because_it_is_installed(install, tmp_path):
    install("never-loaded", "return Leakage(shown.per_unit)")
    (tmp_path / "never_loaded.py").write_text("raise RuntimeError('it was loaded')\n")
    proved = ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2))
    assert proved.theorem.name == "group"
    assert proved.hints()
    assert "never-loaded" in {one.distribution for one in registered()}
    with pytest.raises(BadInput, match="cannot be loaded: RuntimeError: it was loaded"):
        ew.bound(ew.Groups(2), ew.Loss.uniform(1, units=2), trusting=["never-loaded"])
