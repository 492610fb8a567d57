"""Model files: JSON, the same fields in TOML, and BIF for networks."""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from entwined.canonical import Document
from entwined.dependence.bayes_net import BayesNet
from entwined.dependence.bif import read_bif, write_bif
from entwined.dependence.city import city_from
from entwined.dependence.contents import read_bytes, text_of
from entwined.dependence.edged import Edged
from entwined.dependence.endless_chain import EndlessChain
from entwined.dependence.families import autoregression, equal_correlation, kinship
from entwined.dependence.fields import (
    Fields,
    columns,
    listed,
    refuse_other_than_texts,
    refuse_types,
    refuse_unknown,
)
from entwined.dependence.forms import Forms
from entwined.dependence.gaussian import Gaussian, GaussianLaws, MaxCorrelation, correlated
from entwined.dependence.graph_files import graph_from, named_from
from entwined.dependence.groups import Groups
from entwined.dependence.independent import Independent
from entwined.dependence.learned_from import LearnedFrom, LearningCharge
from entwined.dependence.markov_chain import MarkovChain
from entwined.dependence.model import Dependence
from entwined.dependence.model_check import ModelCheck
from entwined.dependence.nested import shown
from entwined.dependence.random_field import RandomField
from entwined.dependence.syntax import json_document, json_text, toml_document, toml_text
from entwined.dependence.tie_files import ties_from
from entwined.dependence.varying_chain import VaryingChain
from entwined.errors import BadInput, BadModel
from entwined.writing import write_whole


class Syntax(NamedTuple):
    """A way to write a document, and the most bytes that can be read back in bounded time and memory."""

    read: Callable[[str], Any]
    write: Callable[[Document], str]
    most_bytes: int


SYNTAXES: Final = {
    ".json": Syntax(json_document, json_text, 512_000_000),
    ".toml": Syntax(toml_document, toml_text, 4_000_000),
}


BYTES_OF_A_NUMBER: Final = 30  # its digits, a comma, and room for indents
GAUSSIAN_WAYS: Final = (
    "covariance",
    "correlation",
    "max_correlation",
    "equal_correlation",
    "autoregression",
    "kinship",
)


def read_model(where: str | Path) -> Dependence:
    """Read a model from its file; every failure names the file."""
    path = Path(where)
    if path.suffix.lower() == ".bif":
        return read_bif(path)
    try:
        with collection_paused():
            syntax = syntax_of(path)
            return model_from(syntax.read(text_of(read_bytes(path, syntax.most_bytes))), path.parent)
    except BadModel as wrong:
        raise BadModel(f"{path}: {wrong}") from None
    except MemoryError:
        raise BadModel(
            f"{path}: The model does not fit in memory. Split it, or use a larger machine."
        ) from None


def write_model(model: Dependence, where: str | Path) -> None:
    """Write a model to a file that reads back as the same model."""
    path = Path(where)
    if path.suffix.lower() == ".bif":
        if not isinstance(model, BayesNet):
            raise BadModel(f"{path}: A {model.kind} model is no network. Write it as .json or .toml.")
        if model.learned_from is not None or model.check is not None:
            raise BadModel(f"{path}: A .bif file cannot say what it was learned from. Write .json or .toml.")
        if model.hidden:
            raise BadModel(f"{path}: A .bif file cannot say what is hidden. Write .json or .toml.")
        write_bif(model, path)
        return
    syntax = syntax_of(path)
    data = syntax.write(_document(model, path.parent)).encode("utf-8")
    if len(data) > syntax.most_bytes:
        raise BadModel(
            f"{path}: The model takes {len(data) / 1e6:.0f} MB, too many to read back. Write it as .json."
        )
    write_whole(path, data)


def require_model_file(where: str | Path, numbers: int) -> None:
    """Refuse, before a model of at most so many numbers is learned, a file that it could not be written to."""
    path = Path(where)
    syntax = syntax_of(path) if path.suffix.lower() != ".bif" else None
    if syntax is None:
        raise BadModel(f"{path}: A .bif file cannot say what a model was learned from. Write .json or .toml.")
    if numbers * BYTES_OF_A_NUMBER > syntax.most_bytes:
        raise BadModel(
            f"{path}: A model of up to {numbers:,} numbers may be too large to read back. Write it as .json, or learn "
            "a smaller one."
        )
    require_folder(path)


def require_folder(path: Path) -> None:
    """Refuse a place for a file in a folder that is not there or cannot be written to."""
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise BadInput(
            f"{path}: The folder is not there, or nobody may write to it. Make it, or name another."
        )


def _document(model: Dependence, folder: Path) -> Document:
    """The document of a model in a folder: with its edges written out, if their file is not there."""
    if not isinstance(model, Edged) or not model.fields:
        return model.document
    named = named_from(model, folder)
    return model.written_out if named is None else model.document | {"edges": named}


