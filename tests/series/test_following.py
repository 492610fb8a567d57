"""Streams through the door: charged once, on disk before it is shown, and never answered twice."""

import math
import os
import random
import signal
from collections import defaultdict
from fractions import Fraction

import pytest

from entwined.door.stepwise import StepAnswer
from entwined.errors import EntwinedError, HolderError, LedgerUnavailable, OverBudget, Refused
from entwined.ledger import Book
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.streams.followed import Followed
from entwined.mechanisms.streams.stream import Stream
from entwined.request.bill import bill_of
from entwined.request.funds import ledger_for
from entwined.series import journal as journal_module
from entwined.series import steps
from entwined.series.following import Streaming, followed
from entwined.series.journal import StepJournal
from support.other_rows import forget_rows
from support.streams import CHAIN, DAYS, LINES, piped, streaming_in

STEPS = 60


def taken(streaming: Streaming, folder, text=LINES, *, again=True, ends=True) -> list[StepAnswer]:
    """Follow a stream to the end of a text, and give all that was ever answered."""
    kept = StepJournal(folder / "home.journal")
    end = piped(text)
    try:
        with followed(streaming, end, kept, again=again, ends=ends) as following:
            for _ in following.blocks:
                pass
    finally:
        os.close(end)
    return kept.answers


def kinds(folder) -> list[str]:
    book = Book(folder / "ledger.sqlite")
    try:
        return [entry.kind.value for entry in book.history()]
    finally:
        book.close()


@pytest.fixture
def small_chunks(monkeypatch):
    """Let lines come in a few at a time."""
    monkeypatch.setattr(steps, "CHUNK", 64)


def test_a_stream_goes_on_where_it_was(tmp_path, small_chunks):
    streaming = streaming_in(tmp_path)
    first = taken(streaming, tmp_path, LINES[:200])
    assert 0 < len(first) < STEPS
    whole = taken(streaming, tmp_path)
    assert whole[: len(first)] == first
    assert [one.step for one in whole] == list(range(1, STEPS + 1))
    assert taken(streaming, tmp_path) == whole
    assert kinds(tmp_path).count("charge") == 1


def test_groups_by_a_column_are_refused_where_no_row_can_be_taken_back(tmp_path):
    """One line a step: of a home's rows two count, and which two is not known before all have come in."""
    homes = '[[dependence]]\nmodel = {kind = "groups", largest = 2}\nby = "watts"\n'
    with pytest.raises(Refused, match="none can be taken back"):
        streaming_in(tmp_path, "loss = 1\nhorizon = 60", models=homes)


def test_no_cell_however_long_ends_a_stream(tmp_path):
    """A quoted cell that no reader of CSV takes, and a line that never seems to end: each is a row of its own."""
    lines = ["at_home,watts", "True,1", f'"{"x" * 200_000}",2', f"True,{'9' * 2_000_000}", "True,3", ""]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    streaming = streaming_in(tmp_path, 'loss = 100\nhorizon = 60\nwhere = "at_home"', models="")
    kept = StepJournal(tmp_path / "home.journal")
    with (
        (tmp_path / "long.csv").open("rb") as file,
        followed(streaming, file.fileno(), kept) as following,
    ):
        for _ in following.blocks:
            pass
    assert [one.number for one in kept.answers] == [1, 1, 2, 3]


