"""A server that plays GitHub: people log in there at once, as whom the test says."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from secrets import token_hex
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from PIL import Image

CLIENT, SECRET = "client-7", "secret-of-the-client"


@dataclass
class GitHub:
    """What the server answers, and what it was asked."""

    address: str = ""
    user: dict[str, Any] = field(
        default_factory=lambda: {"id": 42, "login": "octo", "name": "Octo"}
    )
    emails: Any = field(default_factory=lambda: [address("octo@example.org")])
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    is_broken: bool = False

    def authorize(self, query: dict[str, str]) -> str:
        """Return where somebody who has logged in is sent."""
        assert query["client_id"] == CLIENT
        assert query["scope"] == "read:user user:email"
        assert query["code_challenge_method"] == "S256"
        code = token_hex(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def give_token(self, form: dict[str, str], authorization: str) -> dict[str, str]:
        """Return a token for a code that is used for the first time, by who began."""
        begun = self.codes.pop(form.get("code", ""), None)
        is_known = authorization.startswith("Basic ") or form.get("client_secret") == SECRET
        verifier = form.get("code_verifier", "").encode()
        challenge = urlsafe_b64encode(hashlib.sha256(verifier).digest()).rstrip(b"=").decode()
        if begun is None or not is_known or begun["code_challenge"] != challenge:
            return {"error": "bad_verification_code", "error_description": "wrong"}
        token = token_hex(16)
        self.tokens.add(token)
        return {"access_token": token, "token_type": "bearer", "scope": "read:user,user:email"}


def address(email: str, *, primary: bool = True, verified: bool = True) -> dict[str, object]:
    """Return an e-mail address as GitHub tells it."""
    return {"email": email, "primary": primary, "verified": verified, "visibility": None}


def picture() -> bytes:
    """Return a picture."""
    packed = BytesIO()
    Image.new("RGB", (300, 200), "red").save(packed, "PNG")
    return packed.getvalue()


class Handler(BaseHTTPRequestHandler):
    """Answers as GitHub does."""

    github: GitHub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Let people log in, and tell programs who they are."""
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.github.asked.append(path)
        if path == "/login/oauth/authorize":
            parameters = {name: values[0] for name, values in query.items()}
            self.send_response(302)
            self.send_header("Location", self.github.authorize(parameters))
            self.end_headers()
        elif path == "/avatar.png":
            self.answer(picture(), "image/png")
        elif self.headers.get("Authorization", "").removeprefix("Bearer ") in self.github.tokens:
            payload = {"/user": self.github.user, "/user/emails": self.github.emails}[path]
            self.answer(b"{" if self.github.is_broken else json.dumps(payload).encode())
        else:
            self.answer(b'{"message": "Bad credentials"}', code=401)

    def do_POST(self) -> None:
        """Give a token."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        payload = self.github.give_token(form, self.headers.get("Authorization", ""))
        self.answer(json.dumps(payload).encode())

    def answer(self, body: bytes, kind: str = "application/json", code: int = 200) -> None:
        """Send a body."""
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served_github() -> Iterator[GitHub]:
    """Serve on this machine while the block runs."""
    github = GitHub()
    handler = type("OwnHandler", (Handler,), {"github": github})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        github.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield github
        finally:
            server.shutdown()
            thread.join()
