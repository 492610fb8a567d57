"""Profiles passed along a chain in blocks: the steps between count as a group, only a step further off is swayed.

Where all steps are equal, it is enough to know what reaches every `stride`-th step: a step with fewer behind it gets no
more. For if r ≤ r' steps are behind, each block of k steps that bounds what passes over r' of them bounds what passes
over r as well: if k ≤ r by induction, and else because all r steps lie in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from entwined.bounds.profiles.passing import CEILING, NEAR, Algebra, Held, Told, told_with
from entwined.bounds.profiles.profile import PrivacyProfile
from entwined.bounds.profiles.sway import Sway
from entwined.errors import DoesNotApply

MOST_PLACES: Final = 400


@dataclass(frozen=True, slots=True)
class Blocks:
    """How far a step sways those some steps before it: `sways(step)` has one for each of the sizes up to the step.

    Sizes are multiples of the stride. From the step `settled` on the sways stay the same.
    """

    sizes: tuple[int, ...]
    stride: int
    sways: Callable[[int], Sequence[Sway]]
    settled: float


def in_blocks(algebra: Algebra[Held], own: Sequence[Held], past: Blocks, future: Blocks) -> Told:
    """What each step shows, with all that comes from before and after it, each side in the best blocks."""
    earlier = relay_blocks(algebra, own, past)
    even = past is future and is_even(own)
    later = earlier if even else relay_blocks(algebra, own[::-1], future)
    return told_with(algebra, own, [None, *earlier], [*later[::-1], None])


def is_even(own: Sequence[Held]) -> bool:
    """Whether all steps show the same."""
    return all(held is own[0] for held in own)


def relay_blocks(algebra: Algebra[Held], own: Sequence[Held], blocks: Blocks) -> list[Held]:
    """Give what reaches each step but the first from those before it; equal steps only until it stands still."""
    even, stride, window = is_even(own), blocks.stride, blocks.sizes[-1] // blocks.stride
    if stride > 1 and not even:
        raise DoesNotApply("The chain forgets too slowly to pass over steps of unequal losses in blocks.")
    grouped = groups_of(algebra, own, even=even)
    sent: list[PrivacyProfile] = []
    held: list[Held] = []
    behind = [own[0]]  # what each such step shows with all that is before it
    places = -(-(len(own) - 1) // stride)
    for place in range(1, places + 1):
        if place > MOST_PLACES:
            raise DoesNotApply("What passes over blocks of steps does not settle soon enough.")
        far = [behind[place - size // stride] for size in blocks.sizes if size <= place * stride]
        found = best_block(algebra, far, grouped, blocks, place * stride)
        if (
            even
            and place * stride >= blocks.settled
            and place > window
            and found.below(sent[-1].raised(*NEAR))
        ):
            ceiling = found.raised(*CEILING).convex()
            kept = algebra.hold(ceiling)
            again = [algebra.join(own[0], kept)] * len(blocks.sizes)
            if all(one.below(ceiling) for one in sent[-window:]) and best_block(
                algebra, again, grouped, blocks, place * stride
            ).below(ceiling):  # each later one stays below it
                held += [kept] * (places - len(held))
                break
        sent.append(found)
        held.append(algebra.hold(found))
        behind.append(algebra.join(own[min(place * stride, len(own) - 1)], held[-1]))
    return [held[(step - 1) // stride] for step in range(1, len(own))]


def groups_of(algebra: Algebra[Held], own: Sequence[Held], *, even: bool) -> Callable[[int, int], Held]:
    """Give what `count` steps just before a step show together; where all are equal each number once."""
    counted = {1: own[0]}

    def equal(count: int) -> Held:
        if count not in counted:
            counted[count] = algebra.join(equal(count // 2), equal(count - count // 2))
        return counted[count]

    def grouped(step: int, count: int) -> Held:
        return equal(count) if even else reduce(algebra.join, own[step - count : step])

    return grouped


def best_block(
    algebra: Algebra[Held],
    far: Sequence[Held],
    grouped: Callable[[int, int], Held],
    blocks: Blocks,
    step: int,
) -> PrivacyProfile:
    """The least over all sizes of what the far side says through its sway and what is between; or all as one group."""
    tried: list[PrivacyProfile] = []
    between: list[Held] = []
    if far:
        through = algebra.read(algebra.stack(far)).through_each(blocks.sways(step)).split()
        held = algebra.split(algebra.hold(PrivacyProfile.stacked(through)))
        for size, one, profile in zip(blocks.sizes, held, through, strict=False):
            if size == 1:
                tried.append(profile)
            else:
                between.append(algebra.join(grouped(step, size - 1), one))
    if step <= blocks.sizes[-1]:
        between.append(grouped(step, step))
    return reduce(PrivacyProfile.least, tried + algebra.reads(between)).convex()
