"""Texts and numbers as people read them: nothing in them can break a page, a chart or a line."""

import math
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from entwined.noise import Law

LONGEST: Final = 300
UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS: Final = {"\u200c", "\u200d"}  # scripts and emoji need them inside a word
FINEST: Final = 6
ROUND: Final = 3
LAST_BITS: Final = Fraction(1, 10**9)  # what computing a bound adds to it


def readable(text: object, longest: int = LONGEST) -> str:
    r"""Give a text on one line: spaces joined, marks that nobody sees replaced, the end of a long one cut.

    >>> readable("two\nlines and an unseen \u202e turn")
    'two lines and an unseen � turn'
    >>> readable("a" * 10_000, longest=5)
    'aaaa…'
    """
    whole = " ".join(str(text)[: 4 * longest].split())
    clean = whole
    if not whole.isprintable():  # what can be printed has nothing unseen in it, and most texts can
        clean = "".join("�" if _is_unseen(letter) else letter for letter in whole)
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def _is_unseen(letter: str) -> bool:
    return letter not in JOINERS and unicodedata.category(letter) in UNSEEN


def digits_for(half_width: float | Fraction | None) -> int:
    """Say how many decimals are worth showing beside an interval: two figures of its half-width."""
    if half_width is None or half_width <= 0:
        return ROUND
    place = math.floor(math.log10(half_width))
    return min(max(1 - place, 0), FINEST)


def number(value: Any, digits: int = ROUND, *, towards: int = 0) -> str:
    """Write a number with its thousands apart; `towards` −1 rounds down, 1 up, as ends of intervals must be.

    >>> number(1234567), number(Fraction(-1, 3), 2), number(Fraction(1, 3), 1, towards=1)
    ('1,234,567', '−0.33', '0.4')
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
        raise TypeError(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "without bound"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    parts = Fraction(value) * 10**digits
    whole = math.floor(parts) if towards < 0 else math.ceil(parts) if towards else round(parts)
    sign = "−" if whole < 0 else ""
    before, after = divmod(abs(whole), 10**digits)
    return f"{sign}{before:,}.{after:0{digits}d}" if digits else f"{sign}{before:,}"


def exactly(value: int | Fraction) -> str:
    """Write a number of a public grid with all its digits.

    >>> exactly(Fraction(4073, 2)), exactly(Fraction(2036)), exactly(12345)
    ('2,036.5', '2,036', '12,345')
    """
    text = number(value, FINEST)
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure(value: float, *, up: bool = False) -> str:
    """Write a public figure such as a scale in four figures; a leakage or a factor is rounded `up`.

    >>> figure(0.123456), figure(0.123401, up=True), figure(4.0, up=True), figure(12345.6), figure(0.00001234)
    ('0.1235', '0.1235', '4', '12,346', '1.234e-05')
    """
    if not math.isfinite(value):
        return "without bound"
    if value != 0 and not 1e-4 <= abs(value) < 1e12:  # noqa: PLR2004  (beyond them zeros are no help)
        return f"{value:.4g}"
    digits = max(3 - math.floor(math.log10(abs(value))), 0) if value else 0
    text = (
        number(Fraction(value) * (1 - LAST_BITS), digits, towards=1)
        if up
        else number(Fraction(value), digits)
    )
    return text.rstrip("0").rstrip(".") if "." in text else text


def plural(count: int, one: str, many: str = "") -> str:
    """Say how many.

    >>> plural(1, "statistic"), plural(1200, "statistic"), plural(2, "box", "boxes")
    ('1 statistic', '1,200 statistics', '2 boxes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def noise_words(law: Law) -> str:
    """Name a noise with its scale in four figures.

    >>> from entwined.noise import DiscreteLaplace
    >>> noise_words(DiscreteLaplace(Fraction(2, 3)))
    'discrete Laplace of scale 0.6667'
    """
    return law.words(lambda number: figure(float(number)))
