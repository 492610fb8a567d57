"""BIF, the interchange format of Bayesian networks, read and written to the last digit.

Libraries that read BIF keep single precision; a log odds off in the eighth digit could flatter a bound.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Final, NamedTuple

from entwined.dependence.bayes_net import MOST_PARENTS, BayesNet
from entwined.dependence.contents import read_bytes, text_of
from entwined.dependence.model import Source, checked_source
from entwined.errors import BadModel
from entwined.writing import write_whole

MOST_BYTES: Final = 64_000_000
MOST_ROWS: Final = 5_000_000
TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)  # comments
    |"[^"\n]*"|[{}()\[\]|;,"]     # quoted names, signs
    |(?:(?!//|/\*)[^\s{}()\[\]|;,"])+""",
    re.DOTALL | re.VERBOSE,
)
NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]+")
KEYWORDS: Final = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
SOURCE: Final = "entwined_source"  # a property of the network, so that its source is not lost on the way

Tokens = Iterator[str]
Domains = dict[str, tuple[str, ...]]


class BifTable(NamedTuple):
    """The law of a variable as the file gives it: a row for each joint value of the parents."""

    parents: tuple[str, ...]
    rows: dict[tuple[str, ...], list[float]]
    default: list[float] | None


def read_bif(path: Path) -> BayesNet:
    """Read a network from a BIF file."""
    try:
        return network_from(text_of(read_bytes(path, MOST_BYTES)))
    except BadModel as wrong:
        raise BadModel(f"{path}: {wrong}") from None


def network_from(text: str) -> BayesNet:
    """Read a network from the text of a BIF file."""
    tokens = (token for token in TOKEN.findall(text) if not token.startswith(("//", "/*")))
    source: Source = "declared"
    domains: Domains = {}
    laws: dict[str, BifTable] = {}
    for word in tokens:
        if word == "network":
            source = source_in(tokens)
        elif word == "variable":
            name = plain(next(tokens, ""))
            refuse_again(name, domains, "declared")
            domains[name] = values_in(tokens, name)
        elif word == "probability":
            scope = words_until(tokens, ")", "a probability")
            name, parents = scope_of(scope)
            refuse_again(name, laws, "given a law")
            laws[name] = law_in(tokens, name, parents)
        else:
            raise BadModel(
                f"{word!r:.40} stands where a network, variable or probability should. Mend it there."
            )
    return assembled(domains, laws, source)


def assembled(domains: Domains, laws: dict[str, BifTable], source: Source) -> BayesNet:
    """Put variables and laws together, with the rows of each table in order."""
    stranger = next((name for name in laws if name not in domains), None)
    if stranger is not None:
        raise BadModel(f"There is a probability of {stranger!r:.60}, which is no variable. Declare it.")
    lawless = next((name for name in domains if name not in laws), None)
    if lawless is not None:
        raise BadModel(f"Variable {lawless!r:.60} has no probability. Give its law.")
    total = 0
    for name, law in laws.items():
        total += rows_needed(name, law, domains)
        if total > MOST_ROWS:
            raise BadModel(
                f"Up to {name!r:.60} the tables need over {MOST_ROWS} rows. Give it fewer parents."
            )
    tables = [rows_of(name, laws[name], domains) for name in domains]
    parents = [laws[name].parents for name in domains]
    return BayesNet.of_columns(list(domains), list(domains.values()), parents, tables, source)


def rows_needed(name: str, law: BifTable, domains: Domains) -> int:
    """Count the joint values of the parents."""
    unknown = next((parent for parent in law.parents if parent not in domains), None)
    if unknown is not None:
        raise BadModel(f"Variable {name!r:.60} has the unknown parent {unknown!r:.60}. Declare it.")
    if len(law.parents) > MOST_PARENTS:
        raise BadModel(
            f"Variable {name!r:.60} has {len(law.parents)} parents. Give it {MOST_PARENTS} at most."
        )
    return prod(len(domains[parent]) for parent in law.parents)


def rows_of(name: str, law: BifTable, domains: Domains) -> list[list[float]]:
    """Order the rows of a table, the last parent fastest; fill the missing ones with the default."""
    known = [domains[parent] for parent in law.parents]
    rows = [law.rows.get(values, law.default) for values in product(*known)]
    filled = [row for row in rows if row is not None]
    if len(filled) < len(rows):
        missing = next(values for values in product(*known) if values not in law.rows)
        raise BadModel(f"The table of {name!r:.60} has no row for ({', '.join(missing):.60}). Add it.")
    if len(law.rows) != sum(values in law.rows for values in product(*known)):
        raise BadModel(
            f"The table of {name!r:.60} has a row for values that its parents do not have. Remove it."
        )
    return filled


def source_in(tokens: Tokens) -> Source:
    """Read the block of the network: where the model comes from, if it says so."""
    source: Source = "declared"
    words_until(tokens, "{", "the network")
    for word in tokens:
        if word == "}":
            return source
        if word != "property":
            raise BadModel(f"The network holds {word!r:.40} where a property should stand. Remove it.")
        words = words_until(tokens, ";", "a property")
        if words[:1] == [SOURCE]:
            source = checked_source(" ".join(words[1:]))
    raise BadModel("The network block has no end. Close it with }.")


