"""Certificates that claim less than was charged for, signed anew so that only deriving them again tells."""

import copy
from dataclasses import replace
from pathlib import Path

from entwined.bounds import certify
from entwined.bounds.certificate import digest
from entwined.bounds.choose import Bound, named
from entwined.dependence import model_from
from entwined.errors import DoesNotApply, Refused
from entwined.loss import Loss
from entwined.request.verification import verify
from entwined.schema import read_schema


def signed(document):
    """Put the digest right, inside and outside."""
    for model in document.get("models", []):
        inner = {key: value for key, value in model["certificate"].items() if key != "digest"}
        model["certificate"] = {**inner, "digest": digest(inner)}
    content = {key: value for key, value in document.items() if key != "digest"}
    return {**content, "digest": digest(content)}


def forged(certificate):
    """Name each forgery and give it."""
    for name, change in FORGERIES.items():
        document = copy.deepcopy(certificate)
        if change(document) is not False:
            yield name, signed(document)


def accepted(given, folder):
    """Give the forgeries of a certificate that pass for valid."""
    schema = read_schema(folder / "schema.toml")
    for name, document in forged(given.certificate):
        if verify(document, schema, folder).valid:
            yield name, document


def claims(certificate):
    """The least leakage that a reader could take from it, by model; nothing at all where a remark says so."""
    if "remark" in certificate or any("remark" in one["certificate"] for one in certificate["models"]):
        return dict.fromkeys((one["name"] for one in certificate["models"]), 0.0)
    found = {one["name"]: one["certificate"]["leakage"] for one in certificate["models"]}
    for name, amount in certificate["total"]["leakage"].items():
        if name in found:
            found[name] = min(found[name], float(_number(amount)))
    return found


def _number(amount):
    top, _, bottom = str(amount).partition("/")
    return float(top) / float(bottom or 1)


def _smaller_total(document):
    document["total"]["leakage"] = dict.fromkeys(document["total"]["leakage"], 0.001)


def _smaller_nominal_total(document):
    document["total"]["nominal"] = "1/1000"


def _smaller_cap(document):
    document["total"]["cap"] = "1/1000"


def _knows_more(document):
    """A release against those who know the law alone, sold as one against those who know anything."""
    if document["knowledge"] != "model":
        return False
    document["knowledge"] = "any"
    for model in document["models"]:
        inner = model["certificate"]
        inner["knowledge"] = "any"
        inner["guarantee"] = inner["guarantee"].replace(
            "knows the dependence model but no values",
            "knows the dependence model and the values of any other units",
        )
    return True


def _knows_more_outside(document):
    if document["knowledge"] != "model":
        return False
    document["knowledge"] = "any"
    return True


def _by_a_theorem_for_less(document):
    """What a theorem proves for those who know the law alone, in a certificate for those who know anything."""
    return _by(document, "transport", "model")


def _by_a_theorem_for_values(document):
    return _by(document, "tilted transport", "values")


def _by(document, name, knowledge):
    if document["knowledge"] != "any":
        return False
    for model in document["models"]:
        if model["declared"]["model"]["kind"] not in ("bayes_net", "markov_chain"):
            return False
        inputs = model["certificate"]["inputs"]
        law, loss, theorem = (
            model_from(inputs["model"], Path()),
            Loss.from_document(inputs["loss"]),
            named(name),
        )
        try:
            leakage = theorem(loss, law)
        except DoesNotApply:
            return False
        model["certificate"] = _certified(Bound(law, loss, "any", theorem, leakage, ()), knowledge)
        for each in document["total"]["leakage"]:
            document["total"]["leakage"][each] = model["certificate"]["leakage"]
    return True


def _certified(bound, knowledge):
    """Certify for whoever knows anything; where that is refused, relabel a certificate for whoever knows less."""
    try:
        return certify(bound).document
    except Refused:
        found = certify(replace(bound, knowledge=knowledge)).document
        return {**found, "knowledge": "any"}


def _smaller_leakage(document):
    for model in document["models"]:
        model["certificate"]["leakage"] /= 2
        model["certificate"]["per_unit"] = [one / 2 for one in model["certificate"]["per_unit"]]


def _half_the_losses(document):
    document["losses"] = [[key, _half(one), _half(both)] for key, one, both in document["losses"]]


def _half(text):
    top, bottom = map(int, text.split("/"))
    return f"{top}/{2 * bottom}"


def _unknown_key(document):
    document["remark"] = "The total is 0."


def _unknown_key_inside(document):
    document["models"][0]["certificate"]["remark"] = "The leakage is 0."


FORGERIES = {
    "a smaller total": _smaller_total,
    "a smaller nominal total": _smaller_nominal_total,
    "a smaller cap": _smaller_cap,
    "an adversary who knows more": _knows_more,
    "an adversary who knows more, outside only": _knows_more_outside,
    "a theorem that covers less": _by_a_theorem_for_less,
    "a theorem that covers values only": _by_a_theorem_for_values,
    "half the leakage": _smaller_leakage,
    "half the losses": _half_the_losses,
    "a key that nobody knows": _unknown_key,
    "a key that nobody knows, inside": _unknown_key_inside,
}
