"""Whoever asks most does not keep others waiting, and the command starts what it says."""

import asyncio
import pickle
import socket
from types import SimpleNamespace

import pytest
import uvicorn
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.web import workers
from entwined.web.guard import Porter
from entwined.web.refusals import TurnedAway
from entwined.web.turns import Turns
from support.served import people


def test_those_who_wait_take_turns():
    async def served():
        turns, order = Turns(1, 10), []

        async def asks(name):
            async with turns.turn(name):
                order.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(*(asks(name) for name in "aaaaaabac"))
        return "".join(order), turns._free

    assert asyncio.run(served()) == ("aabcaaaaa", 1)


def test_queues_are_short_and_who_leaves_gives_the_turn_on():
    async def served():
        turns = Turns(1, 2)
        async with turns.turn("a"):
            waiting = [asyncio.create_task(turns._queued(name)) for name in "aab"]
            await asyncio.sleep(0)
            with pytest.raises(TurnedAway, match="Too many"):
                await turns._queued("a")
            waiting[0].cancel()
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # the turn of who left went to the next name
        assert [task.done() for task in waiting] == [True, False, True]
        turns._next()
        await waiting[1]
        turns._next()
        assert turns._free == 1

    asyncio.run(served())


def test_the_command_serves_this_machine_alone_and_prints_a_start_that_is_good_once(tmp_path, monkeypatch):
    folder, started = people(tmp_path), {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **given: started.update(app=app, **given))
    said = CliRunner().invoke(
        app, ["serve", str(folder), "--offer", str(folder / "people.toml"), "--port", "8421"]
    )
    assert said.exit_code == 0, said.output
    assert "http://127.0.0.1:8421/start?token=" in said.output
    assert (started["host"], started["access_log"]) == ("127.0.0.1", False)
    assert isinstance(started["app"], Porter)
    assert started["app"]._hosts == {"127.0.0.1:8421", "localhost:8421", "[::1]:8421"}
    started["app"]._app.state.house.close()


def test_several_processes_are_given_all_that_they_need_to_serve(tmp_path, monkeypatch):
    folder, started = people(tmp_path), {}
    monkeypatch.setattr(
        workers.Workers, "of", lambda *given: started.update(given=given) or SimpleNamespace(run=int)
    )
    words = ["serve", str(folder), "--offer", str(folder / "people.toml"), "--port", "8422", "--workers", "3"]
    monkeypatch.setattr(workers, "bound", lambda *_: socket.socket())  # the port may be somebody's
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    assert "without the page" in said.output
    make, listening, number = started["given"]
    listening.close()
    made = pickle.loads(pickle.dumps(make))()  # noqa: S301  (as it is sent to each of them)
    assert number == 3
    assert made._hosts == {"127.0.0.1:8422", "localhost:8422", "[::1]:8422"}
    assert made._app.state.sessions is None
    made._app.state.house.close()
    refused = CliRunner().invoke(app, [*words, "--table", "postgresql://h/d?table=p"])
    assert refused.exit_code != 0


def test_tokens_are_made_listed_and_ended_at_the_command_line(tmp_path):
    def run(*words):
        done = CliRunner().invoke(app, ["token", *words])
        assert done.exit_code == 0, done.output
        return done.output

    token = run("add", str(tmp_path), "ann", "--most", "1").strip()
    assert token.startswith("entw_")
    assert "ann" in run("list", str(tmp_path))
    assert token.split("_", 2)[2] not in run("list", str(tmp_path), "--json")
    assert "Ended 1" in run("revoke", str(tmp_path), "ann")
    assert "Requests" in run("log", str(tmp_path))
