"""The commands bound, calibrate and verify, as the contract says, in a real process."""

import json
import os
import resource
import subprocess
import sys
import time

import pytest

from support import command
from support.warm import entwined

CHAIN = {"kind": "markov_chain", "length": 100, "transition": [[0.9, 0.1], [0.1, 0.9]]}


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.json").write_text(json.dumps(CHAIN))
    return tmp_path


def test_bound_prints_the_contract(chain):
    done = entwined("bound", "chain.json", "--loss", "0.1", "--json", folder=chain)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert list(found) == ["leakage", "theorem", "per_unit", "spread", "alternatives", "hints"]
    assert found["theorem"] == "message passing"
    assert found["leakage"] == pytest.approx(0.8926558, rel=1e-6)
    assert len(found["per_unit"]) == 100
    for other in found["alternatives"]:
        assert ("leakage" in other) != ("why_not" in other)
        assert set(other) <= {"theorem", "leakage", "why_not"}


def test_bound_with_a_loss_vector_and_knowledge(chain):
    (chain / "chain.json").write_text(json.dumps({**CHAIN, "initial": [0.5, 0.5]}))
    vector = ",".join(["0.1"] * 100)
    done = entwined(
        "bound", "chain.json", "--loss-vector", vector, "--knowledge", "model", "--json", folder=chain
    )
    assert json.loads(done.stdout)["theorem"] == "transport"
    known = entwined("bound", "chain.json", "--loss", "0.1", "--knowledge", "values", "--json", folder=chain)
    assert json.loads(known.stdout)["theorem"] == "tilted transport"


def test_calibrate_prints_the_contract(chain):
    done = entwined(
        "calibrate", "chain.json", "--leakage", "1.0", "--sensitivity", "2", "--json", folder=chain
    )
    found = json.loads(done.stdout)
    assert list(found) == ["loss", "laplace_scale", "theorem", "hints"]
    assert found["laplace_scale"] == pytest.approx(2 * 8.908, rel=1e-3)
    (chain / "chain.json").write_text(json.dumps({**CHAIN, "initial": [0.5, 0.5]}))
    exact = entwined(
        "calibrate",
        "chain.json",
        "--leakage",
        "1",
        "--knowledge",
        "model",
        "--count",
        "1",
        "--json",
        folder=chain,
    )
    assert json.loads(exact.stdout)["laplace_scale"] == pytest.approx(8.64, abs=0.005)
    assert json.loads(exact.stdout)["theorem"] == "exact scalar accountant"
    assert json.loads(exact.stdout)["wasserstein_scale"] == pytest.approx(10.0, rel=1e-6)


def test_certificate_and_verify(chain):
    done = entwined("bound", "chain.json", "--loss", "0.1", "--certificate", "certificate.json", folder=chain)
    assert done.returncode == 0
    assert "exp(0.892656)" in done.stdout
    good = entwined("verify", "certificate.json", "--json", folder=chain)
    assert (good.returncode, json.loads(good.stdout)["valid"]) == (0, True)
    text = (chain / "certificate.json").read_text()
    (chain / "certificate.json").write_text(text.replace("0.89265", "0.79265", 1))
    bad = entwined("verify", "certificate.json", "--json", folder=chain)
    assert (bad.returncode, json.loads(bad.stdout)["valid"]) == (1, False)


def test_a_certificate_in_another_folder_finds_the_edges(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "edges.csv").write_text("source,target\n1,2\n2,3\n")
    (tmp_path / "model" / "graph.json").write_text('{"kind": "graph", "edges": "edges.csv", "log_odds": 0.4}')
    done = entwined("bound", "model/graph.json", "--loss", "1", "-o", "certificate.json", folder=tmp_path)
    assert done.returncode == 0
    assert entwined("verify", "certificate.json", folder=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("bound", "none.json", "--loss", "1"), 2, "no such file"),
        (("bound", "chain.json"), 2, "either --loss"),
        (("bound", "chain.json", "--loss", "0"), 2, "not above zero"),
        (("bound", "chain.json", "--loss", "nan"), 2, "not a finite number"),
        (("bound", "chain.json", "--loss", "1e308"), 2, "usable range"),
        (("bound", "chain.json", "--loss-vector", "1,2"), 2, "2 units"),
        (("bound", "chain.json", "--loss-vector", "1,x"), 2, "list of numbers"),
        (("bound", "chain.json", "--loss", "1", "--knowledge", "all"), 2, "knowledge"),
        (("calibrate", "chain.json", "--leakage", "-1"), 2, "not above zero"),
        (("calibrate", "chain.json", "--leakage", "1", "--count", "7", "--knowledge", "model"), 2, "State 7"),
        (("calibrate", "chain.json", "--leakage", "1", "--count", "1"), 2, "knowledge model"),
        (
            ("calibrate", "chain.json", "--leakage", "1", "--weights", "1", "--importance", "1"),
            2,
            "at most one",
        ),
        (("verify", "chain.json"), 2, "no certificate"),
        (("bound", "strong.json", "--loss", "1"), 1, "No theorem"),
    ],
)
def test_failures_are_one_clear_line_with_the_right_code(chain, arguments, code, says):
    (chain / "strong.json").write_text('{"kind": "gaussian", "size": 9, "max_correlation": 0.5}')
    done = entwined(*arguments, folder=chain)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_start_up_takes_under_half_a_second_of_cpu(arguments, tmp_path):
    """Of three starts the least counts: the first compiles, and a busy machine makes others dearer."""

    def taken():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    starts = []
    for _ in range(3):
        before = taken()
        assert command.entwined(*arguments, folder=tmp_path).returncode == 0
        starts.append(taken() - before)
    assert min(starts) < 0.5


def test_a_progress_bar_is_shown_on_a_terminal_when_work_takes_over_a_second():
    """In a real pseudo-terminal; nothing of it reaches stdout."""
    import pty

    code = (
        "import time\nfrom entwined.cli.show import progress\nfrom entwined.progress import report\n"
        "with progress():\n for step in range(15):\n  time.sleep(0.1); report('passing messages', step, 15)\nprint('done')"
    )
    terminal, end = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": "xterm"}
    )
    os.close(end)
    shown = b""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    out = running.communicate(timeout=20)[0]
    os.close(terminal)
    assert b"passing messages" in shown
    assert out == b"done\n"
