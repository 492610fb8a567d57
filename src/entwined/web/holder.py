"""The holder's page: from a file to a report, one step a page; nothing is charged before `release`."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader

from entwined.errors import EntwinedError, Refused
from entwined.ledger import Book
from entwined.ledger.history import charge_documents
from entwined.report import plan_page
from entwined.report.page import environment
from entwined.report.ways import budget_of, ways_of
from entwined.schema.columns import KINDS
from entwined.web.draft_forms import ASKED, dependence_from, question_from, terms_from
from entwined.web.house import House
from entwined.web.places import MODELS, TABLES, listed
from entwined.web.projects import LEDGER, REQUEST, Project, seen_as
from entwined.web.refusals import TurnedAway
from entwined.web.schema_form import forms_of, schema_from
from entwined.web.sessions import COOKIE, Sessions

Found = TypeVar("Found")
STEPS: Final = {
    "schema": "What is public",
    "depends": "What depends on what",
    "questions": "What is asked",
    "plan": "The plan",
    "released": "Releases",
    "budget": "The budget",
}
STATIC: Final = {"page.js": "text/javascript", "page.css": "text/css", "report.css": "text/css"}
ALONE: Final = "frame-ancestors 'none'; base-uri 'none'; sandbox allow-scripts"
NOT_YOURS: Final = "Open the address that was printed when the service was started."
OTHER_FORM: Final = (
    "This form was made for another session. Go back and load the page again; nothing was done."
)
LONGEST_FORM: Final = 20_000


@cache
def templates() -> Environment:
    """Make the templates ready: those of reports with our own pages."""
    return environment().overlay(loader=PackageLoader("entwined.web"))


class Visit:
    """One request of the holder: the house, the cookie and, of a form, its fields."""

    def __init__(self, request: Request, cookie: str, form: Mapping[str, str]) -> None:
        self.house: House = request.app.state.house
        self.sessions: Sessions = request.app.state.sessions
        self.cookie = cookie
        self.form = form

    def page(self, template: str, *, status: int = 200, **content: Any) -> HTMLResponse:
        """Fill a page."""
        token = self.sessions.form_token(self.cookie)
        common = {"token": token, "steps": STEPS, "wrong": "", "project": None, "step": ""}
        return HTMLResponse(templates().get_template(template).render(**(common | content)), status)

    def project(self, name: str) -> Project:
        """Find a project of the folder."""
        return Project.found(self.house.folder, name)


async def visiting(request: Request) -> Visit:
    """Let the holder in, by the cookie; a form has to be one of this session, sent from this site."""
    sessions: Sessions = request.app.state.sessions
    cookie = request.cookies.get(COOKIE, "")
    if not sessions.holds(cookie):
        raise TurnedAway(401, NOT_YOURS)
    if request.method != "POST":
        return Visit(request, cookie, {})
    if not request.headers.get("origin"):
        raise TurnedAway(403, OTHER_FORM)
    body = (await request.body()).decode("utf-8", "replace")
    try:
        form = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=LONGEST_FORM))
    except ValueError:
        raise TurnedAway(413, "The form has too many fields.") from None
    if not sessions.is_form_of(cookie, form.get("token", "")):
        raise TurnedAway(403, OTHER_FORM)
    return Visit(request, cookie, form)


Here = Annotated[Visit, Depends(visiting)]
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
    return visit.page("home.html", tables=tables, projects=projects, wrong=wrong, status=status)


@pages.post("/projects")
async def begin(visit: Here) -> Response:
    """Begin a project: look at a table and propose its schema."""
    form = visit.form
    try:
        made = await run_in_threadpool(
            Project.begin, visit.house.folder, form.get("name", "").strip(), form.get("table", "")
        )
    except EntwinedError as wrong:
        return await _home(visit, str(wrong))
    return _to(made, "schema")


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
    content, found = await run_in_threadpool(_told, lambda: CONTENTS[step](visit, project))
    said = wrong or found
    return visit.page(
        f"{step}.html", project=project, step=step, wrong=said, **content, status=422 if wrong else 200
    )


def _told(work: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], str]:
    try:
        return {"ready": True, **work()}, ""
    except EntwinedError as wrong:
        return {"ready": False}, str(wrong)


def _schema(_: Visit, project: Project) -> dict[str, Any]:
    schema = project.schema
    return {"schema": schema, "columns": forms_of(schema), "kinds": list(KINDS), "unit": schema.unit.document}


def _depends(visit: Visit, project: Project) -> dict[str, Any]:
    now = (project.draft["dependence"] or [{}])[0]
    model = now.get("model")
    kind = "none" if model is None else "groups" if isinstance(model, dict) else "file"
    models = listed(visit.house.folder, MODELS)
    return {"names": project.schema.names, "now": now, "kind": kind, "models": models}


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
        "again": ahead.funds.again,
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
    content, wrong = await run_in_threadpool(_told, lambda: planned(project, leakage[:40]))
    return visit.page("planned.html", project=project, wrong=wrong, **content)


@pages.get("/p/{name}/plan/whole")
async def whole(visit: Here, name: str) -> Response:
    """Give the whole plan as the command line writes it."""
    project = visit.project(name)
    text = await run_in_threadpool(lambda: plan_page(project.outlook().document))
    return _whole_page(text)


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
    return _to(project, "released")


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
    return _to(project, then)


def _change_schema(visit: Visit, project: Project) -> str:
    changed = schema_from(project.schema, visit.form)
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
    found = dependence_from(visit.house.folder, visit.form)
    project.change(dependence=found)
    return "questions"


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
        return _whole_page(found.read_bytes())
    return FileResponse(found, filename=file, media_type="application/octet-stream")


def _whole_page(content: str | bytes) -> Response:
    """Give a report or a plan as it is written: no network, and no script but the one that it names itself."""
    script = environment().globals["search_policy"]
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {script}; {ALONE}"
    return HTMLResponse(content, headers={"Content-Security-Policy": policy})


def _to(project: Project, step: str) -> Response:
    return RedirectResponse(f"/p/{quote(project.name)}/{step}", 303)
