"""The application: the holder's pages and the service for analysts, behind one guard."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from entwined.errors import BadInput, EntwinedError
from entwined.version import __version__
from entwined.web.guard import Porter
from entwined.web.holder import pages
from entwined.web.house import House
from entwined.web.issuer import Issuer
from entwined.web.refusals import Refusal, refusal
from entwined.web.service import api
from entwined.web.sessions import Sessions
from entwined.web.synthetic_pages import synthetic
from entwined.web.visits import templates

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
LONGEST_WHERE: Final = 100
USUAL_TLS_PORT: Final = 443


def hosts_at(port: int, names: Iterable[str] = LOOPBACK) -> tuple[str, ...]:
    """Give the names that a service at a port is asked under, exactly.

    A name with a port is that alone. One of another machine without a port is also asked for at the usual port of HTTP
    or HTTPS, which browsers and programs leave out: so a proxy passes it on.
    """
    names = tuple(names)
    full = [name if _has_port(name) else f"{name}:{port}" for name in names]
    usual = [name for name in names if not _has_port(name) and name not in LOOPBACK]
    return (*full, *usual, *(f"{name}:{USUAL_TLS_PORT}" for name in usual))


def _has_port(name: str) -> bool:
    return ":" in name.rpartition("]")[2]


def app_of(
    folder: Path, requests: Sequence[Path], hosts: Iterable[str], issuer: Path | None = None
) -> ASGIApp:
    """Open a house and make its application, for analysts alone."""
    vouching = None if issuer is None else Issuer.read(issuer)
    return make_app(House.open(folder, requests, issuer=vouching), hosts)


def make_app(
    house: House,
    hosts: Iterable[str],
    sessions: Sessions | None = None,
    restarted: Callable[[str], None] = lambda _: None,
) -> ASGIApp:
    """Make the application of a house, with the holder's pages if there are sessions; it closes the house at its end.

    `restarted` is told the next start token when one was used.
    """

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        yield
        house.close()

    app = FastAPI(
        title="entwined",
        version=__version__,
        summary="Questions about tables whose rows depend on each other, answered with a proof of what they leak.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # its pages would be fetched from elsewhere
        redoc_url=None,
        lifespan=living,
    )
    app.state.house = house
    app.state.sessions, app.state.restarted = sessions, restarted
    app.include_router(api)
    if sessions is not None:
        app.include_router(synthetic)
        app.include_router(pages)
    app.add_exception_handler(EntwinedError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_wrong_shape)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RecursionError, _on_deep)
    return Porter(app, hosts)


def _said(given: Refusal, request: Request) -> Response:
    if not request.url.path.startswith("/api"):
        page = templates().get_template("turned.html")
        said = page.render(wrong=given.words, project=None, steps={}, step="")
        return HTMLResponse(said, given.status)
    more = {"WWW-Authenticate": "Bearer"} if given.status == 401 else {}  # noqa: PLR2004  (as HTTP wants it)
    return JSONResponse(given.document, given.status, headers=more)


async def _on_error(request: Request, error: Exception) -> Response:
    return _said(refusal(error), request)


async def _on_deep(request: Request, _: Exception) -> Response:
    return _said(refusal(BadInput("The request is nested too deeply. Ask for something plainer.")), request)


async def _on_wrong_shape(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    first = found[0] if found else {"loc": (), "msg": "wrong"}
    where = ".".join(map(str, first["loc"]))[:LONGEST_WHERE]
    wrong = BadInput(f"{where}: {first['msg']}. Give it as the service's OpenAPI says.")
    return _said(refusal(wrong), request)


async def _on_http(_: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    said = Refusal(status, "NotHere", "There is nothing here, or not for this method.")
    return JSONResponse(said.document, status, headers=headers)
