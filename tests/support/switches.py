"""Where a class is told from its sisters by its type: isinstance, match, type(…) is, and functions registered by type."""

import ast

from entwined.noise.documents import LAWS
from entwined.promise.measure import Concentrated, Pure
from entwined.queries import Query
from entwined.schema.unit import Unit
from support.source import module, tree


def subclasses(of):
    """Every class below one."""
    below = of.__subclasses__()
    return {one for below_it in below for one in (below_it, *subclasses(below_it))}


def homes():
    """The classes that nobody tells apart outside the package that they live in, by their full names."""
    laws = {make for _, make in LAWS.values()}
    found = {**dict.fromkeys(subclasses(Query), "entwined.queries"), **dict.fromkeys(laws, "entwined.noise")}
    found |= dict.fromkeys(subclasses(Unit), "entwined.schema")
    found |= dict.fromkeys((Pure, Concentrated), "entwined.promise.measure")
    return {one.__name__: home for one, home in found.items()}


def imported(code):
    """The names of ours that a file imports, by the names that it calls them."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(code)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("entwined")
        for alias in node.names
    }


def told(node):
    """The classes that a node of a syntax tree tells apart, as they are written."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
            yield from written(classes)
        case ast.MatchClass(cls=one):
            yield from written(one)
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=others):
            yield from (name for other in others for name in written(other))
        case ast.Call(func=ast.Attribute(attr="register"), args=classes):
            yield from (name for one in classes for name in written(one))
        case ast.FunctionDef(decorator_list=marks) if any(
            isinstance(mark, ast.Attribute) and mark.attr == "register" for mark in marks
        ):
            first = node.args.args[0].annotation
            yield from () if first is None else written(first)


def written(classes):
    """The last part of every name in an expression of classes."""
    for node in ast.walk(classes):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def switches(code, name):
    """The classes that a module tells apart and that live elsewhere."""
    known, ours = homes(), imported(code)
    for called in (called for node in ast.walk(code) for called in told(node) if called in ours):
        source, original = ours[called]
        home = known.get(original, name)
        is_it = home.startswith(source) or source.startswith(f"{home}.")
        if is_it and name != home and not name.startswith(f"{home}."):
            yield original


def switches_of(path):
    """The classes that a file of the source tells apart and that live elsewhere."""
    return sorted(set(switches(tree(path), module(path))))
