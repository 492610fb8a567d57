"""The words of a SELECT, each held against a list before anything is made of them.

The parser behind this knows dozens of dialects and drops what it does not need (comments, hints, prefixes).
So every character of the text must belong to a word that is on the list or names something declared.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from entwined.errors import BadQuery

if TYPE_CHECKING:
    from sqlglot import Token

Kind: TypeAlias = Literal["word", "quoted", "text", "number", "sign"]

DEEPEST: Final = 15  # the parser goes about 25 calls deeper for each bracket
WORD: Final = re.compile(r"[^\W\d]\w*")
SPACES: Final = " \t\r\n"
SIGNS: Final = frozenset({"=", "<>", "!=", "<", "<=", ">", ">=", "(", ")", ",", "*", "-", ".", "/"})
KEYWORDS: Final = frozenset(
    {
        *("select", "from", "where", "group", "by", "as", "within", "order", "asc"),
        *("and", "or", "not", "in", "between", "is", "null", "true", "false", "date", "timestamp"),
        *("case", "when", "then", "else", "end", "year from", "filter"),
    }
)
CLAUSES: Final = ("select", "from", "where", "group")
FUNCTIONS: Final = frozenset(
    {
        *("count", "sum", "avg", "var_pop", "min", "max", "median"),
        *("quantile_cont", "percentile_cont", "percentile_disc"),
        *("date_trunc", "extract", "width_bucket", "floor"),
    }
)
SAMPLE: Final = "divides by n − 1, and what is released divides by n: write var_pop"
ROOT: Final = "is not released: ask var_pop and take its root"
PARTS: Final = "puts rows of several years together: EXTRACT takes YEAR, and date_trunc('month', x) is known"
DEPENDS: Final = "would let the rows decide which cells are shown: every declared cell is"
REASONS: Final = {
    "variance": SAMPLE,
    "var_samp": SAMPLE,
    "variance_samp": SAMPLE,
    "stddev": ROOT,
    "stddev_pop": ROOT,
    "stddev_samp": ROOT,
    "mean": "is called avg",
    "quantile": "is called quantile_cont",
    "quantile_disc": "may differ by a rank from what is released: write quantile_cont",
    "limit": DEPENDS,
    "offset": DEPENDS,
    "fetch": DEPENDS,
    "having": DEPENDS,
    "join": "reads a second table: one is asked at a time",
    "distinct": "is not known here: values are not compared with those of other rows",
    "cast": "is not known here: columns have the types that the schema declares",
    "with": "names a query inside the query: there is one SELECT",
    "/": "divides, and known is a column by a number, age / 10: ask for both sums, or for a mean with a weight",
    **dict.fromkeys(("month from", "quarter from", "week from", "day from", "hour from", "dow from"), PARTS),
    "desc": "is not known here: take the quantile at 1 − p",
}
ALLOWED: Final = (
    "Write SELECT keys, aggregates FROM table WHERE condition GROUP BY keys. Aggregates: count(*), count(x), "
    "sum(x), sum(w * x) with weights w, avg(x), var_pop(x), median(x), quantile_cont(x, 0.9), "
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY x), count(*) FILTER (WHERE condition), and as shares of rows "
    "avg(CASE WHEN condition THEN 1 ELSE 0 END), count(*) FILTER (WHERE condition) * 1.0 / count(*) and avg(flag), "
    "each with AS name or without. Conditions: = <> < <= > >= "
    "BETWEEN, IN, IS NULL, IS TRUE, AND, OR, NOT and brackets, over columns and constants such as 20, 'm', "
    "DATE '2020-01-31', TRUE, NULL. Keys: columns, bands that the schema declares, date_trunc('month', x), "
    "EXTRACT(YEAR FROM x), width_bucket(x, 0, 100, 10), x / 10, floor(x / 10.0), CASE WHEN x < 18 THEN 'young' ELSE "
    "'old' END AS name. "
    'Odd names stand in "…".'
)


def refused(what: str) -> BadQuery:
    """Say what in a SELECT is not understood, and what would be."""
    return BadQuery(f"SQL: {what}. {ALLOWED}")


@dataclass(frozen=True, slots=True)
class Piece:
    """One word, constant or sign, with the place of its first and last character."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in small letters, empty for all else."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def sign(self) -> str:
        """The sign, empty for all else."""
        return self.text if self.kind == "sign" else ""

    def wrong(self, what: str) -> BadQuery:
        """Refuse this piece and say where it stands."""
        return refused(f"character {self.start + 1}: {self.text[:40]!r} {what}")


KINDS: Final[Mapping[str, Kind]] = {"STRING": "text", "IDENTIFIER": "quoted", "NUMBER": "number"}
EDGE: Final = Piece("sign", "edge", -1, -1)


def check_words(text: str, tokens: Sequence["Token"], is_column: Callable[[str], bool]) -> None:
    """Refuse a text with any word, sign or space that a SELECT of ours does not have."""
    pieces = list(_with_extracts(_pieces(text, tokens)))
    named = {two.word for one, two in pairwise(pieces) if one.word == "as"}
    if not pieces or pieces[0].word != "select":
        raise refused(f"it starts with {text[:20]!r}, not with SELECT")
    _check_clauses(pieces)
    depth = 0
    for before, piece, after in zip((EDGE, *pieces), pieces, (*pieces[1:], EDGE), strict=False):
        if piece.kind == "sign":
            depth += {"(": 1, ")": -1}.get(piece.sign, 0)
            _check_sign(before, piece, after, depth)
        else:
            _check_word(before, piece, after, lambda word: is_column(word) or word.lower() in named)
            _check_gap(before, piece)


