"""`entwined serve`: the holder's page and the analysts' service for the tables of a folder, here alone by default."""

import importlib.util
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
) -> None:
    """Serve the holder's page for a folder of tables, and answer analysts' questions, each charged to its ledger."""
    require_web()
    import uvicorn

    from entwined.web.app import LOOPBACK as OWN
    from entwined.web.app import hosts_at, make_app
    from entwined.web.house import House
    from entwined.web.sessions import Sessions

    names = required_names(host, name or [])
    with progress():
        house = House.open(folder, offer or [])
    here = host in LOOPBACK
    sessions = Sessions() if here else None  # the page is for whoever sits at this machine
    hosts = hosts_at(port, (*(OWN if here else ()), *names))
    app = make_app(house, hosts, sessions, lambda token: say(f"Another browser: {_start(port, token)}"))
    say(f"Tables on offer: {', '.join(house.offers) or 'none'}. Stop with Ctrl-C.")
    if sessions is not None:
        say(f"Your page, good once: {_start(port, sessions.start)}")
    say(
        f"Analysts: entwined.connect('http://{host}:{port}', token); tokens by: entwined token add {folder} NAME"
    )
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, server_header=False)


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
