"""A table remembers its ledger: another one, an older copy, or a new one in its place is refused before a charge."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import entwined
from entwined.cli.app import main
from entwined.door.witnessed import witness_of
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable
from entwined.ledger import Book, Ledger, Mark
from entwined.ledger.slots import Kept, Slots
from entwined.ledger.witness import Witness
from entwined.promise.promise import Promise
from entwined.queries import Histogram, codes_in
from entwined.request.verbs import release
from entwined.schema import Boolean, Schema, write_schema
from entwined.tables import open_table
from entwined.tables.origin import BLOCK, BLOCKS, sampled

SCHEMA = Schema((Boolean("a"),)).approve()
REQUEST = """\
table = "table.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 4.0
loss = 1.0

[[query]]
kind = "histogram"
column = "a"
"""
KILLED = """
import os, signal
from fractions import Fraction
from entwined.ledger import Ledger
from entwined.ledger.witness import Witness
from entwined.queries import Histogram
from entwined.promise.promise import Promise
from entwined.request.verbs import release
from entwined.schema import read_schema
from entwined.tables import open_table

schema = read_schema("schema.toml")
Witness.raise_to = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with Ledger.open("ledger.sqlite", Fraction(4), Promise.of(schema)) as ledger, open_table("table.csv", schema) as t:
    release(t, Histogram("a"), ledger=ledger, loss="0.5")
