"""An issuer of tokens on this machine: it has keys, says where they are, and signs what it is told to."""

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

AUDIENCE = "entwined"


def b64(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def number(value, size=None):
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class SigningKey:
    """A key with a name, of either kind."""

    def __init__(self, name, kind="ES256", bits=2048):
        self.name, self.kind = name, kind
        self.own = (
            ec.generate_private_key(ec.SECP256R1())
            if kind == "ES256"
            else rsa.generate_private_key(65537, bits)
        )

    @property
    def document(self):
        given = self.own.public_key().public_numbers()
        if self.kind == "ES256":
            half = {"kty": "EC", "crv": "P-256", "x": number(given.x, 32), "y": number(given.y, 32)}
        else:
            half = {"kty": "RSA", "n": number(given.n), "e": number(given.e)}
        return {"kid": self.name, "use": "sig", **half}

    def signature(self, content):
        if self.kind == "RS256":
            return self.own.sign(content, PKCS1v15(), SHA256())
        r, s = decode_dss_signature(self.own.sign(content, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def token(self, claims, **head):
        """Sign claims under a head that may say something else than is true."""
        content = ".".join(
            b64(json.dumps(one).encode()) for one in ({"alg": self.kind, "kid": self.name, **head}, claims)
        )
        return f"{content}.{b64(self.signature(content.encode()))}"

    def token_of_a_shared_secret(self, claims):
        """Sign by HMAC with the public key for a secret, as those try who hope that it is taken for one."""
        content = ".".join(
            b64(json.dumps(one).encode()) for one in ({"alg": "HS256", "kid": self.name}, claims)
        )
        secret = json.dumps(self.document).encode()
        return f"{content}.{b64(hmac.digest(secret, content.encode(), hashlib.sha256))}"


def claims(issuer, subject="248289", **changed):
    now = time.time()
    usual = {"iss": issuer, "sub": subject, "aud": AUDIENCE, "iat": now, "exp": now + 300}
    return {key: value for key, value in (usual | changed).items() if value is not None}


class LocalIssuer:
    """What the issuer says, and how often it was asked for its keys."""

    def __init__(self, port):
        self.url, self.keys, self.asked = f"http://127.0.0.1:{port}/realm", [], 0
        self.says = {}

    def reply(self, path):
        if path == "/realm/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"} | self.says
        self.asked += 1
        return {"keys": [one.document for one in self.keys]}


@contextmanager
def issuing():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(self.server.issuer.reply(self.path)).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.issuer = LocalIssuer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
