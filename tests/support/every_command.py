"""Every command with the requests of the documentation, as they stand and with one thing changed."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import sys
import time
import tomllib
import traceback
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

from entwined.cli.app import built, main
from entwined.schema import Schema, read_schema, write_schema
from entwined.schema.files import text_of
from support import warm
from support.other_rows import forget_rows

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(
    r"<!-- file: (?P<file>\S+) -->\n```\w+\n(?P<text>.*?)```|^\$ (?P<line>[^\n]*)$", re.DOTALL | re.MULTILINE
)
SECONDS = 30
CODES = {0, 1, 2}
CALLS = (
    "plan {request}", "plan {request} --html page.html", "release {request} -o out --yes", "release {request} -o out --yes --format xlsx",
    'sql "SELECT count(*) FROM t" --request {request} --loss 0.1 --yes', 'sql "SELECT count(*) FROM t" --request {request} --dry-run',
    "stream {request} --plan", "stream {request} --yes -o answers.csv", "attack {request} --releases 5", "audit {request} --samples 1000",
    "budget {request}", "budget show {request} --what-if 0.5", "budget migrate {request} --yes", "budget adopt {request} --yes", "budget check {request}",
    "budget restore {request} --spent-since 0.1 --yes", "budget reserve {request}", "budget reserve {request} --as-asked",
    "learn {request} --budget 1 -o learned.json --yes", "learn columns {table} --schema {schema} -o learned.json",
    "learn chain {request} --budget 1 --state {column} --order {other} --by {by} -o learned.json --yes",
    "learn chain {table} --schema {schema} --state {column} --order {other} --by {by} -o learned.json",
    "learn covariance {request} --budget 1 --columns {column},{other} -o learned.json --yes", "learn ties {table} -o learned.json --log-odds 1",
    "synth {request} -o out --leakage 0.5 --yes", "synth {schema} --mode random --rows 5 -o out", "synth {table} --schema {schema} --ledger l.sqlite --cap 1 --loss 1 -o out --yes",
    "households {schema} -o page.html", "inspect {table} --schema {schema} -o page.html", "inspect {folder} -o page.html", "verify {request}", "verify {schema}",
    "init {table} -o new.toml", "describe {table} -o new.toml", "approve {schema} --yes", "bound {request} --loss 1", "calibrate {request} --leakage 1",
    "bound {model} --loss 1", "calibrate {model} --leakage 1", "attack {model} --releases 5", "attack {model} --releases 5 --publish each",
    "survey init {table} {table} -o made", "survey propose {table} --schema {schema} -o new.toml", "survey request {request} -o new.toml",
    "survey derive {request} {folder} -o new.csv", "serve {request}", "serve {folder} --offer {schema}", "token add {folder} ann", "token list {folder}", "token log {folder}",
    "token revoke {folder} ann", "key new key.pem", "key show {schema}", "demo {request}", "paper {request} -o out",
)  # fmt: skip
WITHOUT_JSON = ("demo", "serve", "token revoke")
LINES_OF_JSON = ("stream",)


@dataclass(frozen=True)
class Example:
    """A folder with a request, its table and its schema."""

    name: str
    folder: Path
    request: str = "release.toml"

    @cached_property
    def words(self) -> dict[str, str]:
        """What the calls are filled with."""
        fields = tomllib.loads((self.folder / self.request).read_text())
        schema, columns = fields.get("schema"), ["a", "b"]
        if isinstance(schema, str) and (self.folder / schema).is_file():
            columns = [column.name for column in read_schema(self.folder / schema).columns] * 3
        model = "model.json"
        for given in fields.get("dependence", ()):
            if isinstance(given.get("model"), dict):
                (self.folder / model).write_text(json.dumps(given["model"]))
            elif isinstance(given.get("model"), str):
                model = given["model"]
        return {
            "request": self.request, "schema": str(schema), "table": str(fields.get("table")), "model": model, "folder": ".",
            "column": columns[-1], "other": columns[-2], "by": columns[0],
        }  # fmt: skip


def examples_of_the_documentation(place: Path) -> list[Example]:
    """Lay out the files of each page, run its scripts and approvals, and give every request that is there."""
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        folder, texts = place / f"page {page.stem}", []
        folder.mkdir()
        for block in BLOCK.finditer(page.read_text()):
            if block["file"]:
                (folder / block["file"]).write_text(block["text"])
                if block["file"].endswith(".toml") and "schema = " in block["text"]:
                    texts.append(block["text"])
            elif re.fullmatch(r"python \S+", block["line"]):
                warm.python(*shlex.split(block["line"])[1:], folder=folder)
        approve_all(folder)
        for number, text in enumerate(texts):
            (folder / f"request{number}.toml").write_text(text)
            found.append(Example(f"{page.stem} {number}", folder, f"request{number}.toml"))
    return found


def approve_all(folder: Path) -> None:
    """Approve every schema of a folder."""
    for path in folder.glob("*.toml"):
        with contextlib.suppress(Exception):
            write_schema(read_schema(path).approve(), path)


def laid_out(place: Path, name: str, schema: Schema, table: str, request: str) -> Example:
    """Lay out an example."""
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "schema.toml").write_text(text_of(schema.approve()))
    (folder / "table.csv").write_text(table)
    terms = 'table = "table.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 3\n'
    (folder / "release.toml").write_text(terms + request)
    return Example(name, folder)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what is wrong with that."""

    call: str
    wrong: tuple[str, ...]
    seconds: float


