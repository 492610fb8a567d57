"""One visit of the holder: let in by the cookie, with the fields of a form, and a page in reply."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader

from entwined.errors import EntwinedError
from entwined.report.page import environment
from entwined.web.house import House
from entwined.web.projects import Project
from entwined.web.refusals import TurnedAway
from entwined.web.sessions import COOKIE, Sessions

STEPS: Final = {
    "schema": "What is public",
    "depends": "What depends on what",
    "questions": "What is asked",
    "plan": "The plan",
    "released": "Releases",
    "synthetic": "Synthetic data",
    "budget": "The budget",
}
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
        self.query = dict(request.query_params)
        self.cookie = cookie
        self.form = form

    def page(self, template: str, *, status: int = 200, **content: Any) -> HTMLResponse:
        """Fill a page."""
        token = self.sessions.form_token(self.cookie)
        common = {"token": token, "steps": STEPS, "wrong": "", "project": None, "step": ""}
        return HTMLResponse(templates().get_template(template).render(**(common | content)), status)

    def project(self, name: str) -> Project:
        """Find a project of the folder."""
        return Project.found(self.house.folder, name, self.house.addresses)


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


def told(work: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """Do the work of a page; what is wrong stands on it, in the holder's own words."""
    try:
        return {"ready": True, **work()}, ""
    except EntwinedError as wrong:
        return {"ready": False}, str(wrong)


def whole_page(content: str | bytes) -> Response:
    """Give a report or a plan as it is written: no network, and no script but the one that it names itself."""
    script = environment().globals["search_policy"]
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {script}; {ALONE}"
    return HTMLResponse(content, headers={"Content-Security-Policy": policy})


def to_step(project: Project, step: str) -> Response:
    """Send the browser to a step of a project."""
    return RedirectResponse(f"/p/{quote(project.name)}/{step}", 303)
