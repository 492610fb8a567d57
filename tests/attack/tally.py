"""What came of many populations: how many held, how tightly, and what was refused."""

import math
import re
from collections import Counter
from dataclasses import dataclass

CLOSE = 1e-7  # rounding of sums that were computed in another order


@dataclass(frozen=True)
class Result:
    """One population: what was claimed of the unit that came nearest to its claim, and the truth; or a refusal."""

    kind: str
    claim: float = math.inf
    truth: float = 0.0
    refused: str = ""
    about: str = ""

    @property
    def violated(self):
        return not self.refused and self.truth > self.claim * (1 + CLOSE) + CLOSE

    @property
    def tightness(self):
        return self.truth / self.claim if self.claim else 1.0

    def __str__(self):
        said = (
            f"refused: {self.refused}" if self.refused else f"claim {self.claim:.6g}, truth {self.truth:.6g}"
        )
        return f"{self.kind}: {said} ({self.about})"


def worst(kind, pairs, about=""):
    """Keep the pair of claim and truth that is nearest to a violation."""
    claim, truth = max(pairs, key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf * pair[1])
    return Result(kind, claim, truth, about=about)


@dataclass(frozen=True)
class Tally:
    """The results of a run."""

    results: tuple

    @property
    def violations(self):
        return [one for one in self.results if one.violated]

    def answered(self, kind):
        """The share of populations of a kind that were released."""
        mine = [one for one in self.results if one.kind == kind]
        return sum(not one.refused for one in mine) / len(mine)

    @property
    def kinds(self):
        return sorted({one.kind for one in self.results})

    def median(self, kind):
        """How near to its claim the truth comes in the middle."""
        tight = sorted(one.tightness for one in self.results if one.kind == kind and not one.refused)
        return tight[len(tight) // 2] if tight else 0.0

    def most(self, kind):
        return max(
            (one.tightness for one in self.results if one.kind == kind and not one.refused), default=0.0
        )

    def lines(self):
        """The whole as text."""
        yield f"{len(self.results)} populations, {len(self.violations)} below the truth"
        for kind in self.kinds:
            count = sum(one.kind == kind for one in self.results)
            yield (
                f"  {kind}: {count}, {self.answered(kind):.0%} released, truth / claim: "
                f"median {self.median(kind):.3f}, most {self.most(kind):.4f}"
            )
        reasons = Counter(
            (one.kind, re.sub(r"\d+|'[^']*'", "…", one.refused)[:110]) for one in self.results if one.refused
        )
        for (kind, why), count in reasons.most_common():
            yield f"  refused {count} × {kind}: {why}"
        yield from (f"  VIOLATED {one}" for one in self.violations[:20])
