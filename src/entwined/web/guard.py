"""What every request meets first and every reply last: its own names, how much it takes, what is forbidden.

A page of another site can make a browser send requests here, loopback or not. So a request that was sent to another
name than this service's own is refused, one that says it comes from another site too, and replies forbid scripts that
are not ours, frames, and being kept.
"""

from collections.abc import Iterable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from entwined.canonical import canonical
from entwined.web.refusals import Refusal

LARGEST_BODY: Final = 1_000_000
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OTHER_NAME: Final = "This service has another name. Open it under the address that it was started with."
OTHER_SITE: Final = "The request comes from another site, and is not answered."
TOO_LARGE: Final = f"The request is larger than {LARGEST_BODY:,} bytes. Ask for less at once."


class TooLarge(Exception):  # noqa: N818  (it ends the reading of a body)
    """A body that goes on beyond what is taken."""


class Porter:
    """The outermost layer of the service."""

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], schemes: Iterable[str] = ("http", "https")
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"{scheme}://{host}" for scheme in schemes for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is not for us, and put our headers on every reply."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._why_not(Headers(scope=scope))
        if refused is not None:
            await _said(refused)(scope, receive, sent)
            return
        try:
            await self._app(scope, _bounded(receive), sent)
        except TooLarge:
            if begun:
                raise
            await _said(Refusal(413, "TooLarge", TOO_LARGE))(scope, receive, sent)

    def _why_not(self, headers: Headers) -> Refusal | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refusal(421, "OtherName", OTHER_NAME)
        origins = headers.getlist("origin")
        if any(origin.lower() not in self._origins for origin in origins):
            return Refusal(403, "OtherSite", OTHER_SITE)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Refusal(403, "OtherSite", OTHER_SITE)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > LARGEST_BODY:
            return Refusal(413, "TooLarge", TOO_LARGE)
        return None


def _bounded(receive: Receive) -> Receive:
    taken = 0

    async def received() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise TooLarge
        return message

    return received


def _said(given: Refusal) -> Response:
    return Response(canonical(given.document), given.status, media_type="application/json")