def _pieces(text: str, tokens: Sequence["Token"]) -> list[Piece]:
    """Name the tokens by what they are, and leave out nothing but spaces between them."""
    pieces: list[Piece] = []
    done = 0
    for token in tokens:
        for piece in _named(text, token):
            _check_space(text, done, piece.start)
            pieces.append(piece)
            done = piece.end + 1
    _check_space(text, done, len(text))
    return pieces


def _with_extracts(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Take YEAR FROM inside EXTRACT(…) together: its FROM is no clause."""
    at = 0
    while at < len(pieces):
        words = [piece.word or piece.sign for piece in pieces[max(at - 2, 0) : at + 2]]
        if at > 1 and words[:2] == ["extract", "("] and words[-1] == "from":
            yield Piece("word", f"{pieces[at].text} from", pieces[at].start, pieces[at + 1].end)
            at += 1
        else:
            yield pieces[at]
        at += 1


def _named(text: str, token: "Token") -> Iterator[Piece]:
    """Give one piece for a token, several where the tokenizer takes words such as GROUP BY together."""
    kind = KINDS.get(token.token_type.name, "sign")
    if kind == "sign" and WORD.fullmatch(token.text.partition(" ")[0]):
        for part in WORD.finditer(text, token.start, token.end + 1):
            yield Piece("word", part[0], part.start(), part.end() - 1)
    else:
        yield Piece(kind, token.text, token.start, token.end)


def _check_space(text: str, start: int, end: int) -> None:
    for at in range(start, end):
        if text[at] not in SPACES:
            raise Piece("sign", text[at:end], at, end).wrong("is a comment, or a character without a meaning")


def _check_clauses(pieces: Sequence[Piece]) -> None:
    """Refuse clauses that are repeated or out of order, which the parser forgives."""
    last = -1
    for one, two, three in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if (one.word, two.sign) == ("filter", "(") and three.word != "where":
            raise three.wrong("stands after FILTER ( where WHERE is wanted")
    for before, piece in pairwise((EDGE, *pieces)):
        if piece.word in CLAUSES and before.word != "within" and not _filters(before, piece):
            place = CLAUSES.index(piece.word)
            if place <= last:
                raise piece.wrong("stands there too late or too often")
            last = place


def _filters(before: Piece, piece: Piece) -> bool:
    """Whether a WHERE is that of FILTER (WHERE …), which is no clause."""
    return piece.word == "where" and before.sign == "("


def _check_sign(before: Piece, piece: Piece, after: Piece, depth: int) -> None:
    if piece.sign not in SIGNS:
        raise piece.wrong(REASONS.get(piece.sign, "is not known here"))
    if depth > DEEPEST:
        raise piece.wrong(f"is more than {DEEPEST} brackets deep")
    match piece.sign:
        case "*" if not _multiplies(before, after):
            raise piece.wrong("stands for all columns or for a product: known are count(*) and sum(w * x)")
        case "," if _has_no_neighbours(before, after):
            raise piece.wrong("has nothing before it or after it")
        case "/" if not _divides(before, after):
            raise piece.wrong(REASONS["/"])
        case "-" if after.kind != "number" or _ends_operand(before):
            raise piece.wrong("is no part of a number: there is no arithmetic")
        case "." if after.kind != "number" or _ends_operand(before):
            raise piece.wrong("is no part of a number: names stand there without a prefix")


def _multiplies(before: Piece, after: Piece) -> bool:
    """Whether a * is that of count(*), sum(w * x), or of 1.0 in a share."""
    if (before.sign, after.sign) == ("(", ")") or (_is_name(before) and _is_name(after)):
        return True
    return (before.sign == ")" and after.text == "1.0") or (before.text == "1.0" and _is_name(after))


def _divides(before: Piece, after: Piece) -> bool:
    """Whether a / divides a column by a number, or makes a share of counts."""
    if _is_name(before) and after.kind == "number":
        return True
    return (before.sign == ")" or before.text == "1.0") and _is_name(after)


def _has_no_neighbours(before: Piece, after: Piece) -> bool:
    left = before.word in (*CLAUSES, "by") or before.sign not in ("", ")")
    return left or after.word in CLAUSES or after.sign not in ("", "(", "-", ".")


def _is_name(piece: Piece) -> bool:
    return piece.kind == "quoted" or (piece.kind == "word" and piece.word not in KEYWORDS)


def _ends_operand(piece: Piece) -> bool:
    return piece.sign == ")" if piece.kind == "sign" else piece.word not in KEYWORDS


def _check_gap(before: Piece, piece: Piece) -> None:
    """Refuse 5x, x'ff', sum(ALL n) and the like, which parsers take apart in ways of their own."""
    if before.kind != "sign" and before.end + 1 == piece.start:
        raise piece.wrong("touches the word before it: put a space or a sign between")
    if _ends_operand(before) and piece.word not in KEYWORDS:
        raise piece.wrong(REASONS.get(piece.word, "has no sign and no AS before it"))


def _check_word(before: Piece, piece: Piece, after: Piece, is_column: Callable[[str], bool]) -> None:
    calls = after.sign == "("
    named = before.word in ("from", "as")
    if piece.kind != "word":
        if calls or (named and piece.kind != "quoted"):
            raise piece.wrong("is no function" if calls else "is no name: odd names stand in double quotes")
        return
    if piece.word == "select" and before is not EDGE:
        raise piece.wrong("starts a query inside the query: there is one SELECT")
    if piece.word == before.word == "not":
        raise piece.wrong("stands there twice in a row")
    fits = piece.word in FUNCTIONS if calls else named or is_column(piece.text)
    if not fits and piece.word not in KEYWORDS:
        known = "is no function known here" if calls else "is no column and no word known here"
        raise piece.wrong(REASONS.get(piece.word, known))