def test_answers_are_near_the_truth(tmp_path):
    streaming = streaming_in(tmp_path, 'loss = 100\nhorizon = 60\nwhere = "at_home"', models="")
    answers = taken(streaming, tmp_path)
    exact = [at // 3 + 1 for at in range(STEPS)]
    assert max(abs(one.number - truth) for one, truth in zip(answers, exact, strict=True)) <= 2
    told = list(streaming.told(answers))
    assert told[0].csv.split(",")[0] == "1"
    assert all(one.within >= 0 for one in told)


@pytest.mark.parametrize(
    ("about", "head"),
    [
        ('loss = 100\nhorizon = 60\ntotal = "watts"', ""),
        ('loss = 100\nanswer = "each"\ntotal = "watts"', ""),
        ('loss = 1000\nhorizon = 60\ntotal = "watts"', 'delta = "1e-6"'),
    ],
)
def test_totals_come_in_their_unit(tmp_path, about, head):
    streaming = streaming_in(tmp_path, about, models="", head=head)
    told = list(streaming.told(taken(streaming, tmp_path)))
    steps_seen = [at % 7 for at in range(STEPS)]
    exact = steps_seen if "each" in about else [sum(steps_seen[: at + 1]) for at in range(STEPS)]
    off = [abs(one.value - truth) for one, truth in zip(told, exact, strict=True)]
    assert max(off) <= 6
    assert all(one <= max(4 * each.within, 5) for one, each in zip(off, told, strict=True))  # else 1 in 10⁷
    assert max(each.within for each in told) <= 6


def test_days_end_when_a_later_one_begins(tmp_path):
    about = 'loss = 100\nhorizon = 50\nstep = "day"\n'
    streaming = streaming_in(tmp_path, about, models="", lines=DAYS)
    open_ended = taken(streaming, tmp_path, DAYS, ends=False)
    assert len(open_ended) == 14
    more = DAYS + "17,True,1\n"
    answers = taken(streaming, tmp_path, more)
    assert len(answers) == 18
    assert answers[:14] == open_ended
    assert abs(answers[16].number - 60) <= 2  # a day that nobody mentions is there


@pytest.mark.parametrize("late", ["refuse", "drop"])
def test_late_rows_have_the_fate_that_was_declared(tmp_path, late):
    about = f'loss = 100\nhorizon = 50\nstep = "day"\nlate = "{late}"\n'
    streaming = streaming_in(tmp_path, about, models="", lines=DAYS)
    text = DAYS + "3,True,6\n" + "15,True,1\n"
    if late == "refuse":
        with pytest.raises(HolderError, match="step 4 came in after"):
            taken(streaming, tmp_path, text)
        assert len(taken(streaming, tmp_path, DAYS)) >= 14  # what was answered stays
    else:
        answers = taken(streaming, tmp_path, text)
        assert len(answers) == 16
        assert answers[14].number == 60  # four rows a day of fifteen days


def test_a_series_has_one_row_a_step(tmp_path):
    models = CHAIN.replace("columns", 'by = "watts"\norder = "day"\ncolumns')
    lines = "day,at_home,watts\n0,True,1\n0,True,1\n0,False,1\n0,True,2\n0,True,\n1,True,1\n"
    about = 'loss = 1000\nanswer = "each"\nstep = "day"\n'
    streaming = streaming_in(tmp_path, about, models=models, lines=lines)
    found = [one.number for one in taken(streaming, tmp_path, lines)]
    assert found == [2, 1]


def test_a_lost_an_older_and_another_journal_are_refused(tmp_path):
    streaming = streaming_in(tmp_path)
    kept = tmp_path / "home.journal"
    taken(streaming, tmp_path, LINES[:200])
    older = kept.read_bytes()
    taken(streaming, tmp_path)
    newest = kept.read_bytes()
    kept.write_bytes(older)
    with pytest.raises(Refused, match="older copy"):
        taken(streaming, tmp_path)
    kept.unlink()
    with pytest.raises(Refused, match="is not at"):
        taken(streaming, tmp_path)
    kept.write_bytes(newest.replace(b'"opening":"', b'"opening":"0', 1))  # the hash covers the steps alone
    with pytest.raises(Refused, match="another stream"):
        taken(streaming, tmp_path)
    kept.write_bytes(newest)
    assert len(taken(streaming, tmp_path)) == STEPS
    assert kinds(tmp_path).count("charge") == 1


def test_what_is_handed_on_is_on_disk(tmp_path, small_chunks):
    streaming, place = streaming_in(tmp_path), tmp_path / "home.journal"
    end, kept, shown = piped(LINES), StepJournal(place), 0
    with followed(streaming, end, kept) as following:
        for answers in following.blocks:
            shown += len(answers)
            assert place.read_text().count("\n[") == shown
    os.close(end)
    assert shown == STEPS
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_torn_block_was_not_shown_and_is_answered_anew(tmp_path):
    streaming, place = streaming_in(tmp_path), tmp_path / "home.journal"
    first = taken(streaming, tmp_path, LINES[:200])
    with place.open("ab") as file:
        file.write(b"[%d,777,null]\n[%d,77" % (len(first) + 1, len(first) + 2))
    whole = taken(streaming, tmp_path)
    assert whole[: len(first)] == first
    assert [one.step for one in whole] == list(range(1, STEPS + 1))
    assert taken(streaming, tmp_path) == whole
    assert b",777,null" not in place.read_bytes()


def test_a_stream_has_a_journal_of_its_own(tmp_path):
    taken(streaming_in(tmp_path), tmp_path, LINES[:200])
    with pytest.raises(Refused, match="another stream"):
        taken(streaming_in(tmp_path, 'leakage = 1\nanswer = "each"'), tmp_path)
    assert kinds(tmp_path).count("charge") == 1
    first, second = (StepJournal(tmp_path / "home.journal") for _ in range(2))
    with pytest.raises(Refused, match="another stream"):
        first.begin("")
    with pytest.raises(LedgerUnavailable, match="Another process"):
        second.begin("")
    first.close()


def test_nothing_is_read_that_the_cap_refuses(tmp_path):
    streaming = streaming_in(tmp_path, "leakage = 6")
    with pytest.raises(OverBudget):
        taken(streaming, tmp_path)


@pytest.mark.parametrize(
    ("about", "models", "head", "says"),
    [
        (
            "leakage = 1",
            CHAIN.replace("endless_chain", "markov_chain").replace("transition", "length = 1000, transition"),
            "",
            "no end",
        ),
        ("leakage = 1\nhorizon = 0", CHAIN, "", "horizon = 0"),
        ('leakage = 1\nlate = "keep"', CHAIN, "", "late"),
        ('leakage = 1\nstep = "watts"', CHAIN, "", "public"),
        ("leakage = 1\nseed = 1", CHAIN, "", "seed"),
        ("leakage = 1\nuse_delta = true", "", 'delta = "1e-6"', "horizon"),
        ("leakage = 1\nuse_delta = true\nhorizon = 100001", "", 'delta = "1e-6"', "a tree takes any horizon"),
        ("leakage = 1\nuse_delta = true\nhorizon = 30", "", "", "no delta is given"),
        ("leakage = 1\nuse_delta = 1", "", "", "true or false"),
    ],
)
def test_what_cannot_be_promised_is_refused(tmp_path, about, models, head, says):
    with pytest.raises(EntwinedError, match=says):
        streaming_in(tmp_path, about, models=models, head=head)


def test_the_mechanism_is_read_back(tmp_path):
    streaming = streaming_in(tmp_path)
    mechanism = Followed(streaming.stream, "home", streaming.promise)
    again = mechanism_from(mechanism.document, streaming.promise)
    assert again == mechanism
    assert again.parts(streaming.promise) == mechanism.parts(streaming.promise)
    other = {**mechanism.document, "stream": {**mechanism.document["stream"], "loss": "1/2"}}
    assert mechanism_from(other, streaming.promise) != mechanism
    (part,) = mechanism.parts(streaming.promise)
    assert part.one >= streaming.stream.loss > Fraction(1, 10)


def die_at(count: int) -> None:
    """Let this process be killed at its so-manieth write or sync, a write being cut somewhere."""
    left = [count]

    def trapped(name, owner):
        real = getattr(owner, name)

        def call(*given):
            left[0] -= 1
            if left[0] == 0:
                if name in {"write", "pwrite"} and random.random() < 0.7:
                    real(given[0], given[1][: random.randrange(len(given[1]) + 1)], *given[2:])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given)

        setattr(owner, name, call)

    for name in ("write", "pwrite", "fsync", "ftruncate"):
        trapped(name, os)
    trapped("sync_data", journal_module)


