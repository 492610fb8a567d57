"""Typeset formulas when the pages are built: x_i, e^{−ε} and Σ_{j≠i} become MathML, which browsers draw by themselves.

The theorems are written as plain text beside the code, so that the code, the certificates and the pages say the same
words. mkdocs calls this for every page (`hooks` in mkdocs.yml); nothing is loaded from anywhere.
"""

import re
from html import escape, unescape
from typing import Any, Final

BRACED: Final = r"\{(?:[^{}]|\{[^{}]*\})*\}"
SCRIPT: Final = rf"(?:{BRACED}|[A-Za-z0-9]+|[^\s{{}}<>&;,.])"
WORDS: Final = r"\b(?:quiet|told|min|max|sup|inf|log)"
MARKED: Final = re.compile(rf"(?P<base>{WORDS}|[^\s_^{{}}<>&;]\u0304?)(?P<marks>(?:[_^]{SCRIPT}){{1,2}})")
ALONE: Final = r"(?<![\w'’.])[^\W\d_AIa]\u0304?(?![\w'’-]|\.\w)"
SIGNED: Final = r"(?<=[=|(\[−/·∈∉≠] )[AIa]\b|(?<=[|(\[/·])[AIa]\b|\b[AIa](?= ?[=|)\]/·≠∈]|, b\b| and b\b)"
LETTERS: Final = re.compile(rf"{MARKED.pattern}|(?P<letter>{ALONE}|{SIGNED})")
MARK: Final = re.compile(rf"([_^])({SCRIPT})")
SUMS: Final = "ΣΠ"
VERBATIM: Final = re.compile(r"(^```.*?^```|`[^`]*`|<!--.*?-->|\]\([^)]*\))", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Typeset the text of a page before Markdown takes its marks for emphasis; code and links stay as they are."""
    parts, letters = VERBATIM.split(markdown), page.file.src_uri == "theorems.md"
    return "".join(part if at % 2 else typeset(part, letters=letters) for at, part in enumerate(parts))


def typeset(text: str, *, letters: bool = False) -> str:
    """Write what has a subscript or a superscript as MathML, and where it is all about formulas single letters too.

    >>> typeset("for x_i only")
    'for <math><msub><mi>x</mi><mi>i</mi></msub></math> only'
    >>> typeset("a law f of a", letters=True)
    'a law <math><mi>f</mi></math> of a'
    """
    pattern = LETTERS if letters else MARKED
    return pattern.sub(lambda found: f"<math>{_written(found)}</math>", text)


def _written(found: re.Match[str]) -> str:
    return _marked(found) if found["base"] else _row(found["letter"])


def _marked(found: re.Match[str]) -> str:
    """Write a letter with its marks."""
    marks = dict(MARK.findall(found["marks"]))
    inner = "".join(_row(unescape(marks[sign])) for sign in "_^" if sign in marks)
    kind = "msubsup" if len(marks) == len("_^") else "msub" if "_" in marks else "msup"
    return f"<{kind}>{_row(found['base'])}{inner}</{kind}>"


def _row(text: str) -> str:
    """Write letters as letters, numbers as numbers and all else as operators."""
    bare = text[1:-1] if text.startswith("{") else text
    parts, at = [], 0
    for found in MARKED.finditer(bare):
        parts += [*_signs(bare[at : found.start()]), _marked(found)]
        at = found.end()
    parts += _signs(bare[at:])
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def _signs(text: str) -> list[str]:
    if re.fullmatch(WORDS, text):
        return [f"<mi>{text}</mi>"]
    signs = re.findall(r"[0-9.]+|[^\s]\u0304?", text)
    return [f"<{_kind(sign)}>{escape(sign)}</{_kind(sign)}>" for sign in signs]


def _kind(sign: str) -> str:
    return "mn" if sign[0].isdigit() else "mi" if sign[0].isalpha() and sign not in SUMS else "mo"
