"""The analysts' service: what is published, plans that cost nothing, and answers through the door, as JSON."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from entwined.canonical import Document, canonical
from entwined.errors import BadInput
from entwined.web.dummy import MOST, dummy_rows
from entwined.web.house import House
from entwined.web.offers import Inquiry, Offer
from entwined.web.padding import padded
from entwined.web.passes import Pass
from entwined.web.refusals import Refusal, TurnedAway, refusal

Found = TypeVar("Found")
REQUEST_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,79}$"
NO_TABLE: Final = "There is no such table on offer to this token."
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": words}
    for status, words in {
        401: "No token that is good here.",
        403: "The token is not good for this.",
        404: "No such table or request.",
        409: "Refused: the input is fine, the guarantee cannot be given.",
        413: "Too large.",
        422: "The input is wrong.",
        429: "Too many requests.",
        503: "Not now.",
    }.items()
}


class Ask(BaseModel):
    """What is asked: `queries` by their fields, or a SELECT FROM t, within a leakage or a nominal loss."""

    model_config = ConfigDict(extra="forbid", strict=True)
    queries: list[dict[str, JsonValue]] = Field(default_factory=list, max_length=100)
    sql: str = Field("", max_length=20_000)
    leakage: float | str | None = None
    loss: float | str | None = None
    consistent: bool = True

    @property
    def asked(self) -> Document:
        """What the plan depends on."""
        given = {"leakage": self.leakage, "loss": self.loss}
        amounts = {key: None if value is None else str(value) for key, value in given.items()}
        return {"queries": self.queries, "sql": self.sql, "consistent": self.consistent, **amounts}


class AskOnce(Ask):
    """A question with the id of the request: sent again with the same id, it is charged once and replied alike."""

    request: str = Field(default_factory=lambda: uuid4().hex, pattern=REQUEST_ID)


class AnsweredCell(BaseModel):
    """One number: the labels of its cell along the sides, its value, the 95 % interval of the truth, and its quality.

    A number that is no whole one is the nearest double; the exact one is in the answer's `value`. A time is a text.
    """

    model_config = ConfigDict(extra="allow")
    labels: list[str]
    value: JsonValue
    low: JsonValue
    high: JsonValue
    quality: str = Field(
        description="`publish`, `with care`, `not` or `unknown`, by the relative standard error."
    )
    relative_error: float | None = None
    adjusted: dict[str, JsonValue] | None = Field(
        None,
        description="The same number as a whole one that adds up with others: `value`, `low` and `high`.",
    )


class AnswerRecord(BaseModel):
    """One answer, as it is published, under its name; answers come in the order in which they were asked."""

    model_config = ConfigDict(extra="allow")
    name: str
    sides: list[str] = Field(description="What the labels of each cell are labels of.")
    cells: list[AnsweredCell]
    query: dict[str, JsonValue]


class Reply(BaseModel):
    """The answers to a request, its price, and the certificate of the release."""

    model_config = ConfigDict(extra="allow")
    request: str
    price: float
    answers: list[AnswerRecord]
    certificate: dict[str, JsonValue]


ANSWERED: Final[dict[int | str, dict[str, Any]]] = {200: {"model": Reply}}


def house_of(request: Request) -> House:
    """Find what the service keeps open."""
    house: House = request.app.state.house
    return house


def shown_pass(request: Request) -> Pass:
    """Find the pass that came with a request; who tries many that are none is kept waiting."""
    house, here = house_of(request), request.client.host if request.client else ""
    try:
        found = house.shown(request.headers.get("authorization", ""))
    except Exception:
        house.wrong.visit(here)
        raise
    house.visits.visit(found.analyst)
    return found


def known_names(request: Request) -> None:
    """Refuse names in the address that nobody reads: a seed above all."""
    extra = sorted(set(request.query_params) - {"rows"})
    if extra:
        raise BadInput(f"The address has {extra[0]!r:.60}, which is unknown here. Leave it out.")


Shown = Annotated[Pass, Depends(shown_pass)]
api = APIRouter(prefix="/api", dependencies=[Depends(known_names)], responses=REFUSALS)


def offer_of(request: Request, shown: Pass, table: str, scope: str) -> tuple[House, Offer]:
    """Find a table that a pass is good for."""
    house = house_of(request)
    offer = house.offers.get(table)
    if offer is None or not shown.opens(table):
        raise TurnedAway(404, NO_TABLE)
    shown.require(scope)
    return house, offer


@api.get("/tables")
async def tables(request: Request, shown: Shown) -> list[str]:
    """List the tables that may be asked."""
    return sorted(name for name in house_of(request).offers if shown.opens(name))


@api.get("/tables/{table}")
async def published(request: Request, shown: Shown, table: str) -> dict[str, JsonValue]:
    """What is public about a table: its schema, the models, the knowledge and the δ that answers are protected for."""
    _, offer = offer_of(request, shown, table, "plan")
    return offer.document


@api.get("/tables/{table}/budget")
async def budget(request: Request, shown: Shown, table: str) -> dict[str, JsonValue]:
    """What everybody has spent of the cap, and you of what is earmarked."""
    house, offer = offer_of(request, shown, table, "plan")
    return await run_in_threadpool(lambda: offer.budget(shown.analyst, house.passes.earmark(shown.analyst)))


@api.get("/tables/{table}/dummy")
async def dummy(
    request: Request, shown: Shown, table: str, rows: Annotated[int, Query(ge=1, le=MOST)] = 100
) -> dict[str, JsonValue]:
    """Rows drawn from the schema alone, for trying code."""
    _, offer = offer_of(request, shown, table, "plan")
    return await run_in_threadpool(lambda: dummy_rows(offer.terms.schema, rows))


@api.get("/tables/{table}/history")
async def history(request: Request, shown: Shown, table: str) -> list[dict[str, JsonValue]]:
    """What you were charged for."""
    _, offer = offer_of(request, shown, table, "plan")
    return await run_in_threadpool(lambda: offer.history(shown.analyst))


@api.post("/tables/{table}/plan")
async def plan(request: Request, shown: Shown, table: str, wish: Ask) -> Response:
    """What an answer would cost and how exact it would be: free, and no row is read."""
    house, offer = offer_of(request, shown, table, "plan")
    most = house.passes.earmark(shown.analyst)
    return await _replied(
        house, shown, table, "plan", "", lambda: offer.plan(wish.asked, shown.analyst, most)
    )


@api.post("/tables/{table}/ask", responses=ANSWERED)
async def ask(request: Request, shown: Shown, table: str, wish: AskOnce) -> Response:
    """Answer a question and charge it; the same question again, by whomever, is answered alike for nothing."""
    house, offer = offer_of(request, shown, table, "ask")
    began = asyncio.get_running_loop().time()
    try:
        reply = _reply(200, await _answered(house, offer, shown, wish), wish.request)
    except Exception as error:  # noqa: BLE001  (whatever it is, it leaves at a public moment and says what may be said)
        reply = _refused(refusal(error))
    await run_in_threadpool(house.records.log, shown.analyst, table, "ask", wish.request, reply.status_code)
    await padded(began, house.limits.step)
    return reply


@api.get("/tables/{table}/replies/{name}", responses=ANSWERED)
async def replied(request: Request, shown: Shown, table: str, name: str) -> Response:
    """The reply to an earlier request of yours, with its certificate."""
    house, offer = offer_of(request, shown, table, "plan")

    def found() -> bytes | None:
        question = house.records.named(offer.name, shown.analyst, name)
        offer.door.ledger.head()  # a ledger that was cut or put back says nothing
        return None if question is None else house.records.reply(question)

    body = await run_in_threadpool(found)
    if body is None:
        raise TurnedAway(404, "There is no reply to a request of that id.")
    return _reply(200, body, name)


async def _answered(house: House, offer: Offer, shown: Pass, wish: AskOnce) -> bytes:
    """Answer at once what the ledger holds, and in turn what is to be drawn."""
    wanted = await run_in_threadpool(offer.wanted, wish.asked)
    names = offer.name, shown.analyst, wish.request

    def known() -> tuple[bool, bytes | None]:
        house.records.name(*names, wanted.question)
        return offer.stored(wanted, house.records)

    answered, found = await run_in_threadpool(known)
    if found is not None:
        return found
    if answered:
        return await run_in_threadpool(_drawn, house, offer, shown, wish, wanted)
    async with house.turns.turn(shown.analyst):
        return await run_in_threadpool(_drawn, house, offer, shown, wish, wanted)


def _drawn(house: House, offer: Offer, shown: Pass, wish: AskOnce, wanted: Inquiry) -> bytes:
    return house.records.keep(wanted.question, offer.answer(wanted, shown.analyst, wish.request))


async def _replied(
    house: House, shown: Pass, table: str, act: str, name: str, work: Callable[[], Document]
) -> Response:
    """Do what costs nothing, and write it into the log."""
    try:
        reply = _reply(200, canonical(await run_in_threadpool(work)).encode(), name)
    except Exception as error:  # noqa: BLE001  (said in the words that may be said)
        reply = _refused(refusal(error))
    await run_in_threadpool(house.records.log, shown.analyst, table, act, name, reply.status_code)
    return reply


def _reply(status: int, body: bytes, name: str) -> Response:
    """Put the request's id before a reply, which is an object with something in it."""
    content = b"".join([b'{"request":', canonical(name).encode(), b",", body[1:]]) if name else body
    return Response(content, status, media_type="application/json")


def _refused(given: Refusal) -> Response:
    return Response(canonical(given.document).encode(), given.status, media_type="application/json")
