"""Write docs/theorems.md from the theorems themselves: `python docs/write_theorems.py`."""

from pathlib import Path

from entwined.bounds.choose import THEOREMS

HEAD = """# The theorems

Each bound is a function from what a mechanism shows and a model to leakage, and its docstring is the theorem. Most
start from the losses of whatever was released; some from one noisy sum, from the concentrated losses of Gaussian
noise, or from losses where blanks are filled. *Trusted* is what you must believe. Knowledge `any` covers an
adversary who knows, of every other unit, its value or anything that depends on that value alone, such as a set that it
is in; `values` one who knows the values of some other units and nothing of the rest; `model` one who knows the law
only. What is known of several other units together is covered by none of them, unless it is a unit of the model.

No theorem says less of a unit than the unit's own loss, what ordinary differential privacy gives it: where a model says
that a unit is constant or that a value cannot be, a row that is otherwise is not covered by the model, and has that and
nothing more. (One stated sum may show less of a unit than its noise alone would, to an adversary who knows no values:
the others hide it. There its own loss stands for the values that the law rules out.)

`entwined bound` asks all that start from losses and takes the smallest that applies.
"""


def page() -> str:
    """The whole page."""
    sections = [HEAD]
    for theorem in THEOREMS:
        text = {
            "Theorem": theorem.statement,
            "Checked": theorem.checked,
            "Trusted": f"**{theorem.trusted}**",
            "Proof": theorem.proof,
            "Source": theorem.source,
        }
        parts = "\n\n".join(f"*{part}.* {words}" for part, words in text.items())
        head = f"Starts from {theorem.takes.plural}. Knowledge: {theorem.knowledge}. {theorem.title}"
        sections.append(f"## {theorem.name}\n\n{head}\n\n{parts}\n")
    return "\n".join(sections)


if __name__ == "__main__":
    (Path(__file__).parent / "theorems.md").write_text(page(), encoding="utf-8")