def followed_in_a_child(streaming: Streaming, folder, count: int) -> bool:
    """Follow the stream in a process that is killed at some point; say whether it lived to the end."""
    child = os.fork()
    if child == 0:
        try:
            shown = os.open(folder / "shown.csv", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            show = os.write
            die_at(count)
            kept, done = StepJournal(folder / "home.journal"), 0
            with followed(streaming, os.open(folder / "lines.csv", os.O_RDONLY), kept) as following:
                for _ in following.blocks:
                    show(shown, "".join(f"{one.step},{one.number}\n" for one in kept.answers[done:]).encode())
                    done = len(kept.answers)
                if done == 0:  # all of it was answered before, perhaps without being shown
                    show(shown, "".join(f"{one.step},{one.number}\n" for one in kept.answers).encode())
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, -signal.SIGKILL}
    return code == 0


def killed(folder, times: int) -> None:
    """Kill streams again and again, and hold every answer that was shown against the others and the ledger."""
    random.seed(times)
    deaths = 0
    while deaths < times:
        place = folder / str(deaths)
        place.mkdir()
        forget_rows()  # the same lines again, under a ledger of their own
        streaming, shown = streaming_in(place), place / "shown.csv"
        price = bill_of(streaming.request).price
        ledger_for(
            streaming.request, streaming.promise, price, None
        ).close()  # how one is begun is tested elsewhere
        while not followed_in_a_child(streaming, place, random.randrange(1, 16)):
            deaths += 1
            if shown.exists() and shown.stat().st_size:
                assert kinds(place).count("charge") == 1
        seen = defaultdict(set)
        for line in shown.read_text().splitlines():
            step, number = line.split(",")
            seen[int(step)].add(number)
        whole = taken(streaming, place)
        assert seen == {one.step: {str(one.number)} for one in whole}
        assert [one.step for one in whole] == list(range(1, STEPS + 1))
        assert kinds(place).count("charge") == 1


