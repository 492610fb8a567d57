"""Tokens of an issuer: signed by its keys, for this service, now, or nothing; and a subject is an analyst with a slice."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPException

import pytest
from typer.testing import CliRunner

import entwined as ew
from entwined.cli.app import app
from entwined.errors import BadInput, OverBudget
from entwined.web.bearer import SKEW, CurveKey, Voucher, WrongToken, keys_of
from entwined.web.issuer import FRESH, PAUSE, STALE, Issuer, Keys, asked, require_safe
from entwined.web.refusals import TurnedAway
from support.issuing import AUDIENCE, SigningKey, b64, claims, issuing
from support.served import people, served

EC, RSA = SigningKey("ec"), SigningKey("rsa", "RS256")
KEYS = keys_of({"keys": [EC.document, RSA.document]})
ISSUER = "https://login.example"


def subject_of(token, keys=KEYS, now=None):
    return Voucher.read(token).subject(keys, ISSUER, AUDIENCE, time.time() if now is None else now)


@pytest.mark.parametrize("key", [EC, RSA])
def test_a_token_says_whose_it_is(key):
    assert subject_of(key.token(claims(ISSUER))) == "248289"
    assert subject_of(key.token(claims(ISSUER, aud=["other", AUDIENCE]))) == "248289"


WRONG_CLAIMS = {
    "another issuer": {"iss": "https://login.example/"},
    "no issuer": {"iss": None},
    "another service": {"aud": "entwined2"},
    "no audience": {"aud": None},
    "part of an audience": {"aud": "an entwined one"},
    "over": {"exp": lambda now: now - SKEW - 5},
    "without an end": {"exp": None},
    "an end that is a text": {"exp": "9999999999"},
    "an end that is true": {"exp": True},
    "an end beyond all": {"exp": 10**400},
    "not yet": {"nbf": lambda now: now + SKEW + 60},
    "made in the future": {"iat": lambda now: now + SKEW + 60},
    "nobody": {"sub": None},
    "an empty name": {"sub": ""},
    "a list of names": {"sub": ["248289"]},
}


@pytest.mark.parametrize("what", WRONG_CLAIMS)
def test_tokens_for_others_or_another_time_are_refused(what):
    now = time.time()
    said = {key: value(now) if callable(value) else value for key, value in WRONG_CLAIMS[what].items()}
    with pytest.raises(WrongToken):
        subject_of(EC.token(claims(ISSUER, **said)))


def test_clocks_may_differ_a_little():
    now = time.time()
    subject_of(EC.token(claims(ISSUER, exp=now - SKEW / 2, nbf=now + SKEW / 2, iat=now + SKEW / 2)), now=now)


def forged():
    """Tokens that nobody signed, each with its right claims."""
    good = EC.token(claims(ISSUER))
    head, body, signature = good.split(".")
    other = b64(json.dumps(claims(ISSUER, "somebody else")).encode())
    twice = b64(b'{"alg":"ES256","alg":"none","kid":"ec"}')
    return {
        "none": ".".join((b64(b'{"alg":"none","kid":"ec"}'), body, "")),
        "None with a signature": ".".join((b64(b'{"alg":"None","kid":"ec"}'), body, signature)),
        "a shared secret": EC.token_of_a_shared_secret(claims(ISSUER)),
        "a shared secret of RSA": RSA.token_of_a_shared_secret(claims(ISSUER)),
        "other claims": f"{head}.{other}.{signature}",
        "no signature": f"{head}.{body}.",
        "half a signature": f"{head}.{body}.{signature[:43]}",
        "zeros": f"{head}.{body}.{b64(bytes(64))}",
        "another key of that name": SigningKey("ec").token(claims(ISSUER)),
        "a key that is not there": SigningKey("new").token(claims(ISSUER)),
        "a key of its own": SigningKey("mine").token(
            claims(ISSUER), jwk=EC.document, jku="https://evil.example"
        ),
        "RSA in the name of EC": RSA.token(claims(ISSUER), kid="ec"),
        "EC called RS256": EC.token(claims(ISSUER), alg="RS256"),
        "RSA of another hash": RSA.token(claims(ISSUER), alg="RS512"),
        "no name of a key": EC.token(claims(ISSUER), kid=None),
        "something critical": EC.token(claims(ISSUER), crit=["b64"]),
        "a name twice": f"{twice}.{body}.{signature}",
        "padding": f"{head}=.{body}.{signature}",
        "base64 in another way": f"{head}.{body}.{signature[:-1]}{chr(ord(signature[-1]) + 1)}",
        "four parts": f"{good}.{signature}",
        "nothing": "..",
        "too long": good + "A" * 20_000,
        "a list": f"{b64(b'[]')}.{body}.{signature}",
        "no JSON": f"{b64(b'{')}.{body}.{signature}",
        "NaN": ".".join((head, b64(b'{"exp": NaN}'), signature)),
        "other letters": good.replace(".", "\u2024"),
    }


@pytest.mark.parametrize("what", forged())
def test_whatever_nobody_signed_is_refused(what):
    with pytest.raises(WrongToken):
        subject_of(forged()[what])


def test_keys_that_are_weak_or_for_something_else_are_not_taken():
    def named(**changed):
        return keys_of({"keys": [EC.document | changed]})

    assert isinstance(named()["ec"], CurveKey)
    for changed in (
        {"use": "enc"},
        {"alg": "RS256"},
        {"crv": "P-521"},
        {"kty": "oct"},
        {"x": "!"},
        {"key_ops": ["sign"]},
    ):
        assert named(**changed) == {}, changed
    weak = RSA.document
    assert (
        keys_of(
            {"keys": [weak | {"n": b64(b"\xff" * 128)}, weak | {"e": b64(b"\x01")}, weak | {"kid": 5}, 7]}
        )
        == {}
    )
    with pytest.raises(ValueError, match="keys"):
        keys_of([])
    off = EC.document | {"y": b64(bytes(32))}  # no point of the curve
    with pytest.raises(WrongToken):
        subject_of(EC.token(claims(ISSUER)), keys_of({"keys": [off]}))


def test_keys_are_kept_a_while_rotated_and_not_asked_for_all_the_time():
    now, served_keys, fetched = [1000.0], [{"a": 1}], []

    def fetch():
        fetched.append(now[0])
        if served_keys[0] is None:
            raise OSError("The issuer is away.")
        return served_keys[0]

    keys = Keys(fetch, lambda: now[0])
    assert keys.holding("a") == {"a": 1}
    for _ in range(5):  # a name that nobody knows: not asked for again at once
        assert "b" not in keys.holding("b")
    assert len(fetched) == 1
    now[0] += PAUSE
    served_keys[0] = {"b": 2}
    assert keys.holding("b") == {"b": 2}  # rotated, and the old one is gone
    now[0] += FRESH
    served_keys[0] = None
    assert keys.holding("b") == {"b": 2}  # away for a while
    now[0] += STALE
    with pytest.raises(TurnedAway) as refused:
        keys.holding("b")
    assert refused.value.status == 503


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example",
        "ftp://127.0.0.1",
        "https://",
        "file:///etc/passwd",
        "https://a@b",
        "http://[::1",
        "",
    ],
)
def test_keys_are_had_by_tls_or_from_this_machine(url):
    with pytest.raises(BadInput, match="https"):
        require_safe(url)


def test_an_issuer_that_points_elsewhere_is_not_followed():
    with issuing() as issuer:
        for says in (
            {"issuer": "https://other.example"},
            {"jwks_uri": "http://169.254.169.254/"},
            {"jwks_uri": 5},
        ):
            issuer.says = says
            with pytest.raises(ValueError, match=r"issuer|https"):
                asked(issuer.url)


@contextmanager
def dripping(head=b"", every=0.05):
    """A server that begins an answer and goes on with it, byte by byte, without an end."""
    ended, listening = threading.Event(), socket.create_server(("127.0.0.1", 0))

    def drip(link):
        with link, suppress(OSError):
            link.sendall(head)
            while not ended.wait(every):
                link.sendall(b" ")

    def serve():
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listening.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/realm"
    finally:
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX-Long:", BODY], ids=["nothing", "head", "body"])
def test_an_issuer_that_answers_byte_by_byte_is_given_up_in_time(head):
    with dripping(head) as url:
        start = time.monotonic()
        with pytest.raises((OSError, HTTPException, ValueError)):
            asked(url, 0.4)
        assert time.monotonic() - start < 2


def test_tokens_of_an_issuer_that_does_not_answer_hold_up_nobody(tmp_path):
    folder = people(tmp_path / "people")
    with dripping(BODY) as url:
        (folder / "issuer.toml").write_text(f'issuer = "{url}"\naudience = "{AUDIENCE}"\n')
        with (
            served(folder, issuer=Issuer.read(folder / "issuer.toml")) as service,
            ThreadPoolExecutor(61) as pool,
        ):
            own, forged = service.token("bob"), EC.token(claims(url))
            sent = [pool.submit(service.send, "GET", "/api/tables", None, forged) for _ in range(60)]
            time.sleep(0.3)  # they are there
            start = time.monotonic()
            assert service.send("GET", "/api/tables", None, own)[0] == 200
            assert time.monotonic() - start < 2
            assert {one.result()[0] for one in sent} == {503}


def test_one_fetch_is_shared_and_a_failed_one_is_not_repeated_at_once():
    begun, go_on, fetched = threading.Event(), threading.Event(), []

    def fetch():
        fetched.append(1)
        begun.set()
        go_on.wait(5)
        raise OSError("The issuer is away.")

    keys = Keys(fetch)
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(keys.holding, f"key {n}") for n in range(20)]
        assert begun.wait(5)
        go_on.set()
        for one in waiting:
            with pytest.raises(TurnedAway):
                one.result()
    for _ in range(5):
        with pytest.raises(TurnedAway):
            keys.holding("a")
    assert len(fetched) == 1


@pytest.fixture(scope="module")
def vouched(tmp_path_factory):
    """A service that takes the tokens of an issuer on this machine."""
    folder = people(tmp_path_factory.mktemp("vouched"))
    with issuing() as issuer:
        issuer.keys = [EC, RSA]
        about = folder / "issuer.toml"
        about.write_text(f'issuer = "{issuer.url}"\naudience = "{AUDIENCE}"\n')
        with served(folder, issuer=Issuer.read(about)) as service:
            yield service, issuer


def test_a_subject_is_an_analyst_with_a_slice(vouched):
    service, issuer = vouched
    said = [
        "token",
        "add",
        str(service.house.folder),
        "ann",
        "--most",
        "0.3",
        "--issuer",
        issuer.url,
        "--subject",
    ]
    for subject in ("248289", "nobody's"):
        token = EC.token(claims(issuer.url, subject))
        assert (
            service.send("GET", "/api/tables", None, token)[0] == 401
        )  # known to the issuer, not to the holder
    assert CliRunner().invoke(app, [*said, "248289"]).exit_code == 0
    door = ew.connect(service.url, EC.token(claims(issuer.url)))
    assert door.release(ew.Count(where="age > 40"), leakage="0.2").values
    with pytest.raises(OverBudget, match="ann may spend"):
        ew.connect(service.url, RSA.token(claims(issuer.url))).release(
            ew.Count(where="age > 41"), leakage="0.2"
        )
    (charged,) = door.history
    assert charged["outcome"] == "answered"
    assert service.send("GET", "/api/tables", None, EC.token(claims(issuer.url, "nobody's")))[0] == 401
    assert (
        service.send("GET", "/api/tables", None, service.token("bob"))[0] == 200
    )  # our own are good as before
    assert issuer.asked == 1
    assert CliRunner().invoke(app, ["token", "revoke", str(service.house.folder), "ann"]).exit_code == 0
    assert service.send("GET", "/api/tables", None, EC.token(claims(issuer.url)))[0] == 401


def test_the_id_of_a_subject_is_no_token_and_refusals_repeat_nothing(vouched):
    service, issuer = vouched
    known = service.house.passes.add_subject("eve", issuer.url, "eve's", days=1, most="1")
    for token in (known, f"entw_{known[:16]}_{'A' * 43}", f"entw_{known}_{'A' * 43}", "a.b.c"):
        status, _, body = service.send("GET", "/api/tables", None, token)
        assert status == 401
        assert token.encode() not in body


def test_keys_may_come_from_a_file_and_the_file_about_the_issuer_is_read_strictly(tmp_path):
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [EC.document]}))
    about = tmp_path / "issuer.toml"
    about.write_text(f'issuer = "{ISSUER}"\naudience = "{AUDIENCE}"\nkeys = "keys.json"\n')
    assert Issuer.read(about).subject(EC.token(claims(ISSUER))) == "248289"
    for text in (
        'issuer = "https://a"',
        f'issuer = "{ISSUER}"\naudience = "a"\nsecret = "b"',
        'audience = "a"',
        "[",
    ):
        about.write_text(text)
        with pytest.raises(BadInput):
            Issuer.read(about)
