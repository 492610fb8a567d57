"""The source and the tests as syntax trees: what imports what, in which layer, and which name is defined where."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
SOURCE = ROOT / "src" / "entwined"
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in FILES if path.name == "__init__.py" and path.parent != SOURCE)
SPELLED = re.compile(r"entwined(\.\w+)+")


@cache
def tree(path):
    return ast.parse(path.read_text())


def module(path):
    """The dotted name of a file of the source."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in FILES}


def layers():
    """Each package or module of the import rules, with its height."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name: -depth for depth, layer in enumerate(listed) for name in re.findall(r"[\w.]+", layer)}


def height(name, heights):
    """The height of the longest listed name that a module is or lies in, if any."""
    parts = name.split(".")
    inside = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((heights[part] for part in inside if part in heights), None)


def roots(node):
    """The modules that an import statement names."""
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]


def imported(path, statements):
    """The modules of ours that import statements of a file read."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names if node.module in MODULES)


def imports(path):
    """What a file imports when it is itself imported."""
    return set(imported(path, tree(path).body)) - {module(path)}


def spelled(path):
    """The modules of ours that a file names in a text: an import that no linter sees."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if SPELLED.fullmatch(node.value):
                yield node.value
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            start = re.match(r"entwined(\.\w+)*(?=\.)", node.values[0].value)
            if start:
                yield start[0]


def circles(graph):
    """The sets of nodes of a graph that reach each other."""
    reach = {node: set() for node in graph}
    for start in graph:
        todo = list(graph[start])
        while todo:
            node = todo.pop()
            if node not in reach[start]:
                reach[start].add(node)
                todo.extend(graph[node])
    return {frozenset(other for other in reach[node] if node in reach[other]) for node in graph} - {
        frozenset()
    }


def asks_an_engine(node):
    """Whether a node asks an engine: a call of `answer` with aggregates alone, or the method handed on or by name."""
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "answer":
            return len(node.args) + len(node.keywords) == 1
        by_name = getattr(called, "id", getattr(called, "attr", "")) in {
            "getattr",
            "attrgetter",
            "methodcaller",
        }
        handed = any(
            isinstance(given, ast.Attribute)
            and given.attr == "answer"
            and re.search(r"table|source|engine|rows|lent|read", ast.unparse(given.value))
            for given in [*node.args, *(word.value for word in node.keywords)]
        )
        return handed or (
            by_name
            and any(isinstance(given, ast.Constant) and given.value == "answer" for given in node.args)
        )
    return False


def homes():
    """Each public class with the modules that define it."""
    found = {}
    for name, path in MODULES.items():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(name)
    return found


def exported():
    """Each name that a package hands out, with the modules where the packages have it from."""
    found = {}
    for package in PACKAGES:
        for node in tree(package / "__init__.py").body:
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for alias in node.names:
                    found.setdefault(alias.asname or alias.name, set()).add(origin(node.module, alias.name))
    return found


def origin(home, name):
    """The module that defines a name, through packages that hand it on."""
    for node in tree(MODULES[home]).body:
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                if (alias.asname or alias.name) == name and f"{node.module}.{alias.name}" not in MODULES:
                    return origin(node.module, alias.name)
    return home
