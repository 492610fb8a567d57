"""`entwined serve`: the holder's page and the analysts' service for the tables of a folder, here alone by default."""

import importlib.util
import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.show import progress, say
from entwined.errors import BadInput

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the tables.", readable=False)]


def command(
    folder: Folder = Path(),
    offer: Annotated[
        list[Path] | None,
        typer.Option(
            "--offer", help="A RELEASE.toml whose table analysts may ask; may be repeated.", readable=False
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen at.")] = 8420,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", help="A further host[:port] that requests may be sent to, such as the proxy's."
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=1, max=64, help="How many processes answer analysts; above 1 without the page."
        ),
    ] = 1,
) -> None:
    """Serve the holder's page for a folder of tables, and answer analysts' questions, each charged to its ledger."""
    require_web()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small sums: threads for one would only wait
    names, here = required_names(host, name or []), host in LOOPBACK
    if workers == 1:
        _alone(folder, offer or [], host, port, names, page=here)
    else:
        _shared(folder, offer or [], host, port, names, workers)


def _alone(folder: Path, offers: list[Path], host: str, port: int, names: list[str], *, page: bool) -> None:
    """Serve in this process, with the page for whoever sits at this machine."""
    import uvicorn

    from entwined.web.app import make_app
    from entwined.web.house import House
    from entwined.web.sessions import Sessions

    with progress():
        house = House.open(folder, offers)
    sessions = Sessions() if page else None
    app = make_app(
        house,
        _hosts(host, port, names),
        sessions,
        lambda token: say(f"Another browser: {_start(port, token)}"),
    )
    _welcome(folder, host, port, list(house.offers))
    if sessions is not None:
        say(f"Your page, good once: {_start(port, sessions.start)}")
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, server_header=False)


def _shared(folder: Path, offers: list[Path], host: str, port: int, names: list[str], workers: int) -> None:
    """Serve in several processes, for analysts alone."""
    from entwined.web.app import app_of
    from entwined.web.house import House
    from entwined.web.workers import Workers, bound

    with progress():
        House.open(folder, offers).close()  # what is wrong is said once, and ledgers are begun by one
    listening = bound(host, port)
    _welcome(folder, host, port, [one.stem for one in offers])
    say(f"{workers} processes answer, without the page: start another one for that, with --port.")
    Workers.of(partial(app_of, folder, offers, _hosts(host, port, names)), listening, workers).run()


def _hosts(host: str, port: int, names: list[str]) -> tuple[str, ...]:
    from entwined.web.app import LOOPBACK as OWN
    from entwined.web.app import hosts_at

    return hosts_at(port, (*(OWN if host in LOOPBACK else ()), *names))


def _welcome(folder: Path, host: str, port: int, offers: list[str]) -> None:
    say(f"Tables on offer: {', '.join(offers) or 'none'}. Stop with Ctrl-C.")
    say(
        f"Analysts: entwined.connect('http://{host}:{port}', token); tokens by: entwined token add {folder} NAME"
    )


def _start(port: int, token: str) -> str:
    return f"http://127.0.0.1:{port}/start?token={token}"


def require_web() -> None:
    """Say what to install where it is missing."""
    if any(importlib.util.find_spec(one) is None for one in ("fastapi", "uvicorn")):
        raise BadInput("A service needs fastapi and uvicorn. Install them with: pip install 'entwined[web]'")


def required_names(host: str, names: list[str]) -> list[str]:
    """Refuse to listen to the world without the exact names that it may use."""
    if host not in LOOPBACK and not names:
        raise BadInput(
            f"--host {host} is open to others. Give with --name the exact names that requests may be sent to, put a "
            "proxy with TLS before it, or stay on 127.0.0.1."
        )
    return names
