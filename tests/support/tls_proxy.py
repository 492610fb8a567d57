"""A proxy with TLS before a service on this machine, by a certificate that it signed itself."""

import datetime as dt
import socket
import ssl
import threading
from contextlib import contextmanager, suppress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_certificate(folder, name):
    """Make a key and a certificate for a name, and give the path of both in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "proxy.pem"
    pkcs8 = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def _carry(source, target):
    try:
        while content := source.recv(65536):
            target.sendall(content)
    except OSError:
        pass
    finally:
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def tls_before(port, certificate):
    """Take TLS off each connection and pass what it says on as it came, `Host` and all; give the proxy's port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listening = socket.create_server(("127.0.0.1", 0))

    ends = []

    def serve():
        while True:
            try:
                plain, _ = listening.accept()
                outside = context.wrap_socket(plain, server_side=True)
                inside = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return
            ends.extend((outside, inside))
            for pair in ((outside, inside), (inside, outside)):
                threading.Thread(target=_carry, args=pair, daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)
        for end in ends:
            end.close()


def asked_over_tls(port, certificate, name, method="GET", path="/api/tables", body=b"", **headers):
    """Ask as a program elsewhere does, whose resolver gives this machine for the name; status and body."""
    context = ssl.create_default_context(cafile=certificate)
    given = {"Host": name, "Connection": "close", "Content-Length": str(len(body)), **headers}
    head = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in given.items())
    with (
        socket.create_connection(("127.0.0.1", port), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=name.partition(":")[0]) as link,
    ):
        link.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        reply = b"".join(iter(lambda: link.recv(65536), b""))
    first, _, rest = reply.partition(b"\r\n\r\n")
    return int(first.split()[1]), rest