def syntax_of(path: Path) -> Syntax:
    """Tell by its suffix how a file is written."""
    syntax = SYNTAXES.get(path.suffix.lower())
    if syntax is None:
        given = f"has the suffix {path.suffix!r:.20}" if path.suffix else "has no suffix"
        raise BadModel(f"The file name {given}. Call a model file .json, .toml or .bif.")
    return syntax


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the search for garbage: among millions of new lists there is none, and it takes longest."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


def model_from(document: Any, folder: Path) -> Dependence:
    """Make the model that a document describes; files that it names are looked up in `folder`."""
    if not isinstance(document, dict):
        raise BadModel(
            f'The document is {shown(document)}. Give an object, such as {{"kind": "groups", "largest": 6}}.'
        )
    fields = Fields(document)
    if fields.kind not in KINDS:
        raise BadModel(f"The kind {fields.kind!r:.60} is unknown. Use one of {listed(KINDS)}.")
    return KINDS[fields.kind](fields, folder)


def independent(fields: Fields, _: Path) -> Independent:
    """Read how many units there are."""
    fields.only("units")
    return Independent(fields.integer("units"), fields.source)


def groups(fields: Fields, _: Path) -> Groups:
    """Read how large a group can be."""
    fields.only("largest")
    return Groups(fields.integer("largest"), fields.source)


def markov_chain(fields: Fields, _: Path) -> MarkovChain:
    """Read the length, the transition matrix, and the initial law if there is one."""
    fields.only("length", "initial", "transition", "learned_from")
    initial = fields.vector("initial") if fields.has("initial") else None
    length, transition = fields.integer("length"), fields.table("transition", 2)
    return MarkovChain(length, transition, initial, fields.source, learned_from(fields))


def endless_chain(fields: Fields, _: Path) -> EndlessChain:
    """Read the transition matrix, and the initial law if there is one."""
    fields.only("initial", "transition", "learned_from")
    initial = fields.vector("initial") if fields.has("initial") else None
    return EndlessChain(fields.table("transition", 2), initial, fields.source, learned_from(fields))


def varying_chain(fields: Fields, _: Path) -> VaryingChain:
    """Read the length, the tables of transitions that are taken in turn, and the initial law if there is one."""
    fields.only("length", "initial", "transitions")
    initial = fields.vector("initial") if fields.has("initial") else None
    return VaryingChain(fields.integer("length"), fields.table("transitions", 3), initial, fields.source)


def learned_from(fields: Fields) -> LearnedFrom | None:
    """Read what the model was learned from, if it says so."""
    if not fields.has("learned_from"):
        return None
    given = Fields(fields.members("learned_from", "the table that the model was learned from"))
    if given.has("charge"):
        refuse_unknown(given.values, ("table", "charge"), '"learned_from"')
        charge = Fields(given.members("charge", "the ledger and the receipt of the charge"))
        refuse_unknown(charge.values, ("ledger", "receipt"), '"charge"')
        named = LearningCharge(charge.text("ledger"), charge.text("receipt"))
        return LearnedFrom(given.text("table"), charge=named)
    refuse_unknown(given.values, ("table", "rows", "contents"), '"learned_from"')
    contents = Fields(given.members("contents", "columns and a fingerprint of their rows"))
    refuse_unknown(contents.values, ("columns", "sizes", "fingerprint"), '"contents"')
    listed_columns = contents.entries("columns", "a list of columns")
    refuse_other_than_texts([listed_columns], lambda _: '"columns" of "contents"')
    sizes = contents.entries("sizes", "a list of numbers of codes")
    refuse_types(sizes, int, lambda place: f'"sizes" {place + 1} of "contents"', "a whole number")
    told = contents.text("fingerprint")
    return LearnedFrom(given.text("table"), given.integer("rows"), tuple(listed_columns), tuple(sizes), told)


def bayes_net(fields: Fields, _: Path) -> BayesNet:
    """Read the variables with their values, parents and tables."""
    fields.only("variables", "hidden", "learned_from", "check")
    variables = fields.entries("variables", "a list of variables")
    names, values, parents, tables = columns(variables, ("name", "values", "parents", "table"), "Variable")
    refuse_types(names, str, lambda place: f"The name of variable {place + 1}", "a string")
    refuse_other_than_texts(values, lambda place: f'"values" of {names[place]!r:.60}')
    refuse_other_than_texts(parents, lambda place: f'"parents" of {names[place]!r:.60}')
    found = BayesNet.of_columns(names, values, parents, tables, fields.source)
    if fields.has("hidden"):
        hidden = fields.entries("hidden", "the names of hidden variables")
        refuse_types(hidden, str, lambda place: f'Name {place + 1} of "hidden"', "a string")
        found = found.hiding(hidden)
    check = ModelCheck.from_document(fields.values["check"]) if fields.has("check") else None
    return replace(found, learned_from=learned_from(fields), check=check)


