"""Admits only holders of the token, from the workshop's own pages: it executes code."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode

from flask import Flask, Response, abort, redirect, request

TOKEN_BYTES: Final = 32
PARAMETER: Final = "token"
OWN_PAGES: Final = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests from our own pages, and for a typed address."""

REFUSED: Final = (
    "this page is for whoever started the workshop: open the address that `cw workshop` printed"
)


class Gate:
    """The token of one workshop, and the cookie that replaces it."""

    def __init__(self, host: str, token: str = "") -> None:
        """Guard what is served at `host`, 127.0.0.1 and a port; without a token, generate one."""
        self.host = host
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        # Cookies ignore ports: two workshops on one machine need one each.
        self.cookie = f"workshop-{host.rpartition(':')[2]}"
        self.value = hmac.new(self.token.encode(), host.encode(), sha256).hexdigest()

    def guard(self, app: Flask) -> None:
        """Check every request before anything else is done."""
        app.before_request(self._admit)
        app.after_request(self._close)

    def address(self, path: str) -> str:
        """Return the address of a page, with the token."""
        return f"http://{self.host}{path}?{urlencode({PARAMETER: self.token})}"

    def _admit(self) -> Response | None:
        """Answer 403 to foreign requests and those without the cookie; trade the token for one."""
        if request.headers.get("Origin", f"http://{self.host}") != f"http://{self.host}":
            abort(403, REFUSED)
        if request.headers.get("Sec-Fetch-Site", "none") not in OWN_PAGES:
            abort(403, REFUSED)
        if request.method == "GET" and self._is_token(request.args.get(PARAMETER, "")):
            return self._with_cookie()
        if not hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self._bytes):
            abort(403, REFUSED)
        return None

    @property
    def _bytes(self) -> bytes:
        return self.value.encode()

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _with_cookie(self) -> Response:
        """Redirect to the same page without the token, which must not stay in the address."""
        answer = redirect("/" + request.path.lstrip("/"), 303)
        answer.set_cookie(self.cookie, self.value, httponly=True, samesite="Strict")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer  # type: ignore[return-value]

    def _close(self, response: Response) -> Response:
        """Prevent other sites from showing our pages or reading answers."""
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["X-Frame-Options"] = "DENY"
        return response