"""
GROUPS = """
[[dependence]]
name = "pairs"
model = { kind = "groups", largest = 2 }
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("table.csv").write_text("a\n" + "true\nfalse\n" * 50)
    write_schema(SCHEMA, "schema.toml")
    Path("release.toml").write_text(REQUEST)
    return folder


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments, typed=""):
        monkeypatch.setattr(sys, "argv", ["entwined", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return run


def begun(name="ledger.sqlite", cap=4):
    return Ledger.create(name, Fraction(cap), Promise.of(SCHEMA))


def opened(name="ledger.sqlite"):
    return Ledger.open(name, Fraction(4), Promise.of(SCHEMA))


def ask(ledger, where=None, source="table.csv", loss="0.5"):
    given = {} if where is None else {"where": codes_in("a", 3, ((where, where),))}
    with open_table(source, SCHEMA) as table:
        return release(table, Histogram("a", **given), ledger=ledger, loss=loss)


def marks(project):
    """The witness beside the table and the one in the state folder."""
    found = [*project.glob(".*.entwined"), *(project.parent / "state/entwined/rollback-guards").glob("*")]
    return [path for path in found if not path.name.endswith("-lock")]


def saved(project):
    """Copy the ledger with its anchor, as a backup of both would."""
    shutil.copytree(project, project.parent / "copy", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(project.parent / "state/entwined/anchors", project.parent / "copied anchors")


def put_back(project):
    for path in project.glob("ledger*"):
        path.unlink()
    for path in (project.parent / "copy").glob("ledger*"):
        shutil.copy(path, project)
    anchors = project.parent / "state/entwined/anchors"
    shutil.rmtree(anchors)
    shutil.copytree(project.parent / "copied anchors", anchors)


@pytest.mark.parametrize("lost", [None, 0, 1])
def test_a_ledger_put_back_together_with_its_anchor_is_refused(project, lost):
    """Without it the same question would get fresh noise from each copy, and their mean would be the truth."""
    with begun() as ledger:
        ask(ledger, 0)
    saved(project)
    with opened() as ledger:
        ask(ledger)
    put_back(project)
    if lost is not None:  # either of the two marks is enough
        marks(project)[lost].unlink()
    with opened() as ledger:
        with pytest.raises(
            LedgerDamaged, match=r"not the one at 5.*Nothing was charged\. Restore the newest"
        ):
            ask(ledger)
        assert ledger.spent().entries == 3


def test_a_copy_from_between_a_charge_and_its_answer_is_refused_too(project):
    """It would draw the answer a second time."""
    with begun() as ledger:
        settle = ledger.settle

        def settled(*given):
            ledger.book.close()
            saved(project)
            return settle(*given)

        ledger.settle = settled
        ask(ledger)
    put_back(project)
    with opened() as ledger, pytest.raises(LedgerDamaged, match="not the one at 3"):
        ask(ledger)


def test_a_second_ledger_for_the_same_table_is_refused_and_not_charged(project):
    with begun() as ledger:
        ask(ledger)
    with begun("second.sqlite") as second:
        with pytest.raises(
            BadLedger, match=r"this is another one.*Nothing was charged.*adopt RELEASE.toml --other"
        ):
            ask(second)
        assert second.spent().parts == ()


def test_deleting_ledger_and_anchor_does_not_start_anew(project, run):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    for path in project.glob("ledger*"):
        path.unlink()
    shutil.rmtree(project.parent / "state/entwined/anchors")
    code, _, err = run("release", "release.toml", "-o", "two", "--yes")
    assert code == 2
    assert "was released from before" in err
    assert "entwined budget adopt RELEASE.toml --other-rows" in err
    assert not Path("ledger.sqlite").exists()


def test_a_second_ledger_is_not_even_begun_by_the_command(project, run):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    Path("second.toml").write_text(REQUEST.replace("ledger.sqlite", "second.sqlite"))
    assert run("release", "second.toml", "-o", "two", "--yes")[0] == 2
    assert not Path("second.sqlite").exists()


def test_a_renamed_table_keeps_its_ledger(project):
    with begun() as ledger:
        ask(ledger)
        Path("table.csv").rename("renamed.csv")
        ask(ledger, 1, "renamed.csv")
        assert float(ledger.spent().price.worst) == pytest.approx(1)


def test_a_table_that_moves_with_its_folder_is_still_known(project, tmp_path):
    with begun() as ledger:
        ask(ledger)
    shutil.copytree(project, tmp_path / "elsewhere")
    with begun(tmp_path / "other.sqlite") as other, pytest.raises(BadLedger, match="another one"):
        ask(other, source=tmp_path / "elsewhere/table.csv")


def test_a_frame_is_known_by_its_contents(project):
    frame = pd.DataFrame({"a": [True, False]})
    with begun() as ledger, begun("two.sqlite") as other:
        ask(ledger, source=frame)
        with pytest.raises(BadLedger, match=r"A frame in memory .*another one.*open\(…, other_rows=True"):
            ask(other, source=pa.table({"a": [True, False]}))
        assert other.spent().parts == ()
        ask(ledger, 1, source=frame.copy())
        ask(other, source=pd.DataFrame({"a": [True, True]}))
    given = {"ledger": "two.sqlite", "cap": 4}
    with entwined.open(frame, SCHEMA, **given) as desk, pytest.raises(BadLedger, match="another one"):
        desk.release(Histogram("a"), loss=1)
    with entwined.open(frame, SCHEMA, **given, other_rows=True) as desk:
        assert desk.release(Histogram("a"), loss=1)


def renamed():
    return Path("table.csv").rename("renamed.csv")


def copied():
    return shutil.copy("table.csv", "copy.csv")


def linked():
    Path("link.csv").symlink_to("table.csv")
    return Path("link.csv")


def linked_hard():
    Path("hard.csv").hardlink_to("table.csv")
    return Path("hard.csv")


@pytest.mark.parametrize("act", [renamed, copied, linked, linked_hard])
def test_the_same_file_under_another_name_keeps_its_ledger(project, run, act):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    name = Path(act()).name
    second = REQUEST.replace("ledger.sqlite", "second.sqlite").replace("table.csv", name)
    Path("second.toml").write_text(second)
    code, _, err = run("release", "second.toml", "-o", "two", "--yes")
    assert (code, "was released from before, under the ledger" in err) == (2, True)
    assert ("under another name" in err) == (act is not linked)
    assert not Path("second.sqlite").exists()
    assert run("budget", "adopt", "second.toml", "--yes", "--other-rows")[0] == 0
    assert run("release", "second.toml", "-o", "two", "--yes")[0] == 0


def test_large_files_are_known_by_blocks_all_over_them(tmp_path):
    size = 3 * BLOCK * BLOCKS
    one, other = tmp_path / "one", tmp_path / "other"
    with one.open("wb") as file:
        file.truncate(size)
    shutil.copyfile(one, other)
    assert sampled([one]) == sampled([other]) != sampled([one, one])
    with other.open("r+b") as file:
        file.seek(size - 3 * BLOCK)
        file.write(b"x")
    assert sampled([one]) != sampled([other])
    assert sampled([tmp_path]) == "", "what cannot be read is found out after the charge"


def test_parts_of_a_folder_are_the_table_whoever_reads_them(project):
    frame = pd.DataFrame({"a": [True, False, True]})
    for name in ("parts", "others"):
        Path(name).mkdir()
        frame.to_parquet(f"{name}/p.parquet")
    with begun() as ledger, begun("second.sqlite") as second:
        ask(ledger, source="parts")
        frame[::-1].to_parquet("parts/q.parquet")
        ask(ledger, source="parts")
        for source in ("parts/p.parquet", "parts/q.parquet", "others"):
            with pytest.raises(BadLedger, match="under another name"):
                ask(second, source=source)
        frame[:2].to_parquet("others/r.parquet")
        with pytest.raises(BadLedger, match="made of another one"):
            ask(second, source="others")
        assert second.spent().parts == ()


def test_where_the_folder_of_the_table_may_not_be_written_the_state_folder_remembers(project, monkeypatch):
    start = Slots.start

    def started(slots, *given):
        if slots.path.parent == project:
            raise PermissionError(13, "no")
        start(slots, *given)

    monkeypatch.setattr(Slots, "start", started)
    with begun() as ledger:
        ask(ledger)
    assert [path.parent.name for path in marks(project)] == ["rollback-guards"]
    with begun("second.sqlite") as second, pytest.raises(BadLedger, match="another one"):
        ask(second)


def test_a_witness_that_cannot_be_written_keeps_the_answer_back(project, monkeypatch):
    with begun() as ledger:

        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(
                Slots, "raise_to", lambda slots, *_: "rollback-guards" in slots.path.parts and full()
            )
            with pytest.raises(LedgerUnavailable, match="the disk is full"):
                ask(ledger)
        assert ledger.spent().entries == 3
        ask(ledger)
        assert ledger.spent().entries == 3, "the answer was kept, and is handed out now"


def test_a_spoilt_witness_is_refused(project):
    with begun() as ledger:
        ask(ledger)
        marks(project)[0].write_bytes(b"nonsense")
        with pytest.raises(LedgerDamaged, match="no valid mark"):
            ask(ledger, 1)


def test_a_kill_between_the_answer_and_the_witness_is_mended_by_the_next_release(project):
    with begun() as ledger:
        ask(ledger, 0)
        before = [Slots(path, "", 1).read() for path in marks(project)]
    child = subprocess.run([sys.executable, "-c", KILLED], check=False, timeout=60, cwd=project)
    assert child.returncode == -signal.SIGKILL
    assert [Slots(path, "", 1).read() for path in marks(project)] == before
    with opened() as ledger:
        assert ledger.spent().entries == 5, "it was charged and answered, and the table does not know yet"
        ask(ledger)
        assert ledger.spent().entries == 5
        assert {Slots(path, "", 1).read() for path in marks(project)} == {(ledger.head(), ledger.id)}


def test_whoever_binds_a_table_first_has_it(project, monkeypatch):
    """Both looked before either had written."""
    with begun() as first, begun("second.sqlite") as second:
        table = Witness(["a table"], project)
        require = Witness._require

        def late(*_):
            monkeypatch.setattr(Witness, "_require", require)
            table.bind(first.book)
            return 0

        monkeypatch.setattr(Witness, "_require", late)
        with pytest.raises(BadLedger, match="another one"):
            table.bind(second.book)


# commands -------------------------------------------------------------------------------------


def test_a_receipt_is_printed_and_later_commands_can_be_held_to_it(project, run):
    code, out, _ = run("release", "release.toml", "-o", "one", "--yes")
    receipt = next(line.split()[1] for line in out.splitlines() if line.startswith("receipt "))
    with Book("ledger.sqlite").reading() as view:
        assert receipt == f"3:{view.last.hash[:16]}"
    found = json.loads(
        run("release", "release.toml", "-o", "two", "--yes", "--json", "--receipt", receipt)[1]
    )
    assert found["budget"]["receipt"] == receipt
    assert run("budget", "check", "release.toml", "--receipt", receipt)[0] == 0
    for wrong, code in (
        ("4:" + 16 * "0", 1),
        ("3:" + 16 * "0", 1),
        ("3", 2),
        ("x:" + 16 * "0", 2),
        ("3:abc", 2),
    ):
        for command in (
            ("budget", "check", "ledger.sqlite"),
            ("release", "release.toml", "-o", "no", "--yes"),
        ):
            ended, out, err = run(*command, "--receipt", wrong)
            assert (ended, out, err.count("\n")) == (code, "", 1), (wrong, command)
    assert not Path("no").exists()


def test_check_says_that_all_is_sound_or_what_is_not(project, run):
    assert run("budget", "check", "release.toml")[0] == 2, "no ledger yet"
    with begun() as ledger:
        ask(ledger, 0)
    saved(project)
    with opened() as ledger:
        ask(ledger)
    code, out, _ = run("budget", "check", "ledger.sqlite")
    assert (code, out.splitlines()[0]) == (
        0, "Sound: 5 entries. The anchor agrees. Tables whose rollback guard agrees: 1.",
    )  # fmt: skip
    assert json.loads(run("budget", "check", "release.toml", "--json")[1])["entries"] == 5
    put_back(project)
    for place in ("ledger.sqlite", "release.toml"):
        code, out, err = run("budget", "check", place)
        assert (code, out) == (1, "")
        assert "not the one at 5" in err


def test_a_ledger_that_was_moved_is_adopted_after_a_full_check(project, run, tmp_path, monkeypatch):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    project.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    code, _, err = run("budget")
    assert code == 1
    assert "entwined budget adopt LEDGER" in err
    assert run("budget", "adopt", "ledger.sqlite", typed="no\n")[0] == 1
    assert run("budget")[0] == 1, "who does not say yes does not adopt"
    code, out, _ = run("budget", "adopt", "ledger.sqlite", typed="y\n")
    assert (code, "Adopted" in out) == (0, True)
    assert run("release", "release.toml", "-o", "two", "--yes")[0] == 0
    assert json.loads(run("budget", "--json")[1])["spent"]["nominal"] == pytest.approx(2), (
        "a moved file is asked anew"
    )


def test_what_the_anchor_knows_further_is_not_adopted(project, run):
    with begun() as ledger:
        ask(ledger, 0)
    saved(project)
    with opened() as ledger:
        ask(ledger)
    for path in project.glob("ledger*"):
        path.unlink()
    for path in (project.parent / "copy").glob("ledger*"):
        shutil.copy(path, project)
    code, _, err = run("budget", "adopt", "ledger.sqlite", "--yes")
    assert code == 1
    assert "not the one at 5" in err
    shutil.rmtree(project.parent / "state/entwined/anchors")
    code, _, err = run("budget", "adopt", "release.toml", "--yes", "--other-rows")
    assert code == 1, "the table's own ledger in an old copy is no matter of other rows"
    assert "not the one at 5" in err


def test_other_rows_at_the_same_place_need_the_holders_word(project, run):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    Path("second.toml").write_text(REQUEST.replace("ledger.sqlite", "second.sqlite"))
    begun("second.sqlite").close()
    assert run("budget", "adopt", "second.toml", "--yes")[0] == 2
    assert run("budget", "adopt", "second.sqlite", "--yes", "--other-rows")[0] == 2, "of which table?"
    assert run("budget", "adopt", "second.toml", "--other-rows", typed="n\n")[0] == 1
    assert run("release", "second.toml", "-o", "two", "--yes")[0] == 2
    assert run("budget", "adopt", "second.toml", "--yes", "--other-rows")[0] == 0
    assert run("release", "second.toml", "-o", "two", "--yes")[0] == 0
    assert run("release", "release.toml", "-o", "three", "--yes")[0] == 2, (
        "the first is not its ledger any more"
    )


def test_other_rows_without_a_ledger_begin_one(project, run):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    for path in project.glob("ledger*"):
        path.unlink()
    assert run("budget", "adopt", "release.toml", "--yes")[0] == 2
    code, out, _ = run("budget", "adopt", "release.toml", "--yes", "--other-rows")
    assert (code, "begins a new ledger" in out) == (0, True)
    assert run("release", "release.toml", "-o", "two", "--yes")[0] == 0


def test_migrate_shows_what_changes_asks_and_keeps_what_was_spent(project, run):
    assert run("release", "release.toml", "-o", "one", "--yes")[0] == 0
    Path("release.toml").write_text(REQUEST.replace("cap = 4.0", "cap = 3.0") + GROUPS)
    code, _, err = run("release", "release.toml", "-o", "two", "--yes")
    assert code == 2
    assert "the cap was 4 and is 3; model added: 'pairs'" in err
    assert "entwined budget migrate" in err
    code, out, _ = run("budget", "migrate", "release.toml", typed="n\n")
    assert code == 1
    assert "model added: 'pairs'" in out
    assert "Spent so far: 1 of 4. Under the new terms: 2 of 3." in out
    assert run("release", "release.toml", "-o", "two", "--yes")[0] == 2
    found = json.loads(run("budget", "migrate", "release.toml", "--yes", "--json")[1])
    assert (found["spent"], found["cap"], found["over"]) == (pytest.approx(2), 3, False)
    assert run("budget", "migrate", "release.toml", "--yes")[0] == 2, "nothing to migrate"
    code, _, err = run("release", "release.toml", "-o", "two", "--yes")
    assert (code, "over the cap" in err or "more than the cap" in err) == (1, True)
    Path("release.toml").write_text(REQUEST.replace("cap = 4.0", "cap = 1.5") + GROUPS)
    code, out, _ = run("budget", "migrate", "release.toml", "--yes")
    assert (code, "nothing more can be released" in out) == (0, True)
    assert run("budget", "check", "release.toml")[0] == 0


def test_budget_without_a_word_behind_it_shows_what_was_spent(project, run):
    begun().close()
    shown = run("budget", "ledger.sqlite")
    assert shown == run("budget", "show", "ledger.sqlite")
    assert json.loads(run("budget", "--json", "ledger.sqlite")[1]) == json.loads(
        run("budget", "--json")[1]
    ) | {"ledger": "ledger.sqlite"}
    assert "adopt" in run("budget", "--help")[1]


def test_a_charge_between_two_looks_is_no_cut(project, monkeypatch):
    """Others charge while somebody looks: what the table remembers by then is further than what is looked at."""
    ask(begun())
    book = Book("ledger.sqlite")
    looking = book.reading

    @contextmanager
    def interrupted():
        with looking() as view:
            ask(opened(), loss="0.25")
            yield view

    with open_table("table.csv", SCHEMA) as table:
        monkeypatch.setattr(book, "reading", interrupted)
        assert witness_of(table).require(book) > 0
    book.close()


def test_a_mark_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    """Who reads while a mark is made finds nothing yet; an empty file would look spoilt."""
    slots, linked, seen = Slots(tmp_path / "mark", "A mark", 1), os.link, []

    def looked_at(*paths):
        seen.append(slots.read())
        linked(*paths)

    monkeypatch.setattr(os, "link", looked_at)
    slots.start(Kept(Mark(1, "a" * 64)), 0o600)
    assert seen == [None]
    assert slots.read() == Kept(Mark(1, "a" * 64))
    assert [path.name for path in tmp_path.iterdir()] == ["mark"]
    with pytest.raises(FileExistsError):
        slots.start(Kept(Mark(2, "b" * 64)), 0o600)
