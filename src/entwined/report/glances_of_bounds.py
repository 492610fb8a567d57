"""What is seen of bounds, calibrations, curves, losses, leakages and certificates of a bound."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from entwined.bounds import Bound, Calibration, Certificate, ConcentratedLoss, Curve, Exposure, Hint
from entwined.bounds.choose import Said
from entwined.bounds.hints import NOT_TRIED, are_tried
from entwined.dependence import Dependence
from entwined.loss import QUANTILES, Leakage, Loss
from entwined.numbers import FloatArray
from entwined.report.glance import MOST_BARS, Dot, Glance, Spelled, glance, tabled
from entwined.report.words import FINEST, figure, number, plural, readable

if TYPE_CHECKING:
    import pyarrow as pa


@glance.register(Bound)
def _bound(shown: Bound[Exposure]) -> Glance:
    said = [one for one in shown.alternatives if _is_about(one, shown)]
    said.sort(key=lambda one: math.inf if one.leakage is None else one.leakage.worst)
    lines: list[tuple[str, float | None, str]]
    lines = [(shown.theorem.name, shown.leakage.worst, "the smallest")]
    lines += [
        (one.theorem.name, None if one.leakage is None else one.leakage.worst, one.why_not or "")
        for one in said
    ]
    names, amounts, notes = zip(*lines, strict=True)
    proofs = sum(amount is not None for amount in amounts)
    hints = shown.hints()
    bars = [Dot(name, amount) for name, amount, _ in lines[:proofs] if amount is not None]
    others = (
        f"{plural(len(lines) - proofs, 'other theorem')} about such models say nothing; .table() tells why."
    )
    return Glance(
        f"{_leaks(shown)}, by the theorem {shown.theorem.name!r}",
        {"theorem": names[:proofs], "leakage": amounts[:proofs], "note": notes[:proofs]},
        whole=lambda: tabled({"theorem": names, "leakage": amounts, "note": notes}),
        notes=[*_hinted(shown.model, shown.exposure, hints), *([others] if len(lines) > proofs else [])],
        bars=_finite([*bars[: MOST_BARS // 2], *(Dot(f"with {_of(hint)}", hint.leakage) for hint in hints)]),
        axis="leakage",
    )


def _leaks(shown: "Bound[Exposure] | Calibration[Exposure]") -> str:
    return (
        f"Leakage at most {figure(shown.leakage.worst, up=True)} under {readable(shown.model.kind)} of "
        f"{plural(shown.model.units, 'unit')}, for knowledge {shown.knowledge!r}"
    )


def _is_about(one: Said, shown: Bound[Exposure]) -> bool:
    return isinstance(shown.model, one.theorem.about) and one.theorem.covers(shown.knowledge)


def _of(hint: Hint) -> str:
    return hint.about + (
        "" if hint.about == "knowledge" or hint.knowledge == "any" else f", {hint.knowledge}"
    )


def _hinted(model: Dependence, exposure: Exposure, hints: Sequence[Hint]) -> list[str]:
    return [*map(str, hints)] if are_tried(model, exposure) else [NOT_TRIED]


def _finite(bars: Sequence[Dot]) -> list[Dot]:
    return [bar for bar in bars if math.isfinite(bar.value)]


@glance.register(Calibration)
def _calibration(shown: Calibration[Exposure]) -> Glance:
    hints = shown.hints()
    largest, word = _largest(shown.exposure)
    spelled = Spelled(largest, number(Fraction(largest), FINEST, towards=-1))
    bars = [Dot("this", largest)]
    bars += [Dot(f"with {_of(hint)}", largest * hint.times) for hint in hints if hint.times is not None]
    return Glance(
        f"Calibrated: {_leaks(shown)[:1].lower()}{_leaks(shown)[1:]}",
        {
            "what": (f"largest {word} of a unit", "leakage", "theorem"),
            "figure": (spelled, shown.leakage.worst, shown.theorem.name),
        },
        notes=_hinted(shown.model, shown.exposure, hints),
        bars=_finite(bars),
        axis=f"largest {word} of a unit",
    )


def _largest(exposure: Exposure) -> tuple[float, str]:
    """The largest loss of a unit, and what it is called."""
    if isinstance(exposure, Loss):
        return float(exposure.per_unit.max()), "loss"
    return (float(max(exposure.rhos)), "ρ") if isinstance(exposure, ConcentratedLoss) else (1.0, "exposure")


@glance.register
def _curve(shown: Curve) -> Glance:
    points = shown.points
    holds = "" if shown.holds_up_to is None else f"; the cap holds up to {shown.holds_up_to:.0%} more"
    return Glance(
        f"What leaks if {shown.strength} is larger{holds}",
        {
            "larger by": [Spelled(point.share, f"{point.share:.0%}") for point in points],
            "leakage": [point.leakage for point in points],
            "theorem": ["" if point.theorem is None else point.theorem.name for point in points],
        },
        notes=[shown.why_not] if shown.why_not else [],
        bars=_finite([Dot(f"{point.share:.0%} larger", point.leakage) for point in points]),
        axis="leakage",
    )


@glance.register
def _certificate(shown: Certificate) -> Glance:
    content = shown.content
    said = {
        "leakage": shown.leakage.worst,
        "theorem": shown.theorem.name,
        "knowledge": shown.knowledge,
        "model": f"{readable(shown.model.kind)} of {plural(shown.model.units, 'unit')}",
        "checked": shown.theorem.checked,
        **{f"trusted {at}": text for at, text in enumerate(content["trusted"], 1)},
    }
    return Glance(content["guarantee"], {"what": tuple(said), "says": tuple(said.values())})


@glance.register
def _leakage(shown: Leakage) -> Glance:
    return _by_unit("leakage", shown.per_unit)


@glance.register
def _loss(shown: Loss) -> Glance:
    return _by_unit("loss", shown.per_unit)


@glance.register
def _concentrated(shown: ConcentratedLoss) -> Glance:
    each = np.broadcast_to(np.array([float(rho) for rho in shown.rhos]), (shown.units,))
    facts = [word for word in ("gaussian", "separable") if getattr(shown, word)]
    seen = _by_unit("ρ", each)
    caption = ", ".join([seen.caption, f"at δ = {float(shown.delta):.3g}", *facts])
    return Glance(caption, seen.columns, seen.lines, seen.whole, bars=seen.bars, axis=seen.axis)


def _by_unit(word: str, per_unit: FloatArray) -> Glance:
    """Few units one by one, many by their quantiles; the frame has each."""
    units = per_unit.size

    def whole() -> "pa.Table":
        import pyarrow as pa

        return pa.table({"unit": np.arange(units), word: np.ascontiguousarray(per_unit)})

    told = dict(_told(per_unit))
    caption = f"{word.capitalize()} of {plural(units, 'unit')}, the largest {figure(float(per_unit.max()), up=True)}"
    columns: Mapping[str, Sequence[object]] = {"unit": tuple(told), word: tuple(told.values())}
    bars = _finite([Dot(name, amount) for name, amount in told.items()])
    return Glance(caption, columns, len(told), whole, bars=bars, axis=word)


def _told(per_unit: FloatArray) -> Iterator[tuple[str, float]]:
    if per_unit.size <= MOST_BARS:
        yield from ((str(at), float(amount)) for at, amount in enumerate(per_unit))
        return
    for at in QUANTILES:
        word = {0.0: "the least", 0.5: "the middle", 1.0: "the largest"}.get(at, f"{at:.0%} of them at most")
        yield word, float(np.quantile(per_unit, at, method="higher"))
