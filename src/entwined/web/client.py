"""The verbs of a door from elsewhere: `entwined.connect(url, token)` plans, asks and tells the budget over HTTP.

A plan is worked out here, from what the service publishes; a release is the service's, and read as it was written.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener
from uuid import uuid4

from entwined import errors
from entwined.canonical import Document, canonical, fraction_from
from entwined.errors import BadInput, EntwinedError, LedgerUnavailable, Refused
from entwined.estimate.answers import Release
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.numbers import Amount
from entwined.promise.promise import Promise, promise_of
from entwined.promise.reserve import Reserve
from entwined.queries import Query
from entwined.queries.documents import written
from entwined.request.desk import Questions
from entwined.request.verification import declared_from
from entwined.schema import Schema
from entwined.schema.columns import column_from
from entwined.schema.unit import unit_from

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE: Final = 120.0
LARGEST: Final = 200_000_000
OUT_OF_REACH: Final = "The service cannot be reached, or does not speak our language. Check its address."


class _NoRedirects(HTTPRedirectHandler):
    """A pass is sent to the address that it was given for and to no other."""

    def redirect_request(self, *_: Any) -> None:
        """Go nowhere else."""


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """Where a service is and the pass that is shown to it; the pass is never printed."""

    url: str
    token: str

    def __repr__(self) -> str:
        """Show the address alone."""
        return f"Line({self.url!r})"

    def send(self, path: str, body: Document | None = None) -> Any:
        """Send a request and read its reply; a refusal is raised as the error that it was there."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        content = None if body is None else canonical(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        asked = Request(f"{self.url}/api{path}", content, headers)  # noqa: S310  (checked in connect)
        try:
            with _opener(self.url).open(asked, timeout=PATIENCE) as reply:
                return json.loads(reply.read(LARGEST))
        except HTTPError as refused:
            raise _error(refused) from None
        except (URLError, HTTPException, OSError, ValueError):
            raise LedgerUnavailable(OUT_OF_REACH) from None


@dataclass(frozen=True, slots=True)
class AwayPurse:
    """What may be spent there and has been: by everybody, and by this analyst of what is earmarked."""

    cap: Fraction
    spent: float
    left: float
    own: Mapping[str, Any]

    def __str__(self) -> str:
        """Say what is left."""
        return f"spent {self.spent:.4g} of {float(self.cap):.4g}; you have {self.own['left']:.4g} left"


@dataclass(frozen=True, eq=False)
class AwayDesk:
    """A door in another place, with the verbs of `entwined.open`."""

    line: Line
    table: str
    promise: Promise

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self.promise.schema

    def plan(
        self,
        queries: Questions,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        shares: Sequence[Amount] | None = None,
    ) -> Batch:
        """Work out noise, charges and price of some queries; nothing is sent, read or charged."""
        listed = [query.bound(self.schema) for _, query in _named(queries)]
        return plan_batch(self.promise, listed, leakage=leakage, loss=loss, shares=shares)

    def release(
        self,
        queries: Questions,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        consistent: bool = True,
        request: str | None = None,
    ) -> Release:
        """Answer queries within a leakage or a loss, and charge them; with the same `request` it is charged once."""
        listed = [
            {**written(query.bound(self.schema)), **({"name": name} if name else {})}
            for name, query in _named(queries)
        ]
        body = {"queries": listed, "consistent": consistent}
        return self._asked(body, leakage, loss, request, named=isinstance(queries, Mapping))

    def sql(
        self,
        text: str,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        request: str | None = None,
    ) -> Release:
        """Answer a SELECT of counts, sums, means or quantiles FROM t."""
        return self._asked({"sql": text}, leakage, loss, request, named=True)

    def _asked(
        self, body: Document, leakage: Amount | None, loss: Amount | None, request: str | None, *, named: bool
    ) -> Release:
        amounts = {"leakage": _text(leakage), "loss": _text(loss)}
        reply = self._send("/ask", {**body, **amounts, "request": request or uuid4().hex})
        found = Release.from_document(reply)
        names = tuple(record["name"] for record in reply["answers"]) if named else ()
        return replace(found, names=names, schema=self.schema)

    @property
    def budget(self) -> AwayPurse:
        """What may be spent, and what has been."""
        found = self._send("/budget")
        spent = found["spent"]
        worst = max(spent["leakage"].values(), default=spent["nominal"])
        return AwayPurse(Fraction(str(found["cap"])), worst, found["left"], found["own"])

    @property
    def history(self) -> list[Document]:
        """What you were charged for."""
        found: list[Document] = self._send("/history")
        return found

    def certificate(self, request: str) -> Document:
        """The certificate of an earlier request of yours."""
        found: Document = self._send(f"/replies/{quote(request, safe='')}")["certificate"]
        return found

    def dummy(self, rows: int = 100) -> "pa.Table":
        """Rows drawn from the schema alone, for trying code."""
        import pyarrow as pa

        found = self._send(f"/dummy?rows={int(rows)}")
        columns = zip(*found["rows"], strict=True)
        return pa.table(dict(zip(found["columns"], map(list, columns), strict=True)))

    def _send(self, path: str, body: Document | None = None) -> Any:
        return self.line.send(f"/tables/{quote(self.table, safe='')}{path}", body)


def connect(url: str, token: str, table: str | None = None) -> AwayDesk:
    """Open a door that a service keeps: the same verbs as `open` gives, with a pass of the holder's."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise BadInput(f"{url!r:.100} is no address of a service. Give http://… or https://…")
    line = Line(url.rstrip("/"), token)
    offered = line.send("/tables")
    if table is None and len(offered) != 1:
        raise BadInput(f"{len(offered)} tables are on offer: {', '.join(offered[:20]) or 'none'}. Name one.")
    named = offered[0] if table is None else table
    return AwayDesk(line, named, _promise(line.send(f"/tables/{quote(named, safe='')}")))


def _promise(given: Document) -> Promise:
    """Make the promise again of what is published; it is the same one, or nothing is planned under it."""
    fields = dict(given["schema"])
    columns = tuple(map(column_from, fields.pop("columns")))
    schema = Schema(columns, unit_from(fields.pop("unit")), **fields).approve()
    delta = fraction_from(given["delta"]) if "delta" in given else None
    models = [declared_from(one, Path()) for one in given["models"]]
    made = promise_of(schema, models, given["knowledge"], delta, reserve=_reserve(given))
    if made.identity != given["identity"]:
        raise Refused("What the service publishes is not understood alike here. Use its version of entwined.")
    return made


def _reserve(given: Document) -> Reserve | None:
    return Reserve.from_document(given["reserve"]) if "reserve" in given else None


def _named(queries: Questions) -> Iterator[tuple[str, Query]]:
    if isinstance(queries, Query):
        yield "", queries
    elif isinstance(queries, Mapping):
        yield from queries.items()
    else:
        yield from (("", one) for one in queries)


def _text(amount: Amount | None) -> str | None:
    """Write an amount so that it is read back exactly, where a decimal can say it."""
    return None if amount is None else str(amount)


def _opener(url: str) -> OpenerDirector:
    """Go through no proxy to our own machine."""
    own = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    return build_opener(_NoRedirects, *([ProxyHandler({})] if own else []))


def _error(refused: HTTPError) -> EntwinedError:
    try:
        said = json.loads(refused.read(100_000))["error"]
        kind, words = str(said["kind"]), str(said["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return LedgerUnavailable(OUT_OF_REACH)
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, EntwinedError):
        return known(words)
    return BadInput(words) if refused.code < 500 else LedgerUnavailable(words)  # noqa: PLR2004  (as HTTP has it)
