"""The holder's page: from a file to a report, one step a page; nothing is charged before `release`."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response
from jinja2 import PackageLoader

from entwined.errors import BadInput, EntwinedError, Refused
from entwined.ledger import Book
from entwined.ledger.history import charge_documents
from entwined.report import plan_page
from entwined.report.page import environment
from entwined.report.ways import budget_of, ways_of
from entwined.schema.columns import KINDS
from entwined.tables.units import MIN_UNITS
from entwined.web.draft_forms import ASKED, dependence_from, question_from, terms_from
from entwined.web.house import House
from entwined.web.models_drawn import drawn, kind_of, learned_from
from entwined.web.places import MODELS, TABLES, listed
from entwined.web.projects import LEDGER, REQUEST, Project, seen_as
from entwined.web.refusals import TurnedAway
from entwined.web.schema_form import forms_of, schema_from
from entwined.web.sessions import COOKIE, Sessions
from entwined.web.synthetic_pages import content as synthetic_content
from entwined.web.visits import NOT_YOURS, STEPS, Here, Visit, to_step, told, whole_page

STATIC: Final = {"page.js": "text/javascript", "page.css": "text/css", "report.css": "text/css"}

pages = APIRouter(include_in_schema=False)


@pages.get("/start")
async def start(request: Request, token: str = "") -> Response:
    """Turn the start address into a cookie, once."""
    sessions: Sessions = request.app.state.sessions
    house: House = request.app.state.house
    house.wrong.visit("start")
    cookie = sessions.begin(token)
    if cookie is None:
        raise TurnedAway(401, NOT_YOURS)
    request.app.state.restarted(sessions.start)
    reply = RedirectResponse("/", 303)
    reply.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
    return reply


@pages.get("/static/{name}")
async def static(name: str) -> Response:
    """Give a file of the pages."""
    if name not in STATIC:
        raise TurnedAway(404, "There is no such file.")
    if name == "report.css":
        text, _, _ = PackageLoader("entwined.report").get_source(environment(), "style.css")
    else:
        text = (Path(__file__).parent / "static" / name).read_text(encoding="utf-8")
    return Response(text, media_type=STATIC[name])


@pages.get("/")
async def home(visit: Here) -> Response:
    """List the tables below the folder, and the projects."""
    return await _home(visit)


async def _home(visit: Visit, wrong: str = "") -> Response:
    top = visit.house.folder
    tables, projects = await run_in_threadpool(lambda: (listed(top, TABLES), Project.all(top)))
    status = 422 if wrong else 200
    tables = [*visit.house.addresses.offered, *tables]
    return visit.page("home.html", tables=tables, projects=projects, wrong=wrong, status=status)


@pages.post("/projects")
async def begin(visit: Here) -> Response:
    """Begin a project: look at a table and propose its schema."""
    try:
        made = await run_in_threadpool(_begun, visit)
    except EntwinedError as wrong:
        return await _home(visit, visit.house.addresses.scrubbed(str(wrong)))
    return to_step(made, "schema")


def _begun(visit: Visit) -> Project:
    """Begin a project; for one that was begun with the same address, its password is taken again."""
    form, house = visit.form, visit.house
    name, table = form.get("name", "").strip(), form.get("table", "")
    if form.get("address"):
        table = house.addresses.remember(form["address"], form.get("password", ""))
        known = [one for one in Project.all(house.folder) if one.name == name]
        if known and known[0].draft["table"] == table:
            return known[0]
    least, unit = form.get("min_units", "").strip(), form.get("unit", "").strip()
    if least and not (least.isdecimal() and len(least) < 6):  # noqa: PLR2004  (no minimum is as great)
        raise BadInput(f"{least!r:.60} is no minimum of units. Give a whole number from {MIN_UNITS} on.")
    return Project.begin(
        house.folder,
        name,
        table,
        house.addresses,
        min_units=int(least) if least else MIN_UNITS,
        unit=unit or None,
    )


@pages.get("/p/{name}/log")
async def log(visit: Here, name: str) -> Response:
    """Tell who asked what of the service."""
    project = visit.project(name)
    lines = await run_in_threadpool(visit.house.records.logged, 200)
    return visit.page("log.html", project=project, lines=lines, step="budget")


@pages.get("/p/{name}/{step}")
async def show(visit: Here, name: str, step: str) -> Response:
    """Show one step of a project."""
    if step == REQUEST:
        return await _request_file(visit, name)
    if step not in STEPS:
        raise TurnedAway(404, "There is no such page.")
    return await _shown(visit, visit.project(name), step)


async def _shown(visit: Visit, project: Project, step: str, wrong: str = "") -> Response:
    """Fill the page of a step; what is wrong stands on it, in the holder's own words."""
    content, found = await run_in_threadpool(told, lambda: CONTENTS[step](visit, project))
    said = wrong or found
    return visit.page(
        f"{step}.html", project=project, step=step, wrong=said, **content, status=422 if wrong else 200
    )


