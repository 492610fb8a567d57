"""What the pages of reproduced papers are made of: one HTML file that needs nothing else."""

import html
from collections.abc import Iterable, Sequence
from typing import Final

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #22303a; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid #d6dde2; padding: .25rem .6rem; text-align: left; vertical-align: top; }
.notice { background: #fbe9df; padding: .6rem 1rem; } .wrong { color: #b3541e; } .reproduced { color: #1b6b93; }
svg { max-width: 100%; height: auto; } h2 { margin-top: 2.2rem; }
"""


def whole_page(title: str, parts: Sequence[str]) -> str:
    """Put parts together, with what they look like."""
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def escape(text: str) -> str:
    """Text as it is read, inside of a page."""
    return html.escape(text, quote=False)


def section(title: str, text: str, *parts: str) -> list[str]:
    """Give a heading, words and what else is said under it."""
    return [f"<h2>{escape(title)}</h2>", *([words(text)] if text else []), *parts]


def words(text: str) -> str:
    """Give a paragraph."""
    return f"<p>{escape(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[str] = ()) -> str:
    """Give a table, its rows of these kinds."""
    lines = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    for number, row in enumerate(rows):
        kind = f' class="{escape(kinds[number])}"' if kinds else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return "<table>" + "".join(lines) + "</table>"
