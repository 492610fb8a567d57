"""JSON and TOML text as documents, strictly: what is ambiguous, endless or not a number is refused."""

import json
import re
import tomllib
from typing import Any, Final, NoReturn

from entwined.canonical import Document
from entwined.errors import BadModel

HALF_CHARACTER: Final = re.compile(r"\\u[dD][89abcdefABCDEF]")
PART: Final = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY: Final = re.compile(rf"(?<![\w-]){PART}(?:[ \t]*+\.[ \t]*+{PART}){{6}}")
BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def json_document(text: str) -> Any:
    """Parse JSON, refusing one key twice in an object, and what only some parsers call a number."""
    try:
        document = json.loads(text, object_pairs_hook=distinct, parse_constant=refuse_constant)
        if HALF_CHARACTER.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as wrong:
        where = f"line {wrong.lineno}, column {wrong.colno}"
        raise BadModel(f"It is not JSON: {wrong.msg} at {where}. Mend it there.") from None
    except RecursionError:
        raise BadModel(
            "Its lists or objects are nested too deeply. A model needs no more than ten levels."
        ) from None
    except UnicodeEncodeError:
        raise BadModel(
            r"A string has half a character (\ud800 to \udfff alone). Write the whole character."
        ) from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise BadModel("An integer has thousands of digits. Give numbers of a usable size.") from None
    return document


def distinct(pairs: list[tuple[str, Any]]) -> Document:
    """Make an object of its pairs; two of the same key could mean either."""
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # adds on the way
        raise BadModel(f"The key {again!r:.60} is given twice in one object. Keep one.")
    return members


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise BadModel(f"{name} is not a JSON number. Give a finite number.")


def toml_document(text: str) -> Any:
    """Parse TOML, refusing keys of many parts, which take the parser very long."""
    if LONG_KEY.search(text):
        raise BadModel("A key has more than six parts joined by dots. A model needs no more than two.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise BadModel(f"It is not TOML: {str(wrong)[:200]}. Mend it there.") from None
    except RecursionError:
        raise BadModel(
            "Its lists or tables are nested too deeply. A model needs no more than ten levels."
        ) from None
    except ValueError:
        raise BadModel("A number or a date in it cannot be. Give numbers of a usable size.") from None


def json_text(document: Document) -> str:
    """Write a document as JSON."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def toml_text(document: Document) -> str:
    """Write a document as TOML, one line a field."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in document.items())


def toml_value(value: Any) -> str:
    """Write a value on one line; an object becomes an inline table."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{toml_key(key)} = {toml_value(member)}" for key, member in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def toml_key(key: str) -> str:
    """Write a key, in quotes where it needs them."""
    return key if BARE_KEY.fullmatch(key) else toml_value(key)