def ended(example: Example, call: str, place: Path, *, as_json: bool, changed: dict | None = None) -> Ended:
    """Run a call on a copy of an example, in this process; perhaps its request is a changed one."""
    line = call.format(**example.words) + (" --json" if as_json else "")
    folder = place / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(example.folder, folder)
    if changed is not None:
        (folder / example.request).write_text(written(changed))
    forget_rows()
    shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]) / "entwined" / "anchors", ignore_errors=True)
    out, err, code, traces, before = io.StringIO(), io.StringIO(), 0, list[str](), Path.cwd()
    start = time.process_time()
    os.chdir(folder)
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with (
            mock.patch.object(sys, "argv", ["entwined", *shlex.split(line)]),
            mock.patch.object(sys, "stdin", io.StringIO()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch(
                "entwined.cli.app.unforeseen_words",
                lambda error: traces.append("".join(traceback.format_exception(error)[-6:])) or "a defect",
            ),
        ):
            main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001  (whatever it is, it is shown)
        traces.append(traceback.format_exc())
    finally:
        signal.alarm(0)
        os.chdir(before)
    wrong = (*faults(call, code, out.getvalue(), err.getvalue() + "".join(traces), as_json=as_json),)
    return Ended(f"{example.name}: {line}", wrong, time.process_time() - start)


def too_long(*_) -> None:
    """Stop a command that takes too long."""
    raise KeyboardInterrupt


def faults(call: str, code: int, out: str, err: str, *, as_json: bool):
    """Say what is wrong with an end."""
    if code not in CODES:
        yield f"exit code {code}: {err[-1500:]}"
    elif "Traceback" in out + err:
        yield f"a traceback: {err[-1500:]}"
    if code and not err.strip() and not out.strip():
        yield "a failure without a word"
    if as_json and not call.startswith(WITHOUT_JSON) and not (code and not out.strip()):
        lines = out.splitlines() if call.startswith(LINES_OF_JSON) and "--plan" not in call else [out]
        for one in lines:
            try:
                json.loads(one)
            except ValueError:
                yield f"no JSON document, but {one[:200]!r}"


def commands_there_are() -> set[str]:
    """The names of all commands, those of groups with the group's before them."""

    def below(group, before=""):
        for name, command in group.commands.items():
            inner = getattr(command, "commands", None)
            yield from below(command, f"{before}{name} ") if inner else [f"{before}{name}"]

    return set(below(built()))


def written(fields: dict) -> str:
    """Write a document as TOML, each key on a line of its own."""
    return "".join(
        f"{json.dumps(key, ensure_ascii=False)} = {_inline(value)}\n" for key, value in fields.items()
    )


def _inline(value: object) -> str:
    match value:
        case dict():
            return (
                "{"
                + ", ".join(f"{json.dumps(k, ensure_ascii=False)} = {_inline(v)}" for k, v in value.items())
                + "}"
            )
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return value.isoformat()


REPLACED_BY = (
    [],
    "",
    {},
    3,
    -1,
    0,
    1e308,
    5e-324,
    10**18,
    float("nan"),
    float("inf"),
    True,
    "é\u202e字",
    [[]],
    ["a", 1],
    {"kind": "groups"},
    "x" * 5000,
)


def places(value: object, path: tuple = ()):
    """Give the path of everything in a document, the document itself left out."""
    if path:
        yield path
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, one in inner:
        yield from places(one, (*path, key))


def mutants(fields: dict):
    """Change one thing of a document: leave it out, replace it by each of many values, or add what is unknown."""
    for path in places(fields):
        yield f"without {path}", _changed(fields, path, None, drop=True)
        for value in REPLACED_BY:
            yield f"{path} = {value!r:.40}", _changed(fields, path, value)
    for path in [(), *(one for one in places(fields) if isinstance(_at(fields, one), dict))]:
        yield f"an unknown key in {path}", _changed(fields, (*path, "unknown"), 1)


def _at(document, path):
    for key in path:
        document = document[key]
    return document


def _changed(fields, path, value, *, drop=False):
    copied = json.loads(json.dumps(fields, default=str))
    holder = _at(copied, path[:-1])
    if drop:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copied