def values_in(tokens: Tokens, name: str) -> tuple[str, ...]:
    """Read the block of a variable: its values."""
    values: list[str] | None = None
    what = f"Variable {name!r:.60}"
    expect(tokens, "{", what)
    for word in tokens:
        if word == "}" and values is not None:
            return tuple(values)
        if word == "property":
            words_until(tokens, ";", what)
        elif word == "type" and values is None:
            expect(tokens, "discrete", what)
            expect(tokens, "[", what)
            size = "".join(words_until(tokens, "]", what))
            expect(tokens, "{", what)
            values = words_until(tokens, "}", what)
            expect(tokens, ";", what)
            if size != str(len(values)):
                raise BadModel(
                    f"{what} lists {len(values)} values but says it has {size:.20}. Make them agree."
                )
        else:
            break
    raise BadModel(f"{what} has no values in the form: type discrete [ 2 ] {{ yes, no }};. Declare them.")


def scope_of(words: list[str]) -> tuple[str, tuple[str, ...]]:
    """Split what a law is about into the variable and its parents."""
    if words[:1] != ["("] or len(words) < 2 or (len(words) > 2 and words[2] != "|"):  # noqa: PLR2004  (name, bar)
        raise BadModel(
            f"A probability is about {' '.join(words)!r:.60}. Write it as ( name | parent, parent )."
        )
    return words[1], tuple(words[3:])


def law_in(tokens: Tokens, name: str, parents: tuple[str, ...]) -> BifTable:
    """Read the block of a law: its rows."""
    what = f"The table of {name!r:.60}"
    rows: dict[tuple[str, ...], list[float]] = {}
    default: list[float] | None = None
    expect(tokens, "{", what)
    for word in tokens:
        if word == "}":
            return BifTable(parents, rows, default)
        if word == "(":
            values = tuple(words_until(tokens, ")", what))
            if values in rows:
                raise BadModel(f"{what} has two rows for ({', '.join(values):.60}). Keep one.")
            rows[values] = probabilities(tokens, what)
        elif word == "table" and not parents and not rows:
            rows[()] = probabilities(tokens, what)
        elif word == "default" and default is None:
            default = probabilities(tokens, what)
        elif word == "property":
            words_until(tokens, ";", what)
        else:
            break
    raise BadModel(
        f"{what} is not in the form of one row (value, value) 0.1, 0.9; for each joint value. Write it so."
    )


def probabilities(tokens: Tokens, what: str) -> list[float]:
    """Read a row of numbers."""
    words = words_until(tokens, ";", what)
    wrong = next((word for word in words if not NUMBER.fullmatch(word)), None)
    if wrong is not None:
        raise BadModel(f"{what} holds {wrong!r:.40}, which is not a number. Give probabilities.")
    return [float(word) for word in words]


def words_until(tokens: Tokens, stop: str, what: str) -> list[str]:
    """Collect names and numbers up to a sign; commas only separate."""
    words: list[str] = []
    for word in tokens:
        if word == stop:
            return words
        if word in "{};" and stop != ";":
            break
        if word != ",":
            words.append(plain(word))
    raise BadModel(f"{what} has no {stop!r} where it should end. Close it.")


def expect(tokens: Tokens, sign: str, what: str) -> None:
    """Refuse anything but the sign that comes next."""
    word = next(tokens, "the end of the file")
    if word != sign:
        raise BadModel(f"{what} has {word!r:.40} where {sign!r} should stand. Mend it there.")


def plain(word: str) -> str:
    """Take the quotes off."""
    return word[1:-1] if len(word) > 1 and word[0] == '"' else word


def refuse_again(name: str, seen: Mapping[str, object], what: str) -> None:
    """Refuse what is said twice."""
    if name in seen:
        raise BadModel(f"{name!r:.60} is {what} twice. Keep one.")


def write_bif(net: BayesNet, path: Path) -> None:
    """Write a network whose tables are known exactly to a BIF file."""
    write_whole(path, bif_text(net))


def bif_text(net: BayesNet) -> str:
    """Write a network as BIF, every number with all its digits."""
    if not all(block.table.is_exact for block in net.blocks):
        raise BadModel(
            "BIF has no intervals, and a table of this network has some. Write it as .json or .toml."
        )
    for name in {*net.names, *(value for domain in set(net.values) for value in domain)}:
        if not PLAIN.fullmatch(name) or name in KEYWORDS:
            raise BadModel(
                f"BIF cannot hold the name {name!r:.60}. Rename it, or write the network as .json or .toml."
            )
    domains = dict(zip(net.names, net.values, strict=True))
    source = "" if net.source == "declared" else f"  property {SOURCE} {net.source} ;\n"
    parts = [f"network model {{\n{source}}}\n"]
    for name, values in domains.items():
        parts.append(
            f"variable {name} {{\n  type discrete [ {len(values)} ] {{ {', '.join(values)} }};\n}}\n"
        )
    for variable in net.document["variables"]:
        given = f" | {', '.join(variable['parents'])}" if variable["parents"] else ""
        keys = product(*(domains[parent] for parent in variable["parents"]))
        rows = (
            f"  {'(' + ', '.join(key) + ')' if key else 'table'} {', '.join(map(repr, row))};\n"
            for key, row in zip(keys, variable["table"], strict=True)
        )
        parts.append(f"probability ( {variable['name']}{given} ) {{\n{''.join(rows)}}}\n")
    return "".join(parts)
