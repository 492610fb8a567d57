"""The page of synthetic data: describe once under a budget, make up rows as often as wanted, look how good they are."""

from typing import Any, Final

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response

from entwined.errors import EntwinedError
from entwined.report.words import readable
from entwined.request.bill import bill_of
from entwined.web.made_up import WAYS, MadeUp, Wish, seen_before
from entwined.web.projects import Project
from entwined.web.refusals import TurnedAway
from entwined.web.visits import Here, Visit, to_step, told, whole_page

CHECKED: Final = 3
"""So many of the newest are checked again whenever the page is shown."""
synthetic = APIRouter(include_in_schema=False)


def content(visit: Visit, project: Project) -> dict[str, Any]:
    """Fill the page: what was described, and what a description would cost."""
    made, fields = MadeUp(project), _fields(visit, project)
    numbers = made.numbers[::-1]
    verdicts = {number: made.verdict(number) for number in numbers[:CHECKED]}
    ahead, wrong = told(lambda: _ahead(made, Wish.of(**fields)))
    return {
        "ways": WAYS,
        "fields": fields,
        "ahead": ahead,
        "why_not": wrong,
        "tables": [(number, made.files(number), verdicts.get(number)) for number in numbers],
    }


def _fields(visit: Visit, project: Project) -> dict[str, str]:
    given = {**visit.query, **visit.form}
    return {
        "leakage": given.get("leakage", str(project.draft["leakage"])),
        "mode": given.get("mode", next(iter(WAYS))),
        "rows": given.get("rows", ""),
    }


def _ahead(made: MadeUp, wish: Wish) -> dict[str, Any]:
    ahead = made.ahead(wish)
    (mechanism,) = ahead.request.mechanisms
    return {
        "says": mechanism.words,
        "sheet": mechanism.expected(ahead.request.rows),
        "price": float(bill_of(ahead.request).price.worst),
        "refused": ahead.funds.refused,
        "again": ahead.funds.again,
        "unanswered": ahead.funds.unanswered,
        "left": ahead.funds.left,
        "seen": seen_before(ahead),
    }


@synthetic.post("/p/{name}/synthetic/describe")
async def describe(visit: Here, name: str) -> Response:
    """Charge a description and make up rows of it: what was seen, and nothing else."""
    project = visit.project(name)
    made = MadeUp(project)
    try:
        wish = Wish.of(**_fields(visit, project))
        await run_in_threadpool(made.describe, wish, visit.form.get("seen", ""))
    except EntwinedError as wrong:
        filled, _ = await run_in_threadpool(told, lambda: content(visit, project))
        said = readable(str(wrong), 1500)
        return visit.page(
            "synthetic.html", project=project, step="synthetic", wrong=said, status=422, **filled
        )
    return to_step(project, "synthetic")


@synthetic.get("/p/{name}/synthetic/{number}/more")
async def more(visit: Here, name: str, number: int, rows: str = "") -> Response:
    """Make up more rows; nothing is charged."""
    made = MadeUp(visit.project(name))
    body = await run_in_threadpool(made.more, number, rows)
    kept = {"Content-Disposition": f'attachment; filename="synthetic-{number}-more.csv"'}
    return Response(body, media_type="application/octet-stream", headers=kept)


@synthetic.get("/p/{name}/synthetic/{number}/inspect/{whose}")
async def inspect(visit: Here, name: str, number: int, whose: str) -> Response:
    """Say how good a table is: in public, or beside the real rows for the holder alone."""
    made = MadeUp(visit.project(name))
    pages = {"public": made.in_public, "holder-only": made.beside_the_rows}
    if whose not in pages:
        raise TurnedAway(404, "There is no such page.")
    return whole_page(await run_in_threadpool(pages[whose], number))


@synthetic.get("/p/{name}/synthetic/{number}/file/{file}")
async def download(visit: Here, name: str, number: int, file: str) -> Response:
    """Give a file of a synthetic table."""
    found = await run_in_threadpool(MadeUp(visit.project(name)).file, number, file)
    if file.endswith(".html"):
        return whole_page(found.read_bytes())
    return FileResponse(found, filename=file, media_type="application/octet-stream")