def _schema(_: Visit, project: Project) -> dict[str, Any]:
    schema = project.schema
    unit = schema.unit.document
    return {
        "schema": schema,
        "columns": forms_of(schema),
        "kinds": list(KINDS),
        "unit": unit,
        "notes": project.notes,
    }


def _depends(visit: Visit, project: Project) -> dict[str, Any]:
    now = (project.draft["dependence"] or [{}])[0]
    model, top = _model_of(project), visit.house.folder
    return {
        "names": project.schema.names,
        "now": now,
        "sizes": project.sizes_in_words(now.get("by")),
        "kind": kind_of(model),
        "models": listed(top, MODELS),
        "tables": [one for one in listed(top, TABLES) if one != project.draft["table"]],
        **drawn(project, model),
    }


def _questions(_: Visit, project: Project) -> dict[str, Any]:
    names = [name for name in project.schema.names if name not in project.schema.text_columns]
    return {"names": names, "kinds": ASKED, "draft": project.draft}


def _plan(_: Visit, project: Project) -> dict[str, Any]:
    return {"draft": project.draft, **planned(project, None)}


def _released(_: Visit, project: Project) -> dict[str, Any]:
    numbers = project.released[::-1]
    verdicts = {number: project.verdict(number) for number in numbers[:5]}
    return {"releases": [(number, project.files(number), verdicts.get(number)) for number in numbers]}


def _budget(_: Visit, project: Project) -> dict[str, Any]:
    if not (project.folder / LEDGER).exists():
        return {"begun": False}
    book = Book(project.folder / LEDGER)
    try:
        return {"begun": True, "spent": book.spent(), "charges": list(charge_documents(book))[::-1]}
    finally:
        book.close()


CONTENTS: Final[Mapping[str, Callable[[Visit, Project], dict[str, Any]]]] = {
    "schema": _schema,
    "depends": _depends,
    "questions": _questions,
    "plan": _plan,
    "released": _released,
    "synthetic": synthetic_content,
    "budget": _budget,
}


def planned(project: Project, leakage: str | None) -> dict[str, Any]:
    """Work out what a plan shows: figures for every question and way, what it costs, and whether it may be."""
    ahead = project.outlook(leakage, brief=True)
    document = ahead.document
    return {
        "ways": [way for way in ways_of(document) if way.applies],
        "answers": document["statistics"],
        "expected": [one.document for one in ahead.forecasts],
        "budget": budget_of(document),
        "refused": ahead.funds.refused,
        "first": ahead.request.first_lines,
        "again": ahead.funds.again,
        "unanswered": ahead.funds.unanswered,
        "left": ahead.funds.left,
        "price": float(ahead.planned.price.worst),
        "leakage": project.draft["leakage"] if leakage is None else leakage,
        "because": document["because"],
        "seen": seen_as(ahead),
    }


@pages.get("/p/{name}/plan/part")
async def part(visit: Here, name: str, leakage: str = "") -> Response:
    """Give the part of the plan that moves as the leakage does."""
    project = visit.project(name)
    content, wrong = await run_in_threadpool(told, lambda: planned(project, leakage[:40]))
    return visit.page("planned.html", project=project, wrong=wrong, **content)