def test_ten_kills(tmp_path, small_chunks):
    killed(tmp_path, 10)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path, small_chunks):
    killed(tmp_path, 200)


@pytest.mark.parametrize("horizon", [None, 60], ids=["endless", "with an end"])
def test_a_number_about_each_step_under_a_delta_composes_by_steps(tmp_path, horizon):
    """One line a step, each with noise of its own: what is shown of different steps composes, and it has no end."""
    about = 'leakage = 1\nanswer = "each"' + ("" if horizon is None else f"\nhorizon = {horizon}")
    head = 'delta = "1e-6"\n'
    chain = CHAIN if horizon is None else CHAIN.replace('"endless_chain"', '"markov_chain", length = 1000')
    streaming = streaming_in(tmp_path, about, head=head, models=chain)
    promise, stream = streaming.promise, streaming.stream
    parts = stream.parts(promise)
    base = promise.base(parts)
    assert base.apart
    (found,) = promise.bounds(base).values()
    assert "separable" in found.theorem.name
    assert float(stream.noise.scale) == pytest.approx(math.sqrt(8.9835**2 + 3), rel=2e-3)
    answers = taken(streaming, tmp_path)
    assert len(answers) == STEPS
    two = Stream.of(promise, stream.query, stream.loss / 2, answer="each", horizon=horizon)
    both = promise.base((*parts, *two.parts(promise)))
    assert not both.apart  # the second may have been chosen by what the first showed
    (found,) = promise.bounds(both).values()
    assert "gaussian" in found.theorem.name


def test_steps_of_several_lines_are_not_apart(tmp_path):
    about = 'leakage = 1\nanswer = "each"\nstep = "day"'
    streaming = streaming_in(tmp_path, about, head='delta = "1e-6"\n', lines=DAYS)
    assert not streaming.promise.base(streaming.stream.parts(streaming.promise)).apart
