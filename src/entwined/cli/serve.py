"""`entwined serve`: the holder's page and the analysts' service for the tables of a folder, here alone by default."""

import importlib.util
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.show import progress, say
from entwined.errors import BadInput

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the tables.", readable=False)]


Offers = Annotated[
    list[Path] | None,
    typer.Option(
        "--offer", help="A RELEASE.toml whose table analysts may ask; may be repeated.", readable=False
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", help="A further host[:port] that requests may be sent to, such as the proxy's."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table", help="postgresql://user@host/base?table=name that the page may open; may be repeated."
    ),
]
IssuerFile = Annotated[
    Path | None,
    typer.Option(
        "--oidc", help="A TOML file with an issuer whose tokens are taken, and the audience.", readable=False
    ),
]
Number = Annotated[
    int,
    typer.Option(
        "--workers", min=1, max=64, help="How many processes answer analysts; above 1 without the page."
    ),
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    folder: Folder = Path(),
    offer: Offers = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen at.")] = 8420,
    name: Names = None,
    table: Tables = None,
    issuer: IssuerFile = None,
    workers: Number = 1,
) -> None:
    """Serve the holder's page for a folder of tables, and answer analysts' questions, each charged to its ledger."""
    require_web()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small sums: threads for one would only wait
    place = Serving(folder, tuple(offer or ()), host, port, tuple(required_names(host, name or [])), issuer)
    if table and (workers > 1 or not place.is_here):
        raise BadInput(
            "--table is for the page, which is not served here. Leave it out, or --workers and --host."
        )
    if workers == 1:
        _alone(place, table or [])
    else:
        _shared(place, workers)


@dataclass(frozen=True, slots=True)
class Serving:
    """The folder that is served, what of it analysts may ask, and where."""

    folder: Path
    offers: tuple[Path, ...]
    host: str
    port: int
    names: tuple[str, ...]
    issuer: Path | None = None

    @property
    def is_here(self) -> bool:
        """Whether nobody but this machine is listened to."""
        return self.host in LOOPBACK

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that requests may be sent to, exactly."""
        from entwined.web.app import LOOPBACK as OWN
        from entwined.web.app import hosts_at

        return hosts_at(self.port, (*(OWN if self.is_here else ()), *self.names))

    def welcome(self) -> None:
        """Say what is there and how to ask it."""
        say(f"Tables on offer: {', '.join(one.stem for one in self.offers) or 'none'}. Stop with Ctrl-C.")
        say(
            f"Analysts: entwined.connect('http://{self.host}:{self.port}', token); "
            f"tokens by: entwined token add {self.folder} NAME"
        )


def _alone(place: Serving, tables: list[str]) -> None:
    """Serve in this process, with the page for whoever sits at this machine."""
    import uvicorn

    from entwined.web.addresses import Addresses
    from entwined.web.app import make_app
    from entwined.web.house import House
    from entwined.web.issuer import Issuer
    from entwined.web.sessions import Sessions

    with progress():
        issuer = None if place.issuer is None else Issuer.read(place.issuer)
        house = House.open(place.folder, place.offers, addresses=Addresses(tables), issuer=issuer)
    sessions = Sessions() if place.is_here else None
    port = place.port
    app = make_app(house, place.hosts, sessions, lambda token: say(f"Another browser: {_start(port, token)}"))
    place.welcome()
    if sessions is not None:
        say(f"Your page, good once: {_start(port, sessions.start)}")
    uvicorn.run(app, host=place.host, port=port, log_level="warning", access_log=False, server_header=False)


def _shared(place: Serving, workers: int) -> None:
    """Serve in several processes, for analysts alone."""
    from entwined.web.app import app_of
    from entwined.web.house import House
    from entwined.web.workers import Workers, bound

    with progress():
        House.open(
            place.folder, place.offers
        ).close()  # what is wrong is said once, and one begins the ledgers
    listening = bound(place.host, place.port)
    place.welcome()
    say(f"{workers} processes answer, without the page: start another one for that, with --port.")
    Workers.of(
        partial(app_of, place.folder, place.offers, place.hosts, place.issuer), listening, workers
    ).run()


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
