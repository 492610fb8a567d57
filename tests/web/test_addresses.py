"""Addresses of tables: what is written down has no password, and neither have words about it."""

import pytest

from entwined.errors import BadInput
from entwined.web.addresses import Addresses

BARE = "postgresql://ann@h:5432/d?table=p"


@pytest.mark.parametrize(
    ("typed", "password"),
    [
        ("postgresql://ann:hush@h:5432/d?table=p", ""),
        (BARE, "hush"),
        ("postgresql://ann:other@h:5432/d?table=p", "hush"),
    ],
)
def test_what_is_written_down_has_no_password(typed, password):
    known = Addresses()
    assert known.remember(typed, password) == BARE
    assert known.full(BARE) == "postgresql://ann:hush@h:5432/d?table=p"
    assert known.remember(BARE) == BARE  # without one, what is known stays
    assert known.full(BARE) == "postgresql://ann:hush@h:5432/d?table=p"
    assert known.scrubbed("no hush for ann") == "no … for ann"
    assert "hush" not in repr(known)


def test_a_password_may_have_any_letters_and_stand_in_the_options():
    known = Addresses(["postgresql://h/d?table=p&password=hush"])
    (bare,) = known.offered
    assert bare == "postgresql://h/d?table=p"
    assert "hush" in known.full(bare)
    known.remember(BARE, "a/b@c:d%é")
    assert known.full(BARE) == "postgresql://ann:a%2Fb%40c%3Ad%25%C3%A9@h:5432/d?table=p"
    assert known.scrubbed("not a/b@c:d%é") == "not …"


@pytest.mark.parametrize(
    "typed",
    ["mysql://h/d", "people.csv", "file:///etc/passwd", "postgresql://[h", "postgresql://a\n@h/d", ""],
)
def test_other_addresses_are_refused_without_repeating_them(typed):
    with pytest.raises(BadInput, match="no address") as refused:
        Addresses().remember(typed)
    assert not typed or typed not in str(refused.value)


def test_a_password_needs_a_user_and_there_is_an_end_to_addresses():
    known = Addresses()
    with pytest.raises(BadInput, match="belongs to a user"):
        known.remember("postgresql://h/d?table=p", "hush")
    for number in range(100):
        known.remember(f"postgresql://h/d?table=p{number}")
    with pytest.raises(BadInput, match="Too many"):
        known.remember("postgresql://h/d?table=more")