def forms(fields: Fields, folder: Path) -> Forms:
    """Read the column of the form, the questions that each form asks, and the law of the answers."""
    fields.only("form", "public", "asked", "answers")
    within = Fields(fields.members("answers", 'the law of the answers, a model of kind "bayes_net"'))
    if within.kind != BayesNet.kind:
        raise BadModel(f'"answers" has the kind {within.kind!r:.60}. Give a model of kind "{BayesNet.kind}".')
    answers = bayes_net(within, folder)
    if fields.has("source") and fields.source != answers.source:
        raise BadModel(
            f'The model has the source "{fields.source}" and its "answers" have "{answers.source}". Say it once, '
            'in "answers".'
        )
    asked = fields.entries("asked", "a list of the questions for each form, in the order of the forms")
    refuse_other_than_texts(asked, lambda place: f'"asked" of form {place + 1}')
    public = fields.values.get("public", False)
    if not isinstance(public, bool):
        raise BadModel(f'"public" is {public!r:.60}. Give true if everybody may know the form, or false.')
    return Forms.of(answers, fields.text("form"), asked, public=public)


def random_field(fields: Fields, _: Path) -> RandomField:
    """Read the variables with their numbers of values, and the edges with their potentials.

    Some writers sort the names of an object; with "order" the variables stay in theirs.
    """
    fields.only("variables", "order", "edges")
    variables = fields.members("variables", 'names with numbers of values, such as {"a": 2, "b": 3}')
    names = list(variables)
    refuse_types(
        list(variables.values()), int, lambda place: f"Variable {names[place]!r:.60}", "its number of values"
    )
    if fields.has("order"):
        order = fields.entries("order", "the names of the variables")
        refuse_types(order, str, lambda place: f'Name {place + 1} of "order"', "a string")
        if len(order) != len(names) or set(order) != set(names):
            raise BadModel('"order" does not list the variables. Name each of them once.')
        variables = {name: variables[name] for name in order}
    edges = fields.entries("edges", "a list of edges")
    between, potentials = columns(edges, ("between", "potential"), "Edge")
    refuse_other_than_texts(between, lambda place: f'"between" of edge {place + 1}')
    return RandomField.of_columns(variables, between, potentials, fields.source)


def _family(fields: Fields, way: str) -> Gaussian:
    """Read a law of those who belong together."""
    if way == "kinship":
        fields.only("kinship", "heritability", "shared")
        shared = _number(fields, "shared") if fields.has("shared") else 0.0
        return kinship(fields.values["kinship"], _number(fields, "heritability"), shared, fields.source)
    fields.only("size", way)
    made = equal_correlation if way == "equal_correlation" else autoregression
    return made(fields.integer("size"), _number(fields, way), fields.source)


def _number(fields: Fields, name: str) -> float:
    table = fields.table(name, 0)
    if not table.is_exact:
        raise BadModel(f'"{name}" is an interval. Give one number, or a table of correlations.')
    return float(table.high)


def gaussian(fields: Fields, _: Path) -> GaussianLaws:
    """Read a covariance, a table of correlations, one bound on all of them, or how members belong together."""
    ways = [name for name in GAUSSIAN_WAYS if fields.has(name)]
    if len(ways) != 1:
        found = f"has both {listed(ways)}" if ways else "says nothing of its correlations"
        raise BadModel(f"A gaussian model {found}. Give one of {listed(GAUSSIAN_WAYS)}.")
    if ways[0] in ("equal_correlation", "autoregression", "kinship"):
        return _family(fields, ways[0])
    if ways == ["covariance"]:
        fields.only("covariance", "learned_from")
        fields.table("covariance", 2)
        law = Gaussian.of(fields.values["covariance"], fields.source)
        return replace(law, learned_from=learned_from(fields))
    if ways == ["max_correlation"]:
        fields.only("size", "max_correlation", "learned_from")
        largest = float(fields.table("max_correlation", 0).high)
        return MaxCorrelation(fields.integer("size"), largest, fields.source, learned_from(fields))
    fields.only("correlation", "deviations")
    fields.table("correlation", 2)
    deviations = fields.vector("deviations").tolist() if fields.has("deviations") else None
    if deviations is not None and min(deviations, default=1) <= 0:
        raise BadModel(f'"deviations" has {min(deviations):g}. Give one standard deviation above 0 a unit.')
    return correlated(fields.values["correlation"], deviations, fields.source)


KINDS: Final[dict[str, Callable[[Fields, Path], Dependence]]] = {
    "independent": independent,
    "groups": groups,
    "markov_chain": markov_chain,
    "endless_chain": endless_chain,
    "varying_chain": varying_chain,
    "bayes_net": bayes_net,
    "forms": forms,
    "random_field": random_field,
    "gaussian": gaussian,
    "graph": graph_from,
    "ties": ties_from,
    "places": city_from,
}
