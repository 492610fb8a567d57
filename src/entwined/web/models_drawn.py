"""What a draft says depends on what: learned from a public file if it is asked for, read again, and drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from entwined.canonical import Document
from entwined.dependence import Dependence, model_from, read_model, write_model
from entwined.errors import BadInput, Refused
from entwined.learning import learn, public_codes
from entwined.promise.declared import Declared
from entwined.report.model_drawing import model_drawing, strongest_ties
from entwined.web.places import below
from entwined.web.projects import Project

LEARNED: Final = "learned-"
LARGEST_DRAWN: Final = 20_000_000
OF_ANSWERS: Final = (
    "A model between columns says how the answers of one row depend on each other. Choose “each answer of a row” as "
    "what is protected, under “What is public”, and approve it again."
)
NOT_PUBLIC: Final = (
    "Learning costs nothing only where every row of the file is public: an earlier wave, a pilot, a published sample. "
    "Say so first; rows of the table that is to be protected are not."
)


def learned_from(project: Project, given: Mapping[str, str]) -> list[Document]:
    """Learn how columns depend on each other from a public file, and write the model; nothing is charged."""
    public, schema = below(project.top, given.get("public", "")), project.schema
    if given.get("is_public") != "yes":
        raise Refused(NOT_PUBLIC)
    if not schema.unit.by_column:
        raise Refused(OF_ANSWERS)
    schema.require_approval()
    if str(public.relative_to(project.top.resolve())) == project.draft["table"]:
        raise Refused("This is the table that is to be protected. Choose a public one.")
    found = learn(public_codes(str(public), schema), public.name).model
    Declared(found).check(schema)
    numbers = range(1, 1000)
    name = next((one for n in numbers if not (project.folder / (one := f"{LEARNED}{n}.json")).exists()), None)
    if name is None:
        raise BadInput("A thousand models were learned here. Take some of them out of the project's folder.")
    write_model(found, project.folder / name)
    return [{"model": name}]


def kind_of(model: Any) -> str:
    """Tell which way of the form a model was given by."""
    if model is None or isinstance(model, dict):
        return "none" if model is None else "groups"
    return "learned" if str(model).startswith(LEARNED) else "file"


def drawn(project: Project, model: Any) -> Document:
    """Draw the model of a draft, and list its strongest ties."""
    found = None if model is None else _read(project.folder, model)
    if found is None:
        return {"drawing": None, "ties": [], "about": ""}
    size = "" if kind_of(model) == "groups" else f" over {found.units:,} units"
    told = f"{found.kind.replace('_', ' ').capitalize()}{size}"
    return {"drawing": model_drawing(found), "ties": strongest_ties(found), "about": told}


def _read(folder: Path, model: Any) -> Dependence | None:
    if isinstance(model, dict):
        return model_from(model, folder)
    path = folder / str(model)
    too_large = path.is_file() and path.stat().st_size > LARGEST_DRAWN
    return None if too_large else read_model(path)
