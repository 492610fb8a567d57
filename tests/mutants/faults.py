"""Random faults: every place in a file where one small slip would change what the code does."""

import ast
import copy
from dataclasses import dataclass

from mutants import SOURCE

ROOMS = (
    *("bounds", "promise", "ledger", "door", "noise", "queries", "schema", "estimate", "mechanisms"),
    *("request", "tables", "survey", "learning", "synthetic", "series", "households"),
)
FLIPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
           "minimum": "maximum", "maximum": "minimum"}  # fmt: skip
CLAMPS = frozenset(
    {"min", "max", "minimum", "maximum", "clip", "abs", "round_up", "round_up_float", "float_above"}
)
TWO = 2


@dataclass(frozen=True)
class Fault:
    """One slip in one place: what stands between two offsets of a file, and what is put there."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    after: str
    tests: tuple[str, ...] = ()

    @property
    def name(self):
        """Where and what it is."""
        return f"{self.file}:{self.line}  {self.kind}: {self.after.strip()[:70]}"

    def planted(self, text):
        """Give the file with the fault in it."""
        data = text.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()


def faults_in(path):
    """List the faults of a file, one a slip; texts of messages, types and decorators are no code that decides."""
    text = (SOURCE / path).read_text()
    places = Places(path, text)
    places.visit(ast.parse(text))
    return places.faults


def all_faults(rooms=ROOMS):
    """List the faults of all files of some rooms."""
    files = sorted(str(file.relative_to(SOURCE)) for room in rooms for file in (SOURCE / room).rglob("*.py"))
    return [fault for file in files for fault in faults_in(file)]


class Places(ast.NodeVisitor):
    """Walks a file and notes what could be slipped where."""

    def __init__(self, file, text):
        self.file, self.faults = file, []
        data = text.encode().splitlines(keepends=True)
        self.offsets = [0]
        for line in data:
            self.offsets.append(self.offsets[-1] + len(line))

    def note(self, node, changed, kind):
        start = self.offsets[node.lineno - 1] + node.col_offset
        end = self.offsets[node.end_lineno - 1] + node.end_col_offset
        after = changed if isinstance(changed, str) else ast.unparse(changed)
        whole = after if isinstance(node, ast.stmt) else f"({after})"
        self.faults.append(Fault(self.file, node.lineno, kind, start, end, whole))

    def changed(self, node, kind, change):
        other = copy.deepcopy(node)
        change(other)
        self.note(node, other, kind)

    def visit_FunctionDef(self, node):
        """Neither decorators nor types."""
        body = node.body[1:] if ast.get_docstring(node) else node.body
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *body):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  (the name that ast calls)

    def visit_AnnAssign(self, node):
        """A value, but not its type."""
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node):
        """Nothing that is for type checkers alone."""
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Raise(self, node):
        """A refusal that is left out; what it says is not looked at here."""
        self.note(node, "pass", "dropped raise")

    def visit_Compare(self, node):
        """Comparisons, one operator at a time."""
        for at, op in enumerate(node.ops):
            if type(op) in FLIPPED:
                self.changed(
                    node, "comparison", lambda n, a=at, o=op: n.ops.__setitem__(a, FLIPPED[type(o)]())
                )
        self.generic_visit(node)

    def visit_BinOp(self, node):
        """Plus for minus, times for divided by."""
        texts = any(isinstance(part, ast.JoinedStr) or _is_text(part) for part in (node.left, node.right))
        if type(node.op) in FLIPPED and not texts:
            self.changed(node, "arithmetic", lambda n: setattr(n, "op", FLIPPED[type(n.op)]()))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        """And for or."""
        self.changed(node, "and/or", lambda n: setattr(n, "op", FLIPPED[type(n.op)]()))
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        """A dropped not or minus."""
        if isinstance(node.op, ast.Not | ast.USub):
            self.note(node, node.operand, "dropped not or minus")
        self.generic_visit(node)

    def visit_Constant(self, node):
        """Numbers and truth values."""
        if isinstance(node.value, bool):
            self.note(node, repr(not node.value), "truth value")
        elif isinstance(node.value, int):
            self.note(node, repr(node.value + 1), "off by one")
        elif isinstance(node.value, float):
            self.note(node, repr(2 * node.value or 1.0), "constant doubled")

    def visit_Call(self, node):
        """Min for max, a dropped clamp, swapped arguments."""
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in SWAPPED:
            self.changed(node, f"{called} for {SWAPPED[called]}", lambda n: _rename(n.func, SWAPPED[called]))
        if called in CLAMPS and node.args and not isinstance(node.args[0], ast.GeneratorExp | ast.Starred):
            self.note(node, node.args[0], f"dropped {called}")
        plain = [arg for arg in node.args[:TWO] if not isinstance(arg, ast.Starred | ast.GeneratorExp)]
        if len(plain) == TWO and called not in CLAMPS | {"isinstance", "getattr", "zip", "replace"}:
            self.changed(
                node, "swapped arguments", lambda n: n.args.__setitem__(slice(0, TWO), n.args[1::-1])
            )
        if called not in {"lru_cache", "TypeVar"}:
            self.generic_visit(node)

    def visit_JoinedStr(self, node):
        """What is written for people is not looked at here."""


def _rename(func, name):
    setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", name)


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
