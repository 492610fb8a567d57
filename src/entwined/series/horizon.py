"""What a stream costs and gives, before anything is read: its leakage step by step and in the end, and its errors."""

import math
from typing import Final

from entwined.bounds import bound
from entwined.canonical import Document
from entwined.dependence import EndlessChain, MarkovChain
from entwined.errors import DoesNotApply, NoTheorem
from entwined.promise.base_loss import BaseLoss
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.series.following import Streaming

HORIZONS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)
STEPS: Final = (1, 2, 5, 10, 20, 30, 50, 100, 200, 365, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)


def planned(streaming: Streaming) -> Document:
    """Say what a stream is charged, what it leaks under each model after so many steps, and how far off answers are."""
    stream, promise = streaming.stream, streaming.promise
    parts = stream.parts(promise)
    base = promise.base(parts)
    price = promise.price({part.key: part for part in parts})
    return {
        "name": streaming.name,
        "says": f"{streaming.name}: {stream.words}",
        "counter": stream.counter.document,
        "horizon": stream.counter.horizon,
        "knowledge": promise.knowledge,
        **promise.measure.document,
        "nominal": float(price.nominal),
        "leakage": float(price.worst),
        "noise_options": [option.document(streaming.unit) for option in streaming.request.noise_options],
        "errors": [_error(streaming, step) for step in _steps(stream.counter.horizon)],
        "models": [
            {"name": name, **curve}
            for name, (one, _) in promise.judges.items()
            if (curve := horizon_curve(promise, one, base, stream.counter.horizon)) is not None
        ],
    }


def horizon_curve(
    promise: Promise, one: Declared, base: BaseLoss, horizon: int | None = None
) -> Document | None:
    """Bound what leaks of a step after 1, 2, 5, … steps, and however many there are; nothing of what is no series."""
    if one.model.until(1) is None:
        return None
    steps = [count for count in HORIZONS if horizon is None or count < horizon]
    steps += [] if horizon is None else [horizon]
    curve = [{"steps": count, "leakage": _leakage(promise, one, base, count)} for count in steps]
    return {"horizon": curve, "limit": _leakage(promise, one, base, None)}


def _leakage(promise: Promise, one: Declared, base: BaseLoss, steps: int | None) -> float | None:
    model = endless(one) if steps is None else one.model.until(steps)
    if model is None:
        return None
    exposure = promise.measure.exposure((base.replace,), model.units, {} if base.apart else None)
    try:
        found = bound(model, exposure, promise.knowledge, trusting=one.trusting).leakage.worst
    except (NoTheorem, DoesNotApply):
        return None
    return found if math.isfinite(found) else None


def endless(one: Declared) -> EndlessChain | None:
    """The same series without an end."""
    first = one.model.until(1)
    return EndlessChain(first.transition, first.initial) if isinstance(first, MarkovChain) else None


def _error(streaming: Streaming, step: int) -> Document:
    deviation = math.sqrt(streaming.stream.variance(streaming.promise, step)) * float(streaming.unit)
    return {"step": step, "deviation": deviation, "within": streaming.within(step)}


def _steps(horizon: int | None) -> list[int]:
    if horizon is None:
        return list(STEPS)
    return [step for step in STEPS if step < horizon] + [horizon]
