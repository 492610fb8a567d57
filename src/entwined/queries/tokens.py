"""The words of a condition's text, each with its place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias, TypeVar

from entwined.errors import BadQuery
from entwined.schema.exact import exact_number
from entwined.schema.raw import is_text

Kind: TypeAlias = Literal["name", "word", "text", "number", "sign", "end"]

T = TypeVar("T")

LONGEST: Final = 100_000
WORDS: Final = frozenset({"and", "or", "not", "in", "between", "is", "null", "true", "false"})
PATTERN: Final = re.compile(
    r"""(?P<space>\s+)
      | "(?P<quoted>(?:[^"]|"")+)"
      | '(?P<text>(?:[^']|'')*)'
      | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(?!\w)
      | (?P<name>[^\W\d]\w*)
      | (?P<sign><>|!=|<=|>=|[=<>(),])""",
    re.VERBOSE,
)
ALLOWED: Final = (
    "A condition compares columns with constants: age > 20 and sex in ('m', 'f') or not (x between 3 and 5) "
    'and "odd name" is null. Texts and dates stand in \'…\', DATE before a date or none, odd column names in "…".'
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word: `value` is a column's name, a keyword, a constant or a sign."""

    kind: Kind
    value: str | Fraction
    place: int


def wrong(place: int, what: str) -> BadQuery:
    """Say where a condition stops making sense, and what would."""
    return BadQuery(f"Character {place}: {what}. {ALLOWED}")


def placed(place: int, make: Callable[[], T]) -> T:
    """Make something of what was read at a place, and name the place if it is refused."""
    try:
        return make()
    except BadQuery as refused:
        raise BadQuery(f"Character {place}: {refused}") from None


def tokens(text: str) -> Iterator[Token]:
    """Cut a text into words, an end mark last."""
    if not is_text(text) or len(text) > LONGEST:
        raise BadQuery(f"A condition is a text of at most {LONGEST:,} characters. {ALLOWED}")
    at = 0
    while at < len(text):
        found = PATTERN.match(text, at)
        if found is None:
            raise wrong(at + 1, f"{text[at : at + 20]!r} is not understood")
        if found.lastgroup != "space":
            yield _token(str(found.lastgroup), found, at + 1)
        at = found.end()
    yield Token("end", "the end", len(text) + 1)


def _token(group: str, found: re.Match[str], place: int) -> Token:
    given = found[group]
    match group:
        case "quoted":
            return Token("name", given.replace('""', '"'), place)
        case "text":
            return Token("text", given.replace("''", "'"), place)
        case "number":
            number = exact_number(given)
            if number is None:
                raise wrong(place, f"{given[:20]!r} is too long or too far from zero")
            return Token("number", number, place)
        case "name" if given.lower() in WORDS:
            return Token("word", given.lower(), place)
        case "name":
            return Token("name", given, place)
    return Token("sign", given, place)