@pages.get("/p/{name}/plan/whole")
async def whole(visit: Here, name: str) -> Response:
    """Give the whole plan as the command line writes it."""
    project = visit.project(name)
    text = await run_in_threadpool(lambda: plan_page(project.outlook().document))
    return whole_page(text)


async def _request_file(visit: Visit, name: str) -> Response:
    project = visit.project(name)
    await run_in_threadpool(project.request)
    return FileResponse(project.folder / REQUEST, media_type="application/toml", filename=REQUEST)


@pages.post("/p/{name}/release")
async def release(visit: Here, name: str) -> Response:
    """Release what was seen: the one place where something is charged."""
    project, form = visit.project(name), visit.form
    try:
        await run_in_threadpool(project.release, form.get("leakage", "")[:40], form.get("seen", ""))
    except EntwinedError as wrong:
        return await _shown(visit, project, "plan", str(wrong))
    return to_step(project, "released")


@pages.post("/p/{name}/{step}")
async def change(visit: Here, name: str, step: str) -> Response:
    """Change a draft; nothing is charged."""
    project = visit.project(name)
    if step not in CHANGES:
        raise TurnedAway(404, "There is no such page.")
    try:
        then = await run_in_threadpool(CHANGES[step], visit, project)
    except EntwinedError as wrong:
        return await _shown(visit, project, step if step in STEPS else "schema", str(wrong))
    return to_step(project, then)


def _change_schema(visit: Visit, project: Project) -> str:
    form = dict(visit.form)
    if form.get("unit") in ("person", "household") and form.get("person") and not form.get("person_most"):
        form["person_most"] = str(project.proposed_bound(form["person"]))
    changed = schema_from(project.schema, form)
    if changed.digest != project.schema.digest:
        project.change_schema(changed)
    if visit.form.get("act") != "approve":
        return "schema"
    if visit.form.get("public") != "yes":
        raise Refused(
            "Approve a schema only if all of it is public and true whatever the rows hold. Say so first."
        )
    project.approve()
    return "depends"


def _change_dependence(visit: Visit, project: Project) -> str:
    form = dict(visit.form)
    learns = form.get("kind") == "learned"
    proposes = form.get("kind") == "groups" and form.get("by") and not form.get("largest", "").strip()
    if proposes:
        form["largest"] = str(project.proposed_bound(form["by"]))
    keeps = learns and not form.get("public") and kind_of(_model_of(project)) == "learned"
    if not keeps:
        found = learned_from(project, form) if learns else dependence_from(visit.house.folder, form)
        project.change(dependence=found)
    return "depends" if proposes or (learns and not keeps) else "questions"


def _model_of(project: Project) -> Any:
    return (project.draft["dependence"] or [{}])[0].get("model")


def _change_questions(visit: Visit, project: Project) -> str:
    form, asked = visit.form, list(project.draft["queries"])
    act = form.get("act", "add")
    if act == "undo":
        project.undo()
    elif act.startswith("drop-"):
        with suppress(ValueError, IndexError):
            asked.pop(int(act.removeprefix("drop-")))
        project.change(queries=asked)
    elif act == "terms":
        project.change(**terms_from(form))
    else:
        question = question_from(form)
        _try_question(project, question)
        project.change(queries=[*asked, question])
    return "questions"


def _try_question(project: Project, question: dict[str, Any]) -> None:
    """Refuse a question that the request file would be refused for; the draft stays as it is."""
    now = project.draft["queries"]
    project.change(queries=[*now, question])
    try:
        project.request()
    finally:
        project.undo()


CHANGES: Final[Mapping[str, Callable[[Visit, Project], str]]] = {
    "schema": _change_schema,
    "depends": _change_dependence,
    "questions": _change_questions,
}


@pages.get("/p/{name}/released/{number}/{file}")
async def download(visit: Here, name: str, number: int, file: str) -> Response:
    """Give a file of a release: the report to be looked at, the others to be kept."""
    found = visit.project(name).file(number, file)
    if file.endswith(".html"):
        return whole_page(found.read_bytes())
    return FileResponse(found, filename=file, media_type="application/octet-stream")
