"""Many questions in sections: by the topic that their labels begin with, or by how their columns are named."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

FEWEST: Final = 3  # questions that make a section
TOPIC: Final = re.compile(r"(?P<topic>\S[^:]{1,58}?)\s*:\s+\S")
STEM: Final = re.compile(r"(?P<stem>[^\W\d_]+(?:[_.\- ][^\W\d_]+)*?)(?:[_.\- ]?\d|[_.\- ])")
SHORTEST: Final = 8  # letters of a topic that labels share
OTHERS: Final = "Other questions"
ALL: Final = "All questions"


class Subject(NamedTuple):
    """What a statistic is sorted by: its column, and the label of it."""

    column: str
    label: str


@dataclass(frozen=True, slots=True)
class Section:
    """Questions that belong together, by their places."""

    title: str
    places: tuple[int, ...]
    topic: str = ""

    def without_topic(self, title: str) -> str:
        """Leave out of a title what its section says.

        >>> Section("Health", (0,), "Health").without_topic("Health: how do you sleep?")
        'How do you sleep?'
        """
        rest = title.removeprefix(self.topic).lstrip(" :") if self.topic else title
        return rest[:1].upper() + rest[1:] if rest != title else title


def sections(questions: Sequence[Subject]) -> list[Section]:
    """Gather questions of a topic or of a stem of names; what has neither comes last.

    >>> asked = [Subject(f"tv{at}", "") for at in range(3)] + [Subject("age", "")]
    >>> [(one.title, one.places) for one in sections(asked)]
    [('tv…', (0, 1, 2)), ('Other questions', (3,))]
    """
    topics, stems = (
        [_found(TOPIC, one.label) for one in questions],
        [_found(STEM, one.column) for one in questions],
    )
    common, usual = Counter(topics), Counter(stems)
    places: dict[tuple[str, bool], list[int]] = {}
    for at, (topic, stem) in enumerate(zip(topics, stems, strict=True)):
        is_topic = bool(topic) and common[topic] >= FEWEST
        known = topic if is_topic else stem if usual[stem] >= FEWEST else ""
        places.setdefault((known, is_topic), []).append(at)
    if len(places) == 1:
        return [Section(ALL, tuple(range(len(questions))))]
    return [
        Section(name, tuple(inside), name)
        if is_topic
        else Section(_titled(name, [questions[at].label for at in inside]), tuple(inside))
        for (name, is_topic), inside in sorted(places.items(), key=lambda one: not one[0][0])
    ]


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[1] if found else ""


def _titled(stem: str, labels: Sequence[str]) -> str:
    """Name a section by the words that its labels begin with, or else by the stem of its columns."""
    alike = itertools.takewhile(
        lambda words: len(set(words)) == 1, zip(*map(str.split, labels), strict=False)
    )
    words = " ".join(words[0] for words in alike).strip(" ,;:–-…")
    if len(words) >= SHORTEST:
        return f"{words} …"
    return f"{stem}…" if stem else OTHERS
